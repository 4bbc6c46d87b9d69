import ArbiterModel
import ArbiterSimulation
import Testing

/// A check that cannot fail is worth nothing: each fault has to be found, by the checker that is there for it.
///
/// Most faults are found at once by comparing the journal with what was requested. So each is planted a second time where
/// the journal is not watched: then what clients see, the state and the events have to be enough.
struct PlantedFaultTests {
    private static let seeds = UInt64(1)...20
    /// How many steps of a seed a fault may go unnoticed.
    private static let patience = 10_000

    // MARK: The journal

    @Test func `a restart that leaves out records is found`() throws {
        try expect([.promise, .replay, .event], of: .skippedReplay)
        try expect([.promise, .replay, .event], of: .skippedReplay, watchingJournal: false)
    }

    @Test func `a fence that is given again is found`() throws {
        try expect([.record], of: .repeatedFence)
        try expect([.fence, .exclusion], of: .repeatedFence, watchingJournal: false)
    }

    @Test func `an answer that is not yet committed is found`() throws {
        try expect([.commit], of: .answerBeforeCommit)
        try expect([.promise], of: .answerBeforeCommit, watchingJournal: false)
    }

    @Test func `an end that is not in the journal is found`() throws {
        try expect([.replay, .promise, .life], of: .forgottenEnd)
        try expect([.promise, .life, .replay, .record, .oracle], of: .forgottenEnd, watchingJournal: false)
    }

    // MARK: Requests and answers

    @Test func `a ticket that overtakes another is found`() throws {
        try expect([.record], of: .overtakingQueue)
        try expect(
            [.oracle, .hierarchy, .order, .life, .participants, .reply], of: .overtakingQueue,
            watchingJournal: false)
    }

    @Test func `a transition that holds on after its end is found`() throws {
        try expect([.record, .reply], of: .unappliedEnd)
        try expect([.oracle, .hierarchy, .order, .reply], of: .unappliedEnd, watchingJournal: false)
    }

    @Test func `a token that is not looked at is found`() throws {
        try expect([.record, .reply], of: .blindToken)
        try expect([.oracle, .hierarchy, .order, .life, .reply], of: .blindToken, watchingJournal: false)
    }

    @Test func `a request that is not known again is found`() throws {
        try expect([.record, .reply, .event], of: .lostKey)
        try expect([.oracle, .order, .life, .event, .reply], of: .lostKey, watchingJournal: false)
    }

    @Test func `an await that is never told is found`() throws {
        try expect([.wake], of: .lostWake)
    }

    @Test func `an await that is told twice is found`() throws {
        try expect([.wake], of: .repeatedWake)
    }

    @Test func `an event with the number of another is found`() throws {
        try expect([.event], of: .repeatedEvent)
    }

    // MARK: Time

    @Test func `a lease that is taken away early is found`() throws {
        try expect([.decision, .session, .wake, .exclusion], of: .hastyExpiry)
        try expect([.exclusion, .promise, .wake, .session], of: .hastyExpiry, watchingJournal: false)
    }

    @Test func `a deadline that nobody notices is found`() throws {
        try expect([.wake, .decision, .session, .reply], of: .missedDeadline)
    }

    @Test func `a clock that runs on while the process is stopped is found`() throws {
        try expect([.decision, .session, .wake, .promise, .reply], of: .countedPause)
        try expect(
            [.promise, .exclusion, .wake, .session, .decision, .time, .reply], of: .countedPause,
            watchingJournal: false)
    }

    // MARK: Trees and operations

    @Test func `a queue that overlooks a waiting scope which has moved is found`() throws {
        try expect([.oracle, .order], of: .overlookedMove)
    }

    @Test func `a queue that does not look at ancestors is found`() throws {
        try expect([.oracle, .hierarchy, .order, .record, .reply], of: .ignoredAncestor)
        try expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredAncestor, watchingJournal: false)
    }

    @Test func `a queue that does not wait for controllers which are coming is found`() throws {
        try expect([.oracle, .order, .record, .reply], of: .ignoredArrival)
        try expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredArrival, watchingJournal: false)
    }

    @Test func `a row of silent tickets that ends one by one is found`() throws {
        try expect([.decision], of: .forgottenRow)
    }

    @Test func `an operation that is done although it was cancelled is found`() throws {
        try expect([.record, .reply], of: .appliedCancellation)
        try expect([.hierarchy, .oracle, .reply, .life], of: .appliedCancellation, watchingJournal: false)
    }

    @Test func `an operation that is done twice is found`() throws {
        try expect([.record], of: .repeatedOperation)
        try expect([.oracle, .life, .order, .event], of: .repeatedOperation, watchingJournal: false)
    }

    // MARK: Sessions and participants

    @Test func `a transition that outlives its session is found`() throws {
        try expect([.record, .event], of: .orphanedTransition)
        try expect([.life, .oracle, .event], of: .orphanedTransition, watchingJournal: false)
    }

    @Test func `a session that lives on without a word is found`() throws {
        try expect([.session], of: .immortalSession)
    }

    @Test func `a participant that nobody waits for is found`() throws {
        try expect([.record], of: .ignoredParticipant)
        try expect([.participants, .oracle, .life], of: .ignoredParticipant, watchingJournal: false)
    }

    @Test func `a ticket that takes the place of one that runs is found`() throws {
        try expect([.record], of: .greedyCoalescing)
        try expect([.order, .oracle, .hierarchy], of: .greedyCoalescing, watchingJournal: false)
    }

    /// One of the seeds has to find the fault; whichever is the first has to find it by one of the rules that are there for it.
    private func expect(
        _ rules: Set<Rule>, of fault: Fault, watchingJournal: Bool = true,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        var configuration = SimulationSettings()
        configuration.fault = fault
        if fault == .repeatedFence { configuration.machineDeathRarity = 1 }
        configuration.watchesJournal = watchingJournal
        for seed in Self.seeds {
            var simulation = Simulation(seed: seed, configuration: configuration)
            do throws(Violation) {
                try simulation.run(steps: Self.patience)
            } catch {
                #expect(rules.contains(error.rule), "seed \(seed): \(error)", sourceLocation: location)
                #expect(error.transcript.isEmpty == false, sourceLocation: location)
                return
            }
        }
        Issue.record("\(fault.rawValue) is not found", sourceLocation: location)
    }
}
