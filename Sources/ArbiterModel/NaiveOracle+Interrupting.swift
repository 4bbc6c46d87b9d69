package import ArbiterCore

// Interruptions, by the rule: nobody is interrupted for one who would not be granted then.

extension NaiveOracle {
    /// A running transition's interruption.
    package struct Interruption: Hashable {
        package let by: TransitionID
        package let client: ClientName?
        package let grace: Duration
    }

    /// What a waiting ticket interrupts now, in the order of the line; `nil` if nothing, because something else is in its way,
    /// because it would not be granted then, or because nothing more has to be interrupted for it.
    package func victims(of id: TransitionID) -> [Entry]? {
        guard !isHoldingGrants, let place = line.firstIndex(where: { $0.id == id }) else { return nil }
        let ticket = line[place]
        guard ticket.asking.isSerialized, ticket.request.interrupts, !ticket.isGranted, ticket.unmet == nil
        else { return nil }
        let inTheWay = line.indices.filter { other in
            guard line[other].scene == ticket.scene, other < place || line[other].isGranted, other != place else {
                return false
            }
            return conflicts(line[other], ticket) || waits(ticket, for: line[other])
        }.map { line[$0] }
        let mayEnd = inTheWay.filter { mayInterrupt(ticket, $0) || $0.interruption?.by == id }
        guard interruptsForNothing || mayEnd.count == inTheWay.count else { return nil }
        guard mayEnd.contains(where: { $0.interruption == nil }) else { return nil }
        guard !interruptsForNothing else { return mayEnd }
        var after = self
        for victim in mayEnd { after.close(victim.id, as: NaiveEnding.Outcome(outcome(of: victim))) }
        guard let index = after.line.firstIndex(where: { $0.id == id }), after.isFree(index),
            case .granted = after.turn(of: ticket.request, ticket.scope)
        else { return nil }
        return mayEnd
    }

    private func mayInterrupt(_ ticket: Entry, _ victim: Entry) -> Bool {
        guard victim.isGranted, !victim.hasRememberedEnd, let consent = victim.consent else { return false }
        if victim.priority < ticket.priority { return true }
        // An equal that was granted later stood before it in the line.
        return consent.by == .equal && victim.priority == ticket.priority
            && victim.grantNumber.map { $0 <= ticket.grantsWhenAsked } ?? false
    }

    /// How a victim ends.
    private func outcome(of victim: Entry) -> EndOutcome {
        if victim.state == .preparing { return .cancelled }
        if let gesture = victim.gesture { return gesture == .finish ? .completed : .cancelled }
        return victim.consent?.outcome ?? .cancelled
    }

    /// The longest grace of those whose interruption begins.
    private func grace(of victims: [Entry]) -> Duration {
        victims.filter { $0.interruption == nil && $0.state == .running }.map { $0.consent?.grace ?? .zero }.max()
            ?? .zero
    }

    /// Whether a ticket waits once its victims are interrupted.
    func isKeptWaiting(by victims: [Entry]) -> Bool {
        grace(of: victims) > .zero || victims.contains { $0.interruption != nil }
    }

    mutating func interrupt(_ victims: [Entry], for id: TransitionID) {
        let grace = grace(of: victims)
        let client = self[id]?.request.client
        for victim in victims where victim.interruption == nil {
            if victim.state == .running, grace > .zero, let index = line.firstIndex(where: { $0.id == victim.id }) {
                line[index].interruption = Interruption(by: id, client: client, grace: grace)
                tell(.transition(.interrupting, victim.id), in: victim.scene)
            } else {
                close(victim.id, as: NaiveEnding.Outcome(outcome(of: victim)), by: id)
            }
        }
    }

    /// A ticket interrupts, later than in the step of its request.
    mutating func interrupt(for id: TransitionID) {
        guard let victims = victims(of: id), let ticket = self[id] else {
            contradiction = "\(id) interrupts what it may not"
            return
        }
        interrupt(victims, for: id)
        settle(ticket.scene)
    }

    mutating func endInterrupted(_ id: TransitionID) {
        guard let entry = self[id], let interruption = entry.interruption else {
            contradiction = "\(id) ends by an interruption that has not begun"
            return
        }
        close(id, as: NaiveEnding.Outcome(outcome(of: entry)), by: interruption.by)
        settle(entry.scene)
    }

    /// Notes which waiting tickets are judged again, because one that they wait for ends.
    mutating func reconsider(behind index: Int) {
        let leaving = line[index]
        for other in line.indices where line[other].scene == leaving.scene && !line[other].isGranted && other != index {
            guard line[other].request.interrupts, line[other].unmet == nil, index < other || leaving.isGranted else {
                continue
            }
            if conflicts(leaving, line[other]) || waits(line[other], for: leaving) {
                reconsidered.insert(line[other].id)
            }
        }
    }
}

extension NaiveEnding.Outcome {
    fileprivate init(_ outcome: EndOutcome) {
        switch outcome {
        case .completed: self = .completed
        case .cancelled: self = .cancelled
        }
    }
}
