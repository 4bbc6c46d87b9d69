import ArbiterSimulation
import Testing

/// A check that cannot fail is worth nothing: each fault has to be found, by the checker that is there for it.
struct PlantedFaultTests {
    /// How many steps a fault may go unnoticed.
    private static let patience = 20_000

    @Test(arguments: UInt64(1)...3)
    func `a ticket that overtakes another is found`(seed: UInt64) throws {
        try expect([.oracle, .order, .event], of: .overtakingQueue, seed: seed, comparingReplays: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a restart that leaves out commands is found`(seed: UInt64) throws {
        try expect([.replay], of: .skippedReplay, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `what clients saw is enough to find a restart that leaves out commands`(seed: UInt64) throws {
        try expect([.promise, .life], of: .skippedReplay, seed: seed, comparingReplays: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a fence that is given again is found`(seed: UInt64) throws {
        try expect([.fence, .exclusion], of: .repeatedFence, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an answer that is not yet committed is found`(seed: UInt64) throws {
        try expect([.promise], of: .answerBeforeCommit, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an end that is not in the journal is found`(seed: UInt64) throws {
        try expect([.replay, .event], of: .forgottenEnd, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `what clients saw is enough to find an end that is not in the journal`(seed: UInt64) throws {
        try expect([.promise, .replay, .life, .record, .event], of: .forgottenEnd, seed: seed, comparingReplays: false)
    }

    @Test(arguments: UInt64(1)...3)
    func `a transition that holds on after its end is found`(seed: UInt64) throws {
        try expect([.oracle, .life, .hierarchy, .order], of: .unappliedEnd, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a token that is not looked at is found`(seed: UInt64) throws {
        try expect([.reply], of: .blindToken, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a request that is not known again is found`(seed: UInt64) throws {
        try expect([.reply, .record], of: .lostKey, seed: seed)
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
    func `a lease that is taken away early is found`(seed: UInt64) throws {
        try expect([.exclusion, .promise], of: .hastyExpiry, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a deadline that nobody notices is found`(seed: UInt64) throws {
        try expect([.wake, .decision, .session], of: .missedDeadline, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a clock that runs on while the process is stopped is found`(seed: UInt64) throws {
        try expect([.promise, .decision], of: .countedPause, seed: seed)
    }

    // MARK: Trees and operations

    @Test(arguments: UInt64(1)...3)
    func `a queue that overlooks a waiting scope which has moved is found`(seed: UInt64) throws {
        try expect([.oracle, .order], of: .overlookedMove, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a queue that does not look at ancestors is found`(seed: UInt64) throws {
        try expect([.oracle, .order, .reply], of: .ignoredAncestor, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an operation that is done although it was cancelled is found`(seed: UInt64) throws {
        try expect([.hierarchy], of: .appliedCancellation, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an operation that is done twice is found`(seed: UInt64) throws {
        try expect([.hierarchy], of: .repeatedOperation, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `an event with the number of another is found`(seed: UInt64) throws {
        try expect([.event], of: .repeatedEvent, seed: seed)
    }

    // MARK: Sessions and participants

    @Test(arguments: UInt64(1)...3)
    func `a transition that outlives its session is found`(seed: UInt64) throws {
        try expect([.oracle, .order, .session], of: .orphanedTransition, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a session that lives on without a word is found`(seed: UInt64) throws {
        try expect([.session], of: .immortalSession, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a participant that nobody waits for is found`(seed: UInt64) throws {
        try expect([.oracle, .order], of: .ignoredParticipant, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a ticket that takes the place of one that runs is found`(seed: UInt64) throws {
        try expect([.reply, .oracle, .order, .hierarchy], of: .greedyCoalescing, seed: seed)
    }

    private func expect(
        _ rules: Set<Rule>, of fault: Fault, seed: UInt64, comparingReplays: Bool = true,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        var configuration = Configuration()
        configuration.fault = fault
        if fault == .repeatedFence { configuration.machineDeathRarity = 1 }
        configuration.comparesReplays = comparingReplays
        var simulation = Simulation(seed: seed, configuration: configuration)
        do throws(Violation) {
            try simulation.run(steps: Self.patience)
        } catch {
            print("\(fault.rawValue), seed \(seed): \(error.rule.rawValue) after \(error.step) steps")
            #expect(rules.contains(error.rule), "\(error)", sourceLocation: location)
            #expect(error.transcript.isEmpty == false, sourceLocation: location)
            return
        }
        Issue.record("\(fault.rawValue), seed \(seed): not found", sourceLocation: location)
    }
}
