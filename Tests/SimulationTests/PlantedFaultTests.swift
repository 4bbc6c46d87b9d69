import ArbiterModel
import ArbiterSimulation
import Testing

/// A check that cannot fail is worth nothing: each fault has to be found, by the checker that is there for it.
///
/// Most faults are found at once by comparing the journal with what was requested. So each is planted a second time where
/// the journal is not watched: then what clients see, the state and the events have to be enough.
struct PlantedFaultTests {
    /// How many steps a fault may go unnoticed.
    private static let patience = 20_000

    // MARK: The journal

    @Test(arguments: UInt64(1)...3)
    func `a restart that leaves out records is found`(seed: UInt64) throws {
        try expect([.promise, .replay, .event], of: .skippedReplay, seed: seed)
        try expect([.promise, .replay, .event], of: .skippedReplay, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a fence that is given again is found`(seed: UInt64) throws {
        try expect([.record], of: .repeatedFence, seed: seed)
        try expect([.fence, .exclusion], of: .repeatedFence, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `an answer that is not yet committed is found`(seed: UInt64) throws {
        try expect([.commit], of: .answerBeforeCommit, seed: seed)
        try expect([.promise], of: .answerBeforeCommit, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `an end that is not in the journal is found`(seed: UInt64) throws {
        try expect([.replay, .promise, .life], of: .forgottenEnd, seed: seed)
        try expect([.promise, .life, .replay, .record, .oracle], of: .forgottenEnd, seed: seed, watchingJournal: false)
    }

    // MARK: Requests and answers

    @Test(arguments: UInt64(1)...3)
    func `a ticket that overtakes another is found`(seed: UInt64) throws {
        try expect([.record], of: .overtakingQueue, seed: seed)
        try expect(
            [.oracle, .hierarchy, .order, .life, .participants, .reply], of: .overtakingQueue, seed: seed,
            watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a transition that holds on after its end is found`(seed: UInt64) throws {
        try expect([.record, .reply], of: .unappliedEnd, seed: seed)
        try expect([.oracle, .hierarchy, .order, .reply], of: .unappliedEnd, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a token that is not looked at is found`(seed: UInt64) throws {
        try expect([.record, .reply], of: .blindToken, seed: seed)
        try expect([.oracle, .hierarchy, .order, .life, .reply], of: .blindToken, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a request that is not known again is found`(seed: UInt64) throws {
        try expect([.record, .reply, .event], of: .lostKey, seed: seed)
        try expect([.oracle, .order, .life, .event, .reply], of: .lostKey, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `an await that is never told is found`(seed: UInt64) throws {
        try expect([.wake], of: .lostWake, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an await that is told twice is found`(seed: UInt64) throws {
        try expect([.wake], of: .repeatedWake, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an event with the number of another is found`(seed: UInt64) throws {
        try expect([.event], of: .repeatedEvent, seed: seed)
    }

    // MARK: Time

    @Test(arguments: UInt64(1)...3)
    func `a lease that is taken away early is found`(seed: UInt64) throws {
        try expect([.decision, .session, .wake, .exclusion], of: .hastyExpiry, seed: seed)
        try expect([.exclusion, .promise, .wake, .session], of: .hastyExpiry, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a deadline that nobody notices is found`(seed: UInt64) throws {
        try expect([.wake, .decision, .session, .reply], of: .missedDeadline, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a clock that runs on while the process is stopped is found`(seed: UInt64) throws {
        try expect([.decision, .session, .wake, .promise, .reply], of: .countedPause, seed: seed)
        try expect(
            [.promise, .exclusion, .wake, .session, .decision, .time, .reply], of: .countedPause, seed: seed,
            watchingJournal: false)
    }

    // MARK: Trees and operations

    @Test(arguments: UInt64(1)...3)
    func `a queue that overlooks a waiting scope which has moved is found`(seed: UInt64) throws {
        try expect([.oracle, .order], of: .overlookedMove, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a queue that does not look at ancestors is found`(seed: UInt64) throws {
        try expect([.oracle, .hierarchy, .order, .record, .reply], of: .ignoredAncestor, seed: seed)
        try expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredAncestor, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a queue that does not wait for controllers which are coming is found`(seed: UInt64) throws {
        try expect([.oracle, .order, .record, .reply], of: .ignoredArrival, seed: seed)
        try expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredArrival, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a row of silent tickets that ends one by one is found`(seed: UInt64) throws {
        try expect([.decision], of: .forgottenRow, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an operation that is done although it was cancelled is found`(seed: UInt64) throws {
        try expect([.record, .reply], of: .appliedCancellation, seed: seed)
        try expect([.hierarchy, .oracle, .reply, .life], of: .appliedCancellation, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `an operation that is done twice is found`(seed: UInt64) throws {
        try expect([.record], of: .repeatedOperation, seed: seed)
        try expect([.oracle, .life, .order, .event], of: .repeatedOperation, seed: seed, watchingJournal: false)
    }

    // MARK: Sessions and participants

    @Test(arguments: UInt64(1)...3)
    func `a transition that outlives its session is found`(seed: UInt64) throws {
        try expect([.record, .event], of: .orphanedTransition, seed: seed)
        try expect([.life, .oracle, .event], of: .orphanedTransition, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a session that lives on without a word is found`(seed: UInt64) throws {
        try expect([.session], of: .immortalSession, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a participant that nobody waits for is found`(seed: UInt64) throws {
        try expect([.record], of: .ignoredParticipant, seed: seed)
        try expect([.participants, .oracle, .life], of: .ignoredParticipant, seed: seed, watchingJournal: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a ticket that takes the place of one that runs is found`(seed: UInt64) throws {
        try expect([.record], of: .greedyCoalescing, seed: seed)
        try expect([.order, .oracle, .hierarchy], of: .greedyCoalescing, seed: seed, watchingJournal: false)
    }

    private func expect(
        _ rules: Set<Rule>, of fault: Fault, seed: UInt64, watchingJournal: Bool = true,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        var configuration = SimulationSettings()
        configuration.fault = fault
        if fault == .repeatedFence { configuration.machineDeathRarity = 1 }
        configuration.watchesJournal = watchingJournal
        var simulation = Simulation(seed: seed, configuration: configuration)
        do throws(Violation) {
            try simulation.run(steps: Self.patience)
        } catch {
            let manner = watchingJournal ? "" : ", the journal unwatched"
            print("\(fault.rawValue), seed \(seed)\(manner): \(error.rule.rawValue) after \(error.step) steps")
            #expect(rules.contains(error.rule), "\(error)", sourceLocation: location)
            #expect(error.transcript.isEmpty == false, sourceLocation: location)
            return
        }
        Issue.record("\(fault.rawValue), seed \(seed): not found", sourceLocation: location)
    }
}
