internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// The engine's answers, events and notices: each arrives exactly once, and not before its commit.

extension Simulation {
    mutating func readMail() throws(Broken) {
        for message in process.mailbox.takeAll() {
            switch message {
            case .answer(let number, let reply): try take(reply, number)
            case .events(let events): for event in events { try compare(Announcement(event), self.events.pop()) }
            case .notice(let notice): try compare(Announcement(notice), notices.pop())
            case .resumed(let scenes, let overall): try checkResumption(scenes, overall)
            case .lost(let error):
                guard isDown, !error.kind.isTemporary else { throw Broken(.record, "the journal is said to be lost") }
            }
        }
    }

    private func compare(_ announcement: Announcement?, _ expected: (announcement: Announcement, sequence: UInt64)?)
        throws(Broken)
    {
        guard let announcement, let expected, expected.announcement == announcement else {
            let words = expected.map { "\($0.announcement)" } ?? "nothing"
            throw Broken(
                .event, "\(announcement.map { "\($0)" } ?? "an event of no known kind") is told, and was to be \(words)"
            )
        }
        try checkIsCommitted(expected.sequence, "\(announcement)")
    }

    private func checkIsCommitted(_ sequence: UInt64, _ what: @autoclosure () -> String) throws(Broken) {
        guard configuration.watchesJournal, sequence > journal.committed else { return }
        throw Broken(.commit, "\(what()) is said, and record \(sequence) may still be lost")
    }

    // MARK: - Answers

    private mutating func take(_ reply: Reply, _ number: Int) throws(Broken) {
        // The planted faults use the number 0 for their own calls.
        guard number > 0 else { return }
        let isLost = configuration.fault == .lostWake && chance.isOnce(in: 20)
        let isRepeated = configuration.fault == .repeatedWake && chance.isOnce(in: 20)
        if let owed = owedAnswers.first(where: { $0.number == number }), owed.wasParked {
            if isLost { return }
            if isRepeated { try receive(reply, number) }
        }
        try receive(reply, number)
    }

    private mutating func receive(_ reply: Reply, _ number: Int) throws(Broken) {
        let verdict = Verdict(reply)
        if verdict == .unavailable { return try receiveRefusal(number) }
        guard let index = owedAnswers.firstIndex(where: { $0.number == number }) else {
            let waiting = parked.first { $0.number == number }
            throw Broken(.wake, waiting.map { "\($0.number) is woken for nothing" } ?? "\(verdict) is answered twice")
        }
        let owed = owedAnswers.remove(at: index)
        guard verdict == owed.verdict else {
            throw Broken(
                owed.wasParked ? .wake : .reply,
                "\(owed.request.ask) is answered \(verdict), and \(owed.verdict) was expected")
        }
        let state = try state(of: owed, in: reply)
        try checkIsCommitted(state.sequence, "\(verdict)")
        try deliver(reply, to: owed, showing: state)
    }

    /// The engine refuses because of its journal: answers that are not committed and parked awaits.
    private mutating func receiveRefusal(_ number: Int) throws(Broken) {
        guard isDown else { throw Broken(.reply, "the journal is said to be unavailable, and is not") }
        let count = owedAnswers.count + parked.count + idlers.count
        owedAnswers.removeAll { $0.number == number }
        parked.removeAll { $0.number == number }
        idlers.removeAll { $0.number == number }
        guard owedAnswers.count + parked.count + idlers.count < count else {
            throw Broken(.wake, "\(number) is refused twice")
        }
        statistics.count(.unavailable)
    }

    /// The one of the allowed states that an answer shows.
    private func state(of owed: OwedAnswer, in reply: Reply) throws(Broken) -> OwedAnswer.State {
        if case .session(let view) = reply, view.remaining != owed.remaining {
            throw Broken(.session, "\(view.session.id) is said to have \(String(describing: view.remaining)) left")
        }
        if case .idleness(let view) = reply, !owed.idleness.contains(where: { $0.fits(Idleness(view)) }) {
            throw Broken(
                owed.wasParked ? .wake : .reply, "\(owed.request.ask) is told \(view), and was to be \(owed.idleness)")
        }
        if case .dryRun(let dryRun) = reply, owed.trial?.fits(dryRun) != true {
            let words = owed.trial.map { "\($0)" } ?? "nothing"
            throw Broken(.reply, "\(owed.request.ask) is to come to \(words), and is said to come to \(dryRun)")
        }
        guard case .transition(let view) = reply else { return owed.states[0] }
        let shown = view.transition
        guard let state = owed.states.first(where: { $0.transition.map { $0 == shown } ?? shown.isEnded }) else {
            let words = owed.states.map { String(describing: $0.transition?.phase) }
            throw Broken(
                owed.wasParked ? .wake : .reply, "\(shown.id) is shown as \(shown.phase), and was to be as \(words)")
        }
        return state
    }

    // MARK: - Missing answers

    /// Checks that every answer, event and notice has arrived that depends on committed records only.
    mutating func checkNothingIsOwed() throws(Broken) {
        if isDown {
            guard owedAnswers.isEmpty, parked.isEmpty, idlers.isEmpty else {
                throw Broken(.wake, "somebody is not told that the journal has failed")
            }
            events.removeAll()
            notices.removeAll()
            return
        }
        guard resumedAfter == nil else { throw Broken(.event, "nothing says that the journal was opened again") }
        let committed = journal.committed
        if let owed = owedAnswers.first(where: { $0.latest <= committed }) {
            throw Broken(owed.wasParked ? .wake : .reply, "\(owed.request.ask) is not answered \(owed.verdict)")
        }
        // Events and notices wait for the commit of their whole turn.
        guard committed == journal.last, let announcement = events.first ?? notices.first else { return }
        throw Broken(.event, "\(announcement.announcement) is not told")
    }

    private mutating func checkResumption(
        _ scenes: [SceneName: EventNumber], _ overall: EventNumber
    ) throws(Broken) {
        guard let last = resumedAfter, last.scenes == scenes, last.overall == overall else {
            throw Broken(.event, "the newest events are said to be \(scenes) and \(overall) when the journal is back")
        }
        resumedAfter = nil
    }
}
