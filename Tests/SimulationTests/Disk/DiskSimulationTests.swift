import ArbiterSimulation
import Testing

/// Whole histories of a journal on a simulated disk, always the same.
///
/// `make nightly` runs others, and `make simulate DISK=1 SEED=` one again.
struct DiskSimulationTests {
    @Test func `no history of a journal breaks a promise, and together they leave nothing out`() throws {
        var total = DiskStatistics()
        for seed in UInt64(1)...12 {
            var simulation = DiskSimulation(seed: seed)
            try simulation.run(steps: 80)
            total.add(simulation.statistics)
        }
        for figure in DiskStatistics.Figure.allCases {
            #expect(total[figure] > 0, "\(figure.rawValue)")
        }
    }

    @Test func `the same seed is the same history of a journal`() throws {
        var first = DiskSimulation(seed: 7)
        var second = DiskSimulation(seed: 7)
        var other = DiskSimulation(seed: 8)
        for _ in 0..<150 {
            try first.step()
            try second.step()
            try #require(first.history == second.history)
        }
        try other.run(steps: 150)
        #expect(first.history != other.history)
    }

    // MARK: Planted faults

    @Test func `a commit that is reported before it is written is found`() {
        expect([.durability, .content, .start, .ending], of: .answersBeforeTheWrite)
    }

    @Test func `a snapshot that replaces logs before its name is on the disk is found`() {
        expect([.durability, .start], of: .snapshotUsedBeforeItsDirectoryIsSynchronized)
    }

    @Test func `a log that is removed before the snapshot is there is found`() {
        expect([.durability, .start], of: .logDeletedTooEarly)
    }

    @Test func `a torn group that counts is found`() {
        expect([.content, .start, .ending], of: .tornGroupIsBelieved)
    }

    @Test func `a commit that does not wait for the disk is found`() {
        expect([.durability, .start], of: .syncIsSkipped)
    }

    @Test func `a log that goes on behind one which is not on the disk is found`() {
        expect([.durability, .start], of: .oldLogIsNotSynchronized)
    }

    private func expect(
        _ rules: Set<DiskRule>, of fault: DiskFault, at location: SourceLocation = #_sourceLocation
    ) {
        expectFound(fault.rawValue, by: rules, at: location) { seed throws(DiskViolation) in
            var simulation = DiskSimulation(seed: seed, fault: fault)
            try simulation.run(steps: 300)
        }
    }
}
