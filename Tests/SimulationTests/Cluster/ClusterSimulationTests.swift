import ArbiterClusterSimulation
import Testing

/// Whole histories of a cluster, always the same.
///
/// `make nightly` runs others, and `make simulate CLUSTER=1 SEED=` one again.
struct ClusterSimulationTests {
    @Test func `no history of a cluster breaks a promise, and together they leave nothing out`() throws {
        var total = ClusterStatistics()
        for seed in UInt64(1)...8 {
            var simulation = ClusterSimulation(seed: seed)
            try simulation.run(steps: 20_000)
            total.add(simulation.statistics)
        }
        for figure in ClusterStatistics.Figure.allCases {
            #expect(total[figure] > 0, "\(figure.rawValue)")
        }
    }

    @Test func `the same seed is the same history of a cluster`() throws {
        var first = ClusterSimulation(seed: 7)
        var second = ClusterSimulation(seed: 7)
        var other = ClusterSimulation(seed: 8)
        for _ in 0..<10_000 {
            try first.step()
            try second.step()
            try #require(first.digest == second.digest)
        }
        try other.run(steps: 10_000)
        #expect(first.digest != other.digest)
    }
}
