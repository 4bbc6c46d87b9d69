package import ArbiterCore

/// How an engine continues after its journal has failed.
package struct JournalRecovery: Sendable {
    /// Opens the journal again, as at a start; called after the failed journal is closed.
    let reopen: @Sendable () throws(JournalError) -> any Journal
    let whenResumed: @Sendable (LastEvents) -> Void
    /// Begins each try, which may take long; without one, the engine's alarm does.
    let alarm: (any Alarm)?
    let whenLost: @Sendable (JournalError) -> Void

    /// The number of the newest event of each scene and over all scenes.
    package typealias LastEvents = (scenes: [SceneName: EventNumber], overall: EventNumber)

    /// - Parameters:
    ///   - alarm: begins each try, which may take long; without one, the engine's alarm does.
    ///   - reopen: opens the journal again, as at a start; called after the failed journal is closed.
    ///   - whenResumed: called when the state has been read from the journal, before any answer is computed from it; it
    ///     has to end every event stream, and must not take long.
    ///   - whenLost: called once if trying again does not help, after all requests are answered.
    package init(
        alarm: (any Alarm)? = nil,
        reopen: @escaping @Sendable () throws(JournalError) -> any Journal,
        whenResumed: @escaping @Sendable (LastEvents) -> Void,
        whenLost: @escaping @Sendable (JournalError) -> Void
    ) {
        self.alarm = alarm
        self.reopen = reopen
        self.whenResumed = whenResumed
        self.whenLost = whenLost
    }

    /// The pause before the first try.
    package static let shortestPause = Duration.seconds(1)
    /// The longest pause between two tries; each pause is twice as long as the one before, up to this.
    package static let longestPause = Duration.seconds(10)
}

// MARK: - After a start

extension Engine {
    /// Applies and journals the records of a restart, before anything that is due.
    ///
    /// Numbers jump if the journal may have lost some, and grants are withheld if it may have lost leases.
    ///
    /// - Returns: the answers that can be delivered at once.
    func makeUp(for ending: JournalContents.Ending, in state: inout State) -> [Answers] {
        let moment = now()
        // A new journal has nothing yet that would mean something else.
        if state.lastSequence == 0 { state.machine.adopt(state.terms.rules) }
        var records: [Record] = state.machine.isBehind(state.terms) ? [.adopt(state.terms.retention)] : []
        switch ending {
        case .closed: break
        case .killed, .commitCutShort: records.append(.skipFences)
        case .machineDied, .incomplete: records.append(.distrust(holdsGrants: mayClientsLive(after: ending)))
        }
        // Grants may still be withheld because of an earlier crash.
        if !mayClientsLive(after: ending) { records.append(.resume) }
        var answers = records.map { record in
            state.step.restart(at: moment)
            let rules = max(state.machine.rules, state.terms.rules)
            _ = state.machine.apply(record, in: &state.step, under: rules)
            return finish(&state)
        }
        state.step.restart(at: moment)
        state.machine.interruptForReconsidered(in: &state.step)
        answers.append(finish(&state))
        setAlarm(in: &state, at: moment.instant)
        return answers
    }
}

extension Engine {
    /// Whether clients may still hold leases that the journal has lost, then or before.
    private func mayClientsLive(after ending: JournalContents.Ending) -> Bool {
        switch earlierClients {
        case .anywhere: true
        case .onThisMachine: !ending.isOfMachine
        case .gone: false
        }
    }

    /// How long grants are still withheld; `nil` if they are not.
    package var remainingHold: Duration? { state.withLock { $0.machine.remainingHold(at: now().instant) } }
}

/// Which clients of before a start may still hold leases that the journal has lost.
package enum EarlierClients: Hashable, Sendable {
    /// Some may run on other machines.
    case anywhere
    /// All run on this machine, and die with it.
    case onThisMachine
    /// None is left.
    case gone
}

// MARK: - Other terms

extension Engine {
    /// Goes on under other terms, by a record of its own; nothing if it does so already.
    ///
    /// While the journal has failed, that waits until the engine is asked again.
    ///
    /// - Parameters:
    ///   - terms: what records are made under.
    ///   - limits: other limits on admission; no replay depends on those.
    package func adopt(_ terms: Terms, limits: Limits? = nil) {
        let (answers, journal, lacksProof) = state.withLock { state -> (Answers?, (any Journal)?, Bool) in
            // If the journal is opened again, the engine goes on under these.
            state.terms = terms
            if let limits { state.machine.enforce(limits) }
            guard state.life < .over, state.failure == nil, state.machine.isBehind(terms) else {
                return (nil, nil, false)
            }
            state.turn += 1
            let moment = now()
            state.step.restart(at: moment)
            let rules = max(state.machine.rules, terms.rules)
            _ = state.machine.apply(.adopt(terms.retention), in: &state.step, under: rules)
            let answers = finish(&state)
            setAlarm(in: &state, at: moment.instant)
            ownership?.note(state.turn)
            return (answers, state.gathering, state.lacksProof)
        }
        answers?.deliver()
        journal?.flush()
        if lacksProof { ownership?.prove() }
    }

    /// Whether every record is committed.
    package var isSettled: Bool { state.withLock { $0.committedSequence == $0.lastSequence } }

    /// The rules under which the next record is made.
    package var rules: Rules { state.withLock { $0.machine.rules } }
}

// MARK: - After a failure

extension Engine {
    /// Answers all requests that the journal is unavailable, and schedules the next try if one can help.
    func fail(_ error: JournalError) {
        guard let recovery, state.withLock({ $0.life < .over }) else { return lose(error) }
        guard error.kind.isTemporary else {
            lose(error)
            recovery.whenLost(error)
            return
        }
        guard let pause = state.withLock({ $0.access.fail(error) }) else { return }
        refuseAll()
        (recovery.alarm ?? alarm).ring(after: pause) { [weak self] in self?.takeUpAgain() }
    }

    /// Answers all withheld requests that the journal is unavailable, and refuses new ones until it goes on.
    ///
    /// Events are withheld further, because they will be committed, and so are the answers of requests that were parked.
    func stall(_ error: JournalError) {
        let answers = state.withLock { state -> [Delivery] in
            guard state.life < .over, state.access.stall(error) else { return [] }
            let answers = state.withheld.filter { $0.delivery.isAnswer && !$0.isPatient }.map(\.delivery)
            state.withheld.removeAll { $0.delivery.isAnswer && !$0.isPatient }
            return answers
        }
        for answer in answers { answer.deliver(unless: .journalUnavailable(error)) }
    }

    /// Answers everything that is not answered yet, and refuses all later requests, because another process may go on with the
    /// journal; writes nothing more.
    ///
    /// The journal may never say what has become of its last records. A second call changes nothing.
    package func abandon() {
        let error = JournalError(
            .notOwner, reason: "this node no longer serves the shard of the scene: ask again", retryAfter: .seconds(1))
        state.withLock { state in
            state.advance(to: .over)
            state.access.abandon(error)
        }
        refuseAll()
    }

    /// Uses the journal no more, and refuses what is not answered.
    func lose(_ error: JournalError) {
        state.withLock { $0.access.lose(error) }
        refuseAll()
    }

    /// Answers all withheld and parked requests that the journal is unavailable, or that another process takes over.
    private func refuseAll() {
        let (failure, lost, parked, observers, leavers) = state.withLock {
            state -> (JournalError?, [Withheld], [Parked], [ObservationCompletion], [Answer<SessionView>]) in
            guard let failure = state.failure else { return (nil, [], [], [], []) }
            defer {
                state.withheld.removeAll()
                state.parked.removeAll()
                state.observers.removeAll()
                state.leavers.removeAll()
            }
            return (
                failure, Array(state.withheld), Array(state.parked.values), Array(state.observers.values),
                state.leavers.values.flatMap(\.self)
            )
        }
        guard let error = failure else { return }
        for withheld in lost { withheld.delivery.deliver(unless: error.meaning(hasRecorded: withheld.hasRecorded)) }
        for waiter in parked { waiter.completion(.failure(error.meaning(hasRecorded: waiter.hasRecorded))) }
        for completion in observers { completion(.failure(error.meaning(hasRecorded: false))) }
        for completion in leavers { completion(.failure(error.meaning(hasRecorded: true))) }
    }

    /// Opens the journal again and continues from its contents; if this fails, schedules the next try.
    private func takeUpAgain() {
        let failed = state.withLock { $0.life < .over && $0.access.awaitsTry ? $0.journal : nil }
        guard let recovery, let failed else { return }
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

    /// Continues from the contents of a journal, as after a restart.
    private func takeUp(_ journal: any Journal, _ recovery: JournalRecovery) throws(JournalError) {
        let (limits, era) = state.withLock { ($0.machine.limits, $0.access.era + 1) }
        let replayed = try JournalReplay.of(journal, limits: limits)
        journal.begin { [weak self] in self?.committed($0, in: era) }
        let answers = state.withLock { state -> [Answers]? in
            guard state.life < .over, state.access.resume(on: journal) else { return nil }
            state.machine = replayed.machine
            state.machine.recover(at: now().instant, isDraining: state.life == .draining)
            state.lastSequence = replayed.sequence
            state.committedSequence = state.lastSequence
            recovery.whenResumed((state.machine.lastEvents(), state.machine.lastEvent))
            return makeUp(for: replayed.ending, in: &state)
        }
        guard let answers else { return journal.close() }
        for answer in answers { answer.deliver() }
        journal.flush()
    }
}
