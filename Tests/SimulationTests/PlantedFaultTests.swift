import ArbiterModel
import ArbiterSimulation
import Testing

/// A check that cannot fail is worth nothing: each fault has to be found, by the checker that is there for it.
///
/// Most faults are found at once by comparing the journal with what was requested. So each is planted a second time where
/// the journal is not watched: then what clients see, the state and the events have to be enough.
struct PlantedFaultTests {
    /// How many steps of a seed a fault may go unnoticed.
    private static let patience = 10_000

    // MARK: The journal

    @Test func `a restart that leaves out records is found`() {
        expect([.promise, .replay, .event], of: .skippedReplay)
        expect([.promise, .replay, .event], of: .skippedReplay, watchingJournal: false)
    }

    @Test func `a fence that is given again is found`() {
        expect([.record], of: .repeatedFence)
        expect([.fence, .exclusion], of: .repeatedFence, watchingJournal: false)
    }

    @Test func `an answer that is not yet committed is found`() {
        expect([.commit], of: .answerBeforeCommit)
        expect([.promise], of: .answerBeforeCommit, watchingJournal: false)
    }

    @Test func `an end that is not in the journal is found`() {
        expect([.replay, .promise, .life], of: .forgottenEnd)
        expect([.promise, .life, .replay, .record, .oracle, .reply], of: .forgottenEnd, watchingJournal: false)
    }

    // MARK: Requests and answers

    @Test func `a ticket that overtakes another is found`() {
        expect([.record], of: .overtakingQueue)
        expect(
            [.oracle, .hierarchy, .order, .life, .participants, .reply, .event], of: .overtakingQueue,
            watchingJournal: false)
    }

    @Test func `a transition that holds on after its end is found`() {
        expect([.record, .reply], of: .unappliedEnd)
        expect([.oracle, .hierarchy, .order, .reply], of: .unappliedEnd, watchingJournal: false)
    }

    @Test func `a token that is not looked at is found`() {
        expect([.record, .reply], of: .blindToken)
        expect([.oracle, .hierarchy, .order, .life, .reply], of: .blindToken, watchingJournal: false)
    }

    @Test func `a request that is not known again is found`() {
        expect([.record, .reply, .event], of: .lostKey)
        expect([.oracle, .order, .life, .event, .reply], of: .lostKey, watchingJournal: false)
    }

    @Test func `an await that is never told is found`() {
        expect([.wake], of: .lostWake)
    }

    @Test func `an await that is told twice is found`() {
        expect([.wake], of: .repeatedWake)
    }

    @Test func `an event with the number of another is found`() {
        expect([.event], of: .repeatedEvent)
    }

    // MARK: Time

    @Test func `a lease that is taken away early is found`() {
        expect([.decision, .session, .wake, .exclusion], of: .hastyExpiry)
        expect([.exclusion, .promise, .wake, .session], of: .hastyExpiry, watchingJournal: false)
    }

    @Test func `a deadline that nobody notices is found`() {
        expect([.wake, .decision, .session, .reply], of: .missedDeadline)
    }

    @Test func `a clock that runs on while the process is stopped is found`() {
        expect([.decision, .session, .wake, .promise, .reply], of: .countedPause)
        expect(
            [.promise, .exclusion, .wake, .session, .decision, .time, .reply], of: .countedPause,
            watchingJournal: false)
    }

    // MARK: Trees and operations

    @Test func `a queue that overlooks a waiting scope which has moved is found`() {
        expect([.oracle, .order], of: .overlookedMove)
    }

    @Test func `a queue that does not look at ancestors is found`() {
        expect([.oracle, .hierarchy, .order, .record, .reply], of: .ignoredAncestor)
        expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredAncestor, watchingJournal: false)
    }

    @Test func `a queue that does not wait for controllers which are coming is found`() {
        expect([.oracle, .order, .record, .reply], of: .ignoredArrival)
        expect(
            [.oracle, .hierarchy, .order, .life, .reply], of: .ignoredArrival, watchingJournal: false)
    }

    @Test func `a priority that overtakes what is granted is found`() {
        expect([.oracle, .order, .record, .reply, .life], of: .overtakenGrant)
        expect([.oracle, .hierarchy, .order, .life, .reply], of: .overtakenGrant, watchingJournal: false)
    }

    @Test func `priorities that do not count are found`() {
        expect([.oracle, .order, .event, .record, .reply, .life], of: .ignoredPriority)
        expect([.oracle, .hierarchy, .order, .event, .life, .reply], of: .ignoredPriority, watchingJournal: false)
    }

    @Test func `an interruption for one who could not run is found`() {
        expect([.oracle, .order, .event, .decision, .record, .reply, .life, .hierarchy], of: .uselessInterruption)
        expect([.oracle, .order, .event, .reply, .life, .hierarchy], of: .uselessInterruption, watchingJournal: false)
    }

    @Test func `a ticket that blocks while it is set aside is found`() {
        expect([.oracle, .order, .event, .record, .reply, .decision], of: .blockingAside)
        expect([.oracle, .order, .event, .hierarchy, .life, .reply], of: .blockingAside, watchingJournal: false)
    }

    @Test func `a list of operations that is applied in part is found`() {
        expect([.oracle, .event, .record, .reply, .hierarchy], of: .partialList)
        expect([.oracle, .event, .reply, .hierarchy, .life], of: .partialList, watchingJournal: false)
    }

    @Test func `a column that is lost when it is popped is found`() {
        expect([.oracle, .event, .record, .reply, .hierarchy], of: .lostColumn)
        expect([.oracle, .event, .reply, .hierarchy, .life], of: .lostColumn, watchingJournal: false)
    }

    @Test func `a guard that is not asked about what is above is found`() {
        expect([.oracle, .event, .participants, .record, .reply], of: .overlookedGuard)
        expect([.oracle, .event, .participants, .reply, .life], of: .overlookedGuard, watchingJournal: false)
    }

    @Test func `a shared one beside an exclusive one is found`() {
        expect([.oracle, .order, .event, .record, .reply, .decision, .life], of: .sharedWithAll)
        expect([.oracle, .order, .event, .reply, .life, .hierarchy], of: .sharedWithAll, watchingJournal: false)
    }

    @Test func `a name that is kept beside the one that was chosen is found`() {
        expect([.oracle, .order, .event, .record, .reply, .decision, .life], of: .keptName)
        expect([.oracle, .order, .event, .reply, .life, .hierarchy], of: .keptName, watchingJournal: false)
    }

    @Test func `a row of silent tickets that ends one by one is found`() {
        expect([.decision], of: .forgottenRow)
    }

    @Test func `an operation that is done although it was cancelled is found`() {
        expect([.record, .reply], of: .appliedCancellation)
        expect([.hierarchy, .oracle, .reply, .life], of: .appliedCancellation, watchingJournal: false)
    }

    @Test func `an operation that is done twice is found`() {
        expect([.record], of: .repeatedOperation)
        expect([.oracle, .life, .order, .event], of: .repeatedOperation, watchingJournal: false)
    }

    // MARK: Sessions and participants

    @Test func `a transition that outlives its session is found`() {
        expect([.record, .event], of: .orphanedTransition)
        expect([.life, .oracle, .event], of: .orphanedTransition, watchingJournal: false)
    }

    @Test func `a session that lives on without a word is found`() {
        expect([.session], of: .immortalSession)
    }

    @Test func `a participant that nobody waits for is found`() {
        expect([.record], of: .ignoredParticipant)
        expect([.participants, .oracle, .life], of: .ignoredParticipant, watchingJournal: false)
    }

    @Test func `a ticket that takes the place of one that runs is found`() {
        expect([.record], of: .greedyCoalescing)
        expect([.order, .oracle, .hierarchy], of: .greedyCoalescing, watchingJournal: false)
    }

    private func expect(
        _ rules: Set<Rule>, of fault: Fault, watchingJournal: Bool = true,
        at location: SourceLocation = #_sourceLocation
    ) {
        var configuration = SimulationSettings()
        configuration.fault = fault
        if fault == .repeatedFence { configuration.machineDeathRarity = 1 }
        configuration.watchesJournal = watchingJournal
        expectFound(fault.rawValue, by: rules, at: location) { seed throws(Violation) in
            var simulation = Simulation(seed: seed, configuration: configuration)
            try simulation.run(steps: Self.patience)
        }
    }
}
