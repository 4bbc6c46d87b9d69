internal import ArbiterSimulation
internal import Glibc

/// `simulate [--seed n] [--seeds n] [--steps n]`: so many steps of so many consecutive seeds.
@main
struct Simulate {
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            print("usage: simulate [--seed n] [--seeds n] [--steps n]")
            exit(2)
        }
        var total = Statistics()
        let duration = ContinuousClock().measure { total = run(options) }
        for figure in Statistics.Figure.allCases {
            print(padded("\(total[figure])"), figure.rawValue)
        }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        print(padded("\(Int(Double(total[.steps]) / seconds))"), "steps a second")
    }

    private static func run(_ options: Options) -> Statistics {
        print("seeds \(options.seed) and on, \(options.seeds) of them, \(options.steps) steps each")
        var total = Statistics()
        for seed in options.seed..<(options.seed + options.seeds) {
            var simulation = Simulation(seed: seed)
            do throws(Violation) {
                try simulation.run(steps: options.steps)
            } catch {
                print(error)
                print("again: make simulate SEED=\(seed) STEPS=\(error.step)")
                exit(1)
            }
            total.add(simulation.statistics)
        }
        return total
    }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text
    }
}

/// What was asked for on the command line.
private struct Options {
    var seed = UInt64(UInt32.random(in: .min ... .max))
    var seeds: UInt64 = 1
    var steps = 100_000

    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let name = words.next() {
            guard let number = words.next().flatMap(UInt64.init) else { return nil }
            switch name {
            case "--seed": seed = number
            case "--seeds": seeds = number
            case "--steps": steps = Int(clamping: number)
            default: return nil
            }
        }
        // Consecutive seeds are to exist.
        guard seed.addingReportingOverflow(seeds).overflow == false else { return nil }
    }
}
