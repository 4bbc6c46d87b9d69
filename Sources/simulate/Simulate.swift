internal import ArbiterClusterSimulation
internal import ArbiterSimulation
internal import Glibc

/// `simulate [--cluster [--fault name] [--trace] | --disk [--fault name] | --crowd] [--seed n] [--seeds n] [--steps n]`: so many steps
/// of so many consecutive seeds, of one engine, of several nodes on a simulated etcd, of a journal on a simulated disk, or of a scene
/// with thousands of tickets.
@main
struct Simulate {
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            print(
                """
                usage: simulate [--cluster [--fault name] [--trace] | --disk [--fault name] | --crowd]
                                [--seed n] [--seeds n] [--steps n]
                """)
            exit(2)
        }
        print("seeds \(options.seed) and on, \(options.seeds) of them, \(options.steps) steps each")
        var figures: [(number: Int, name: String)] = []
        let duration = ContinuousClock().measure {
            figures =
                switch options.subject {
                case .engine: run(options)
                case .cluster(let fault): runCluster(options, fault)
                case .disk(let fault): runDisk(options, fault)
                case .crowd: runCrowd(options)
                }
        }
        for figure in figures { print(padded("\(figure.number)"), figure.name) }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        print(padded("\(Int(Double(figures.first?.number ?? 0) / seconds))"), "steps a second")
    }

    private static func run(_ options: Options) -> [(number: Int, name: String)] {
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
        return total.lines
    }

    private static func runCluster(_ options: Options, _ fault: ClusterFault) -> [(number: Int, name: String)] {
        var total = ClusterStatistics()
        for seed in options.seed..<(options.seed + options.seeds) {
            var settings: ClusterSimulationSettings = fault == .none ? .drawn(by: seed) : .init(with: fault)
            settings.isTraced = options.isTraced
            var simulation = ClusterSimulation(seed: seed, settings: settings)
            do throws(ClusterViolation) {
                try simulation.run(steps: options.steps)
            } catch {
                print(error)
                let again = fault == .none ? "" : " FAULT=\(fault.rawValue)"
                print("again: make simulate CLUSTER=1\(again) SEED=\(seed) STEPS=\(error.step)")
                exit(1)
            }
            total.add(simulation.statistics)
        }
        return ClusterStatistics.Figure.allCases.map { (total[$0], $0.rawValue) }
    }

    private static func runDisk(_ options: Options, _ fault: DiskFault) -> [(number: Int, name: String)] {
        var total = DiskStatistics()
        for seed in options.seed..<(options.seed + options.seeds) {
            var simulation = DiskSimulation(seed: seed, fault: fault)
            do throws(DiskViolation) {
                try simulation.run(steps: options.steps)
            } catch {
                print(error)
                let again = fault == .none ? "" : " FAULT=\(fault.rawValue)"
                print("again: make simulate DISK=1\(again) SEED=\(seed) STEPS=\(error.step)")
                exit(1)
            }
            total.add(simulation.statistics)
        }
        return DiskStatistics.Figure.allCases.map { (total[$0], $0.rawValue) }
    }

    private static func runCrowd(_ options: Options) -> [(number: Int, name: String)] {
        var total = CrowdStatistics()
        for seed in options.seed..<(options.seed + options.seeds) {
            var simulation = CrowdSimulation(seed: seed)
            do throws(CrowdSimulation.Surprise) {
                try simulation.run(steps: options.steps)
            } catch {
                print(error)
                print("again: make simulate CROWD=1 SEED=\(seed) STEPS=\(error.step)")
                exit(1)
            }
            total.add(simulation.statistics)
        }
        return CrowdStatistics.Figure.allCases.map { (total[$0], $0.rawValue) }
    }

    private static func padded(_ text: String) -> String {
        String(repeating: " ", count: max(0, 10 - text.count)) + text
    }
}

/// What was asked for on the command line.
private struct Options {
    /// What is simulated, with a mistake in it.
    enum Subject {
        case engine
        case cluster(ClusterFault)
        case disk(DiskFault)
        case crowd
    }

    var seed = UInt64(UInt32.random(in: .min ... .max))
    var seeds: UInt64 = 1
    var steps = 100_000
    var subject = Subject.engine
    var isTraced = false

    init?(_ arguments: some Sequence<String>) {
        var words = arguments.makeIterator()
        while let name = words.next() {
            switch name {
            case "--cluster": subject = .cluster(.none)
            case "--disk": subject = .disk(.none)
            case "--crowd": subject = .crowd
            case "--trace": isTraced = true
            case "--fault":
                guard let fault = words.next(), plant(fault) else { return nil }
            case "--seed", "--seeds", "--steps":
                guard let number = words.next().flatMap(UInt64.init) else { return nil }
                switch name {
                case "--seed": seed = number
                case "--seeds": seeds = number
                default: steps = Int(clamping: number)
                }
            default: return nil
            }
        }
        // Consecutive seeds are to exist.
        guard seed.addingReportingOverflow(seeds).overflow == false else { return nil }
    }

    /// - Returns: false if what is simulated has no mistake of this name.
    private mutating func plant(_ name: String) -> Bool {
        switch subject {
        case .engine, .crowd: return false
        case .cluster:
            guard let fault = ClusterFault(rawValue: name) else { return false }
            subject = .cluster(fault)
        case .disk:
            guard let fault = DiskFault(rawValue: name) else { return false }
            subject = .disk(fault)
        }
        return true
    }
}
