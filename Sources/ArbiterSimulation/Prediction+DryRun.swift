internal import ArbiterCore
internal import ArbiterModel

// Dry runs, predicted by doing on a copy of the oracle what they ask about.

/// What a dry run is to say.
struct Trial {
    let revision: UInt64
    let outcome: Outcome

    enum Outcome {
        /// With whom it interrupts at once.
        case granted(Granted, interrupting: Set<TransitionID>)
        case noop
        /// All who are in the way, of whom the answer names the first.
        case blocked(Set<TransitionID>)
        /// Whom it interrupts, and all who are in the way.
        case interrupting(Set<TransitionID>, blockers: Set<TransitionID>)
        case withheld
        case superseded(by: TransitionID)
        case setAside(ArbiterCore.Expectation)
    }

    struct Granted {
        let change: NaiveEnding.Change?
        let appearance: [AppearanceEvent]
        let type: TransitionTypeName?
        let guards: [Participant.Asked]

        func fits(_ preview: DryRun.Preview) -> Bool {
            change?.inserted == preview.plan?.inserted && change?.removed == preview.plan?.removed
                && appearance == preview.appearance && type == preview.animation?.type
                && guards == preview.participants.compactMap(\.asked)
        }
    }

    /// Whether an answer says this.
    func fits(_ dryRun: DryRun) -> Bool {
        guard dryRun.revision.rawValue == revision else { return false }
        switch (outcome, dryRun.outcome) {
        case (.granted(let granted, []), .granted(let preview)): return granted.fits(preview)
        case (.granted(let granted, let victims), .grantedInterrupting(let named, let preview)):
            return granted.fits(preview) && victims == Set(named)
        case (.interrupting(let victims, let blockers), .interrupting(let named, let inTheWay)):
            return victims == Set(named) && victims.count == named.count && blockers.isSuperset(of: inTheWay)
                && inTheWay.count == min(blockers.count, Limits.blockersShown)
        case (.blocked(let blockers), .blocked(let named)):
            return blockers.isSuperset(of: named) && Set(named).count == named.count
                && named.count == min(blockers.count, Limits.blockersShown)
        case (.superseded(let older), .superseded(let named)): return older == named
        case (.setAside(let unmet), .setAside(let failure)): return unmet == failure.expectation
        case (.noop, .noop), (.withheld, .withheld): return true
        case (.granted, _), (.noop, _), (.blocked, _), (.interrupting, _), (.withheld, _), (.superseded, _),
            (.setAside, _):
            return false
        }
    }
}

extension Rulebook {
    /// Predicts the answer to a dry run from that to the request itself, without its key.
    func dryRun(_ request: TransitionRequest, isSerialized: Bool) -> Prediction {
        var asked = request
        asked.idempotencyKey = nil
        let real = prediction(on: isSerialized ? .serialize(asked, wait: .zero) : .start(asked), kept: nil)
        let outcome: Trial.Outcome
        switch real.verdict {
        case .refused(.busy): outcome = .blocked(inTheWay(of: asked, before: nil, in: oracle))
        case .refused(.recovering): outcome = .withheld
        case .refused: return Prediction(verdict: real.verdict)
        case .transition(let id):
            switch result(of: real, id, asked) {
            case .success(let found): outcome = found
            case .failure(let refusal): return Prediction(verdict: .refused(refusal.refusal))
            }
        case .parked, .progress, .performed, .session, .attached, .declared, .done, .guarding, .revoked, .dryRun,
            .idleness,
            .unavailable:
            preconditionFailure("\(real.verdict) is predicted for a request that does not wait")
        }
        var prediction = Prediction(verdict: .dryRun)
        prediction.trial = Trial(revision: oracle.scene(request.scene).revision, outcome: outcome)
        return prediction
    }

    private struct Refused: Error {
        let refusal: Verdict.Refusal
    }

    private func result(
        of real: Prediction, _ id: TransitionID, _ request: TransitionRequest
    ) -> Result<Trial.Outcome, Refused> {
        guard let record = real.record else { preconditionFailure("a request without a key is known already") }
        var after = oracle
        after.apply(record)
        if let ending = after.endings.first(where: { $0.id == id })?.ending {
            if case .superseded(let older) = ending.outcome { return .success(.superseded(by: older)) }
            return Verdict.Refusal(ending.outcome).map { .failure(Refused(refusal: $0)) } ?? .success(.noop)
        }
        let interrupted = after.line.filter { $0.interruption?.by == id }.map(\.id)
        let victims = Set(interrupted + after.endings.filter { $0.ending.interruptedBy == id }.map(\.id))
        if let unmet = after[id]?.unmet { return .success(.setAside(unmet)) }
        if after[id]?.isGranted != true {
            let blockers = inTheWay(of: request, before: id, in: after)
            if !victims.isEmpty { return .success(.interrupting(victims, blockers: blockers.union(victims))) }
            return .success(oracle.isHoldingGrants ? .withheld : .blocked(blockers))
        }
        let type = after[id]?.type
        let beginning = after.appearance(because: id)
        let guards = after[id]?.members.compactMap(\.asked) ?? []
        after.forgetStep()
        after.close(id, as: .completed)
        let change = after.endings.first { $0.id == id }?.ending.change
        return .success(
            .granted(
                Trial.Granted(
                    change: change, appearance: beginning + after.appearance(because: id), type: type, guards: guards),
                interrupting: victims))
    }

    /// The unfinished transitions that conflict with a request and are granted or before it, each asked for alone.
    private func inTheWay(
        of request: TransitionRequest, before id: TransitionID?, in oracle: NaiveOracle
    ) -> Set<TransitionID> {
        let behind = oracle.index(since: .max, priority: oracle.priority(of: request))
        let place = oracle.line.firstIndex { $0.id == id } ?? behind
        let others = oracle.line.enumerated().filter {
            ($0 < place || $1.isGranted) && $1.id != id && oracle.stands($1)
        }
        .map(\.element)
        return Set(
            others.filter { other in
                var alone = oracle
                alone.line = [other]
                let rulebook = Rulebook(
                    ledger: ledger, oracle: alone, idleTimes: idleTimes, isDraining: isDraining, now: now)
                // Any of the names counts.
                guard case .anyOf(let names)? = request.scope else { return rulebook.isBlocked(request) }
                return names.contains {
                    var one = request
                    one.scope = .controllers([$0])
                    return rulebook.isBlocked(one)
                }
            }.map(\.id))
    }
}

extension NaiveOracle {
    /// The appearance events of the last record that a transition causes.
    fileprivate func appearance(because id: TransitionID) -> [AppearanceEvent] {
        events.compactMap { event in
            guard case .appearance(let controller, let change, id) = event.kind else { return nil }
            return AppearanceEvent(controller, change)
        }
    }
}
