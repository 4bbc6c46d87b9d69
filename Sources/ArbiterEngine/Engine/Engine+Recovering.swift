package import ArbiterCore

/// How an engine goes on whose journal has failed.
package struct JournalRecovery: Sendable {
    /// Opens the journal again as a start would, once the one before has been closed.
    let reopen: @Sendable () throws(JournalError) -> any Journal
    let whenResumed: @Sendable (LastEvents) -> Void
    let whenLost: @Sendable (JournalError) -> Void

    /// The newest event of each scene, and of all.
    package typealias LastEvents = (scenes: [SceneName: EventNumber], overall: EventNumber)

    /// - Parameters:
    ///   - reopen: opens the journal again as a start would, once the one before has been closed.
    ///   - whenResumed: called when the state has been read anew, before anybody is answered from it; every stream of
    ///     events has to end. Must not take long.
    ///   - whenLost: called once, when everybody has been answered and the journal will not heal by itself.
    package init(
        reopen: @escaping @Sendable () throws(JournalError) -> any Journal,
        whenResumed: @escaping @Sendable (LastEvents) -> Void,
        whenLost: @escaping @Sendable (JournalError) -> Void
    ) {
        self.reopen = reopen
        self.whenResumed = whenResumed
        self.whenLost = whenLost
    }

    /// Before the first try.
    package static let shortestPause = Duration.seconds(1)
    /// Between two tries; every pause is twice the one before, up to this.
    package static let longestPause = Duration.seconds(10)
}

// MARK: - After a start

extension Engine {
    /// Makes up for what the journal may lack, and does what is due.
    func makeUp(for ending: JournalContents.Ending, in state: inout State) -> [Delivery] {
        var deliveries: [Delivery] = []
        let moment = now()
        decide(&state, at: moment, into: &deliveries)
        switch ending {
        case .closed: break
        case .killed: _ = apply(.skipFences, to: &state, at: moment, into: &deliveries)
        case .incomplete:
            _ = apply(.distrust(holdsGrants: !trustsLeasesOver), to: &state, at: moment, into: &deliveries)
        }
        // An earlier death may have left grants held.
        if trustsLeasesOver { _ = apply(.resume, to: &state, at: moment, into: &deliveries) }
        decide(&state, at: moment, into: &deliveries)
        setAlarm(in: &state, at: moment.instant)
        return withhold(deliveries, in: &state)
    }
}

// MARK: - After a failure

extension Engine {
    /// Answers everybody that the journal cannot be relied on, and tries again later.
    func fail(_ error: JournalError) {
        guard let recovery, !state.withLock({ $0.isOver }) else { return giveUp(because: error) }
        guard error.kind.canHeal else {
            state.withLock { $0.failure = error }
            giveUp(because: error)
            recovery.whenLost(error)
            return
        }
        let (pause, failure) = state.withLock { state -> (Duration, JournalError) in
            let pause = state.pause.map { min($0 * 2, JournalRecovery.longestPause) } ?? JournalRecovery.shortestPause
            state.pause = pause
            // The newest cause counts, and when the next try is.
            let failure = JournalError(
                error.kind, reason: "\(error.reason); the daemon tries again within \(pause.components.seconds) s",
                retryAfter: pause)
            state.failure = failure
            return (pause, failure)
        }
        giveUp(because: failure)
        alarm.ring(after: pause) { [weak self] in self?.takeUpAgain() }
    }

    /// Answers everybody that the journal cannot be relied on.
    func giveUp(because error: JournalError) {
        let (error, lost, parked) = state.withLock { state -> (JournalError, [Delivery], [Completion]) in
            let failure = state.failure ?? error
            state.failure = failure
            defer {
                state.withheld.removeAll()
                state.parked.removeAll()
            }
            return (failure, state.withheld.map(\.delivery), Array(state.parked.values))
        }
        for delivery in lost { delivery.deliver(unless: error) }
        for completion in parked { completion(.failure(.journalUnavailable(error))) }
    }

    private func takeUpAgain() {
        guard let recovery, let failed = state.withLock({ $0.isOver ? nil : $0.journal }) else { return }
        failed.close()
        do throws(JournalError) {
            let journal = try recovery.reopen()
            do throws(JournalError) {
                try takeUp(journal, recovery)
            } catch {
                journal.close()
                throw error
            }
        } catch {
            fail(error)
        }
    }

    /// Goes on from what a journal holds, as after a restart.
    private func takeUp(_ journal: any Journal, _ recovery: JournalRecovery) throws(JournalError) {
        let (limits, era) = state.withLock { ($0.machine.limits, $0.era + 1) }
        let replayed = try JournalReplay.of(journal, limits: limits)
        journal.begin { [weak self] in self?.committed($0, in: era) }
        let deliveries = state.withLock { state -> [Delivery]? in
            guard !state.isOver else { return nil }
            state.machine = replayed.machine
            state.machine.recover(at: now().instant)
            state.journal = journal
            state.era = era
            state.failure = nil
            state.lastSequence = replayed.sequence
            state.committedSequence = state.lastSequence
            recovery.whenResumed((state.machine.lastEvents(), state.machine.lastEvent))
            return makeUp(for: replayed.ending, in: &state)
        }
        guard let deliveries else { return journal.close() }
        deliver(deliveries)
    }
}
