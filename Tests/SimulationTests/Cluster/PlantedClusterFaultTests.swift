import ArbiterClusterSimulation
import Testing

/// Each mistake that a cluster could make has to be found, by a rule that is there for it; tests of commits alone would pass
/// them all.
struct PlantedClusterFaultTests {
    /// How many steps a fault may go unnoticed.
    private static let patience = 60_000

    // Only a commit that arrives when its node owns the shard again shows this one, so it takes longest; not every seed has one.
    @Test(arguments: [UInt64(1), 7, 13])
    func `a guard that compares the value of the owner's key is found`(seed: UInt64) throws {
        try expect(
            [.tenure, .service, .lease, .replay, .store], of: .guardByValue, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a commit that is taken for refused because it is not in etcd is found`(seed: UInt64) throws {
        try expect(
            [.tenure, .replay, .service, .store, .durability], of: .absenceForFailure, seed: seed)
    }

    @Test(arguments: [UInt64(1), 3, 4])
    func `an answer that nothing has proved is found`(seed: UInt64) throws {
        try expect(
            [.exclusion, .lease, .durability, .fence, .session, .order], of: .unprovenAnswers, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a clock that does not go back to the last record is found`(seed: UInt64) throws {
        try expect([.lease, .session, .exclusion], of: .clampedClock, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `a guest that waits to be told of the end of its session is found`(seed: UInt64) throws {
        try expect([.guest], of: .guestsWaitToBeTold, seed: seed)
    }

    @Test(arguments: [UInt64(1), 3, 4])
    func `a session that has only its grace after the loss of a relay is found`(seed: UInt64) throws {
        try expect([.session], of: .graceAfterLoss, seed: seed)
    }

    @Test(arguments: UInt64(1)...3)
    func `records that are deleted before the snapshot is there are found`(seed: UInt64) throws {
        try expect([.store], of: .trimBeforeManifest, seed: seed)
    }

    private func expect(
        _ rules: Set<ClusterRule>, of fault: ClusterFault, seed: UInt64,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        var simulation = ClusterSimulation(seed: seed, settings: ClusterSimulationSettings(with: fault))
        do throws(ClusterViolation) {
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
