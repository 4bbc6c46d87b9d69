import ArbiterSimulation
import Testing

/// Whole histories, always the same.
///
/// `make nightly` runs others, and `make simulate SEED=` one again.
struct SimulationTests {
    @Test func `no history breaks a rule, and together they leave nothing out`() throws {
        var total = Statistics()
        for seed in UInt64(1)...48 {
            var simulation = Simulation(seed: seed)
            try simulation.run(steps: 2_000)
            total.add(simulation.statistics)
            if seed >= 8, total.lines.allSatisfy({ $0.number > 0 }) { break }
        }
        for line in total.lines { #expect(line.number > 0, "\(line.name)") }
    }

    @Test func `the same seed is the same history`() throws {
        var first = Simulation(seed: 7)
        var second = Simulation(seed: 7)
        var other = Simulation(seed: 8)
        for _ in 0..<1_500 {
            try first.step()
            try second.step()
            try other.step()
            try #require(first.digest == second.digest)
        }
        #expect(first.digest != other.digest)
    }

    @Test func `a jump of the wall clock changes nothing but timestamps`() throws {
        var jumping = Simulation(seed: 9)
        var configuration = SimulationSettings()
        configuration.jumpsWallClock = false
        var steady = Simulation(seed: 9, configuration: configuration)
        try jumping.run(steps: 2_000)
        try steady.run(steps: 2_000)
        #expect(jumping.statistics[.wallClockJumps] > 0)
        #expect(jumping.digest == steady.digest)
    }
}
