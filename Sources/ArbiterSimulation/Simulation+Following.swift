internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

// The comparison of the engine's records with the predicted ones, one by one.

extension Simulation {
    /// Checks the records, answers, events and notices that a call of the engine or of the journal has caused.
    ///
    /// - Parameters:
    ///   - pending: the ask that the engine was called for.
    ///   - isTurn: whether the engine ran a turn, and so did what was due.
    ///   - isFirst: whether the engine has just opened the journal, which is not a turn.
    /// - Throws: `Broken`.
    mutating func absorb(_ pending: Pending? = nil, isTurn: Bool, isFirst: Bool = false) throws(Broken) {
        let isResumed = isDown && journal.isOpen
        if isResumed { try takeUp() }
        var turn = Turn(pending: pending)
        replica.oracle.reconsidered = []
        if isTurn, !isDown {
            answerDueAwaits(&turn)
            answerDueIdlers(&turn)
        }
        let entries = journal.takeAppended()
        for entry in entries { try follow(entry, &turn) }
        if let pending = turn.pending { try judge(pending, kept: nil, at: observed, &turn) }
        try checkNobodyHasToInterrupt(turn)
        guard restartRecords.isEmpty || !configuration.watchesJournal else {
            throw Broken(.record, "a restart does not journal \(restartRecords)")
        }
        restartRecords.removeAll()
        for index in owedAnswers.indices where owedAnswers[index].latest == .max {
            owedAnswers[index].latest = observed
        }
        if let waiting = parked.first(where: { $0.waiter == nil }) {
            throw Broken(.reply, "\(waiting.request.ask) was to park")
        }
        if let waiting = idlers.first(where: { $0.waiter == nil }) {
            throw Broken(.reply, "\(waiting.request.ask) was to park")
        }
        if isDraining, isTurn, !isDown {
            answerAllAwaits()
            answerAllIdlers()
        }
        try readMail()
        try checkNothingIsOwed()
        if isTurn, !isDown { try checkTurn(isDurable: !entries.isEmpty, isFirst: isFirst || isResumed) }
    }

    private mutating func follow(_ entry: JournalEntry, _ turn: inout Turn) throws(Broken) {
        guard entry.sequence == observed + 1 else {
            throw Broken(.record, "record \(entry.sequence) comes after \(observed)")
        }
        guard let read = process.time.lastRead, entry.moment.timestamp == read.timestamp,
            entry.moment.instant == read.instant.advanced(by: process.offset)
        else { throw Broken(.time, "record \(entry.sequence) is of another moment: \(entry.moment)") }
        (observed, observedAt) = (entry.sequence, entry.moment)
        statistics.count(.records)
        switch entry.record {
        case .start, .serialize, .end, .revoke, .revokeAll, .update, .decide, .perform, .markReady, .veto,
            .answerGuards, .addGuard,
            .removeGuard, .openSession,
            .endSession(_, .ended),
            .declare,
            .patch, .delete:
            try checkNobodyHasToInterrupt(turn)
            turn.waking.removeAll()
            turn.wakingIdlers.removeAll()
            if let pending = turn.pending { return try judge(pending, kept: entry, at: entry.sequence, &turn) }
            guard !configuration.watchesJournal else { throw Broken(.record, "nobody asked for \(entry.record)") }
            try keep(entry, asIf: nil, &turn)
        case .interrupt(let id):
            if isBecauseOfAsk(id, turn), let pending = turn.pending {
                try judge(pending, kept: nil, at: observed - 1, &turn)
            }
            try checkMayInterrupt(id, turn)
            statistics.count(.lateInterruptions)
            try keep(entry, asIf: entry.record, &turn)
        case .expire, .expireUnclaimed, .markGone, .timeOutParticipants, .endInterrupted, .endSession(_, .expired),
            .adopt, .distrust, .skipFences, .resume, .stop:
            try checkNobodyHasToInterrupt(turn)
            // A ticket is given up because its owner's connection has closed.
            if case .expire(let id, .abandoned) = entry.record,
                parked.contains(where: { $0.number == leavingAwait && $0.transition == id })
            {
                finishLeaving()
            }
            try checkReason(for: entry.record)
            try keep(entry, asIf: entry.record, &turn)
        }
    }

    /// Predicts the record and the answer of an ask, once its own record is known or the turn is over without one.
    private mutating func judge(
        _ pending: Pending, kept entry: JournalEntry?, at sequence: UInt64, _ turn: inout Turn
    ) throws(Broken) {
        turn.pending = nil
        let ask = pending.request.ask
        guard !isDown else {
            return owe(pending, OwedAnswer.State(transition: nil, sequence: sequence), verdict: .unavailable)
        }
        let prediction = rulebook.prediction(on: ask, kept: entry?.record)
        if configuration.watchesJournal, entry?.record != prediction.record {
            let (kept, expected) = (entry?.record.words ?? "nothing", prediction.record?.words ?? "nothing")
            throw Broken(.record, "\(ask) is kept as \(kept), not as \(expected)")
        }
        let isNew = prediction.record != nil
        note(.asked(client: pending.request.client, ask, prediction.verdict, isDurable: isNew, sequence: sequence))
        count(prediction.verdict, ask, isNew: isNew)
        if case .refused(let refusal) = prediction.verdict, refusal.isForWantOfRoom {
            notices.expect(.refused(refusal, ask.scene, ask.client), after: sequence)
        }
        try keep(entry, asIf: prediction.record, after: prediction.oracle, &turn)
        try listen(to: ask, prediction, after: sequence)
        if prediction.verdict == .parked { return try park(pending, prediction, at: sequence) }
        guard pending.waiter == nil else { throw Broken(.reply, "\(ask) parks, and was not to") }
        var transition: Transition?
        if case .transition(let id) = prediction.verdict { transition = replica.machine.transition(id) }
        owe(
            pending, OwedAnswer.State(transition: transition, sequence: sequence), verdict: prediction.verdict,
            trial: prediction.trial)
        if case .dryRun = ask { try checkNothingHasChanged(because: ask) }
        switch prediction.trial?.outcome {
        case .blocked: statistics.count(.dryRunsBlocked)
        case .interrupting: statistics.count(.dryRunsInterrupting)
        case .setAside: statistics.count(.dryRunsAside)
        case .granted, .noop, .withheld, .superseded, nil: break
        }
    }

    /// Applies a record to the replica, the oracle, the ledger and the vigils, and checks them.
    ///
    /// - Parameters:
    ///   - entry: the entry in the journal, if there is one.
    ///   - record: the predicted record; the same as the entry's where the journal is watched.
    ///   - oracle: the oracle after the record, if the prediction has computed it.
    ///   - turn: the turn in which the record was made.
    /// - Throws: `Broken`.
    private mutating func keep(
        _ entry: JournalEntry?, asIf record: Record?, after oracle: NaiveOracle? = nil, _ turn: inout Turn
    ) throws(Broken) {
        var told: [KeptEvent] = []
        if let entry {
            told = try replica.apply(entry.record, at: entry.moment, sequence: entry.sequence)
        }
        if let record { follow(record, after: oracle) }
        guard entry != nil || record != nil else { return }
        if let record { note(.kept(record, sequence: observed)) }
        for event in told { events.expect(.event(event), after: observed) }
        expectNotices(of: record)
        let expected = self.oracle.events
        try check()
        guard told.map(\.event) == expected else {
            let words = record?.words ?? "nothing"
            throw Broken(.event, "\(words) is told as \(told.map(\.event)), and was to be told as \(expected)")
        }
        try answerReachedAwaits(in: turn)
        answerReachedIdlers(in: &turn)
    }

    private mutating func follow(_ record: Record, after predicted: NaiveOracle?) {
        if case .endSession(let id, let ending) = record {
            for bound in oracle.line where bound.session == id { holds.relinquish(bound.id) }
            vigils.close(id)
            if ending == .expired { statistics.count(.sessionsExpired) }
        }
        if case .timeOutParticipants(let id) = record, let late = oracle[id] {
            // A transition that expires for want of its participants never ran.
            if late.abortsOnSilence { holds.relinquish(id) } else { statistics.count(.ranWithoutLaggards) }
        }
        if case .answerGuards = record { statistics.count(.answeredForAll) }
        if let predicted { replica.oracle = predicted } else { replica.oracle.apply(record) }
        // An administrator knows that an owner has stopped using the scope.
        if case .revokeAll = record { for (id, _) in oracle.endings { holds.relinquish(id) } }
        // Who consents to be interrupted knows that its lease does not protect it; and one that is vetoed, or replaced, never ran.
        for (id, ending) in oracle.endings where ending.interruptedBy != nil || ending.mayEndHold {
            holds.relinquish(id)
        }
        let lease = record.request.map { oracle.scene($0.scene).storyboard.defaults.lease } ?? .zero
        let moment = observedAt ?? Moment(instant: now, timestamp: Timestamp(milliseconds: 0))
        ledger.note(record, at: moment, sequence: observed, lease: lease)
        if case .openSession(_, let timeToLive, let id, _, _) = record {
            vigils.open(id, timeToLive: timeToLive, at: now)
        }
        for id in oracle.granted {
            guard let granted = oracle[id], granted.isMissingGuards, let index = ledger.index(of: id) else { continue }
            ledger.entries[index].asked = granted.members.filter { $0.asked != nil }
            statistics.count(granted.hasRememberedEnd ? .askedAtTurn : .asked)
        }
        noteIdling(after: record)
    }

    private mutating func expectNotices(of record: Record?) {
        if case .endSession(let id, let ending) = record { notices.expect(.sessionEnded(id, ending), after: observed) }
        if case .resume = record { notices.expect(.resumed, after: observed) }
        for (id, ending) in oracle.endings {
            switch ending.outcome {
            case .expired, .revoked: notices.expect(.ended(id), after: observed)
            case .completed, .cancelled, .scopeGone, .sceneGone, .vetoed, .expectationFailed, .invalidOperation,
                .superseded:
                break
            }
        }
    }
}

extension Record {
    /// The request of the transition that it makes, if it makes one.
    var request: TransitionRequest? {
        switch self {
        case .start(let request, _, _), .serialize(let request, _, _): request
        case .end, .revoke, .revokeAll, .update, .decide, .perform, .markReady, .veto, .answerGuards, .addGuard,
            .removeGuard, .markGone,
            .openSession, .endSession, .declare,
            .patch,
            .delete, .expire, .interrupt, .endInterrupted,
            .expireUnclaimed, .timeOutParticipants, .adopt, .distrust, .skipFences, .resume, .stop:
            nil
        }
    }

    fileprivate var words: String { "\(self)" }
}

extension Ask {
    /// The scene in the notice that there was no room.
    fileprivate var scene: SceneName? {
        switch self {
        case .start(let request), .serialize(let request, _), .dryRun(let request, _): request.scene
        case .await, .awaitIdle, .look, .end, .renew, .progress, .release, .perform, .report, .addGuard, .removeGuard,
            .openSession,
            .renewSession,
            .endSession,
            .revoke, .revokeAll, .update, .attach, .declare, .patch, .delete:
            nil
        }
    }

    /// The client in the notice that there was no room.
    fileprivate var client: ClientName? {
        switch self {
        case .start(let request), .serialize(let request, _), .dryRun(let request, _): request.client
        case .openSession(let client, _): client
        case .await, .awaitIdle, .look, .end, .renew, .progress, .release, .perform, .report, .addGuard, .removeGuard,
            .renewSession,
            .endSession,
            .revoke, .revokeAll, .update,
            .attach,
            .declare, .patch, .delete:
            nil
        }
    }
}
