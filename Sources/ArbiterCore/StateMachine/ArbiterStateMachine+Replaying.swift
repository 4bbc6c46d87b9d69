// Replay: what a record does, and under which rules.

extension ArbiterStateMachine {
    /// Applies a record, without doing what is due: in a journal, that has records of its own.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - moment: its moment.
    ///   - rules: the rules that it was made under, not older than those of the record before.
    /// - Returns: an outcome with the same record; without a record if it contradicts the state, which has not changed.
    package mutating func apply(
        _ record: Record, at moment: Moment, under rules: Rules = .newest
    ) -> Outcome<Void> {
        var step = Step(moment: moment)
        let answer = apply(record, in: &step, under: rules)
        return Outcome(answer: answer, effects: step.effects, records: step.records)
    }

    /// Applies a record in a step that has just begun.
    package mutating func apply(
        _ record: Record, in step: inout Step, under rules: Rules = .newest
    ) -> Result<Void, ArbiterError> {
        adopt(rules)
        return run(in: &step) { machine, step throws(ArbiterError) in try machine.carryOut(record, in: &step) }
    }

    /// The rules under which the state is.
    package var rules: Rules { durable.rules }

    /// What is forgotten, and when.
    package var retention: Retention { durable.retention ?? limits.retention }

    /// Whether the arbiter has to adopt terms before it goes on under them.
    package func isBehind(_ terms: Terms) -> Bool {
        if durable.rules < terms.rules { return true }
        guard let retention = terms.retention else { return false }
        return durable.retention != retention
    }

    /// Goes on under the rules of the step, and with what the journal says of forgetting from now on.
    mutating func adopt(_ retention: Retention?, in step: inout Step) {
        step.keep(.adopt(retention))
        guard let retention else { return }
        durable.retention = retention
        prune(at: step.now)
    }

    /// Continues under newer rules; what is granted ends under the rules of its grant.
    ///
    /// By itself only where there is no record yet; afterwards with the first record that is made under them.
    package mutating func adopt(_ rules: Rules) {
        durable.rules = max(durable.rules, rules)
    }

    private mutating func carryOut(_ record: Record, in step: inout Step) throws(ArbiterError) {
        switch record {
        case .start(let request, let id, let token): _ = try start(request, id: id, token: token, in: &step)
        case .serialize(let request, let id, let token):
            _ = try serialize(request, id: id, token: token, park: nil, in: &step)
        case .end(let id, let token, let outcome): _ = try end(id, token: token, as: outcome, in: &step)
        case .revoke(let id, let revocation): _ = try revoke(id, revocation, in: &step)
        case .revokeAll(let scene, let client, let principal, let revocation):
            _ = try revokeAll(in: scene, of: client, ownedBy: principal, revocation, in: &step)
        case .update(let id, let update): self.update(id, update, in: &step)
        case .decide(let id, let gesture): decide(id, gesture, in: &step)
        case .perform(let id, let operation): perform(id, operation, in: &step)
        case .markReady(let id, let client): if markReady(id, client: client, in: &step) { prune(at: step.now) }
        case .veto(let id, let client, let reason): repeatVeto(of: id, by: client, because: reason, in: &step)
        case .answerGuards(let id, let session):
            if answerGuards(of: id, in: session, in: &step) { prune(at: step.now) }
        case .addGuard(let scene, let new): add(new, to: scene, in: &step)
        case .removeGuard(let scene, let id): removeGuard(id, of: scene, in: &step)
        case .markGone(let id, let client): markGone(id, client: client, in: &step)
        case .openSession(let client, let timeToLive, let id, let token, let caller):
            _ = try openSession(
                client: client, timeToLive: timeToLive, by: caller, id: id, token: token, in: &step)
        case .endSession(let id, let ending): conclude(id, because: ending, in: &step)
        case .declare(let scene, let storyboard): _ = try declare(scene, storyboard, if: .none, in: &step)
        case .patch(let scene, let patch): _ = try self.patch(scene, patch, if: .none, in: &step)
        case .delete(let scene): try delete(scene, if: .none, in: &step)
        case .expire(let id, let reason): expire(id, because: reason, in: &step)
        case .expireUnclaimed(let ids): expireUnclaimed(ids, in: &step)
        case .interrupt(let id): interrupt(for: id, in: &step)
        case .endInterrupted(let id): endInterrupted(id, in: &step)
        case .timeOutParticipants(let id): timeOutParticipants(of: id, in: &step)
        case .distrust(let holdsGrants): distrust(holdsGrants: holdsGrants, in: &step)
        case .adopt(let retention): adopt(retention, in: &step)
        case .skipFences: skipFences(in: &step)
        case .resume: resume(in: &step)
        case .stop: stop(in: &step)
        }
    }
}
