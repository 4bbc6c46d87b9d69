import ArbiterSimulation
import Testing

/// Thousands of tickets with keys and scopes in one scene.
struct CrowdSimulationTests {
    @Test func `no crowd breaks a rule, and together they leave nothing out`() throws {
        var total = CrowdStatistics()
        for seed in UInt64(1)...4 {
            var simulation = CrowdSimulation(seed: seed)
            try simulation.run(steps: 3_000)
            total.add(simulation.statistics)
        }
        for figure in CrowdStatistics.Figure.allCases {
            #expect(total[figure] > 0, "\(figure.rawValue)")
        }
    }
}
