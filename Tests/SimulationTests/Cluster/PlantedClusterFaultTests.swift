import ArbiterClusterSimulation
import Testing

/// Each mistake that a cluster could make has to be found, by a rule that is there for it; tests of commits alone would pass
/// them all.
struct PlantedClusterFaultTests {
    /// How many steps of a seed a fault may go unnoticed.
    private static let patience = 20_000

    // Only a commit that arrives when its node owns the shard again shows this one, so it takes longest.
    @Test func `a guard that compares the value of the owner's key is found`() {
        expect(
            [.tenure, .service, .lease, .replay, .store], of: .guardByValue)
    }

    @Test func `a commit that is taken for refused because it is not in etcd is found`() {
        expect(
            [.tenure, .replay, .service, .store, .durability], of: .absenceForFailure)
    }

    @Test func `an answer that nothing has proved is found`() {
        expect(
            [.exclusion, .lease, .durability, .fence, .session, .order], of: .unprovenAnswers)
    }

    @Test func `a clock that does not go back to the last record is found`() {
        expect([.lease, .session, .exclusion], of: .clampedClock)
    }

    @Test func `a guest that waits to be told of the end of its session is found`() {
        expect([.guest], of: .guestsWaitToBeTold)
    }

    @Test func `a session that has only its grace after the loss of a relay is found`() {
        expect([.session], of: .graceAfterLoss)
    }

    @Test func `records that are deleted before the snapshot is there are found`() {
        expect([.store], of: .trimBeforeManifest)
    }

    @Test func `a call that is held for ever is found`() {
        expect([.relay], of: .holdsForEver)
    }

    @Test func `a call that is sent again after its connection has broken is found`() {
        expect([.once], of: .sendsAgainAfterBreak)
    }

    @Test func `a home that is taken for one that knows no session is found`() {
        expect([.session], of: .takesRefusalForNoSession)
    }

    @Test func `an owner that is asked again at once is found`() {
        expect([.relay], of: .asksAgainAtOnce)
    }

    private func expect(
        _ rules: Set<ClusterRule>, of fault: ClusterFault, at location: SourceLocation = #_sourceLocation
    ) {
        expectFound(fault.rawValue, by: rules, at: location) { seed throws(ClusterViolation) in
            var simulation = ClusterSimulation(seed: seed, settings: ClusterSimulationSettings(with: fault))
            try simulation.run(steps: Self.patience)
        }
    }
}
