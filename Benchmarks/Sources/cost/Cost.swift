internal import ArbiterCore

/// Measures the core's decisions, by the length of the queue and the size of the tree.
///
/// Usage: `cost REPETITIONS`. Prints a JSON object a line, with every duration in nanoseconds. Fails if a decision is
/// another than the one that is measured. `cost turns [NAME]` prints the longest turn of each kind, or of
/// one, instead (`LongestTurns`).
@main
struct Cost {
    private static let waiting = [10, 100, 1_000, 10_000, 100_000]
    /// The largest tree leaves room for a controller that each of its stacks brings in, within `Limits.controllers`.
    private static let controllers = [10, 100, 1_000, 6_000]

    static func main() throws {
        if CommandLine.arguments.dropFirst().first == "turns" {
            let words = CommandLine.arguments.dropFirst(2).joined(separator: " ")
            for (name, measure) in LongestTurns.kinds where words.isEmpty || name.contains(words) {
                print("{\"turn\":\"\(name)\",\"nanoseconds\":\(measure().wholeNanoseconds)}")
            }
            return
        }
        guard CommandLine.arguments.count == 2, let repetitions = Int(CommandLine.arguments[1]) else {
            fatalError("usage: cost REPETITIONS")
        }
        for count in waiting {
            for kind in Pool.Kind.allCases {
                var pool = Pool(waiting: count, kind)
                report(
                    "wait for \(kind.rawValue), and give up", count, Pool.names,
                    durations(repetitions) { pool.giveUp() })
                report(
                    "end, grant, wait anew, \(kind.rawValue)", count, Pool.names,
                    durations(repetitions) { pool.handOver() })
            }
            for size in controllers {
                var bench = try Bench(waiting: count, controllers: size)
                report("refuse a start", count, size, durations(repetitions) { bench.refuse() })
                report("wait and give up", count, size, durations(repetitions) { bench.giveUp() })
                report("end, grant, wait anew", count, size, durations(repetitions) { bench.handOver() })
                var keyed = try Bench(waiting: count, controllers: size, isKeyed: true)
                report("wait with a key, and give up", count, size, durations(repetitions) { keyed.giveUp() })
            }
        }
    }

    private static func durations(_ repetitions: Int, _ body: () -> Void) -> [Int64] {
        let clock = ContinuousClock()
        return (0..<repetitions).map { _ in clock.measure(body).wholeNanoseconds }
    }

    private static func report(_ decision: String, _ waiting: Int, _ controllers: Int, _ nanoseconds: [Int64]) {
        let values = nanoseconds.map(String.init).joined(separator: ",")
        print(
            "{\"decision\":\"\(decision)\",\"waiting\":\(waiting),\"controllers\":\(controllers),"
                + "\"nanoseconds\":[\(values)]}")
    }
}

/// A scene of tabs with a stack in each tab; every stack is locked by a transition and has tickets waiting for it.
private struct Bench {
    private var machine: ArbiterStateMachine
    private var stacks: [ControllerID] = []
    private var holders: [TransitionID] = []
    private var lines: [[TransitionID]] = []
    /// The index of the first waiting ticket in each line.
    private var heads: [Int] = []
    private var next = 0
    private var lastID: UInt64 = 0
    /// Whether the tickets of each line have two coalescing keys in turns, so that each is separated from the one before.
    private let isKeyed: Bool

    init(waiting: Int, controllers: Int, isKeyed: Bool = false) throws {
        self.isKeyed = isKeyed
        var limits = Limits()
        limits.queuedPerScene = 2 * waiting + 1
        limits.unfinished = 2 * (waiting + controllers)
        machine = ArbiterStateMachine(limits: limits)
        stacks = (0..<(controllers - 1) / 2).compactMap { ControllerID("stack-\($0)") }
        lines = stacks.map { _ in [] }
        heads = stacks.map { _ in 0 }
        let roots = stacks.indices.compactMap { ControllerID("root-\($0)") }
        guard let tabs = ControllerID("tabs") else { fatalError("tabs is no id") }
        let tree = try Hierarchy(
            root: tabs,
            controllers: [Controller(id: tabs, content: .tabs(stacks, selected: 0))]
                + zip(stacks, roots).map { Controller(id: $0, content: .navigation([$1])) }
                + roots.map { Controller(id: $0) })
        apply(.declare(.main, try Storyboard(hierarchy: tree)))
        for index in stacks.indices { holders.append(ask(for: index)) }
        for ticket in 0..<waiting { lines[ticket % stacks.count].append(ask(for: ticket % stacks.count)) }
    }

    /// A start that is refused as busy.
    mutating func refuse() {
        lastID += 1
        let id = TransitionID(rawValue: lastID)
        let record = Record.start(request(for: turn()), id: id, token: token(of: id))
        guard case .failure = outcome(of: record).answer else { fatalError("\(record) was not refused") }
    }

    /// A ticket at the end of the queue that is cancelled again.
    mutating func giveUp() {
        let id = ask(for: turn())
        apply(.end(id, token: token(of: id), .cancelled))
    }

    /// The end of a holder, the grant of the next, and a new ticket at the end of the queue.
    mutating func handOver() {
        let index = turn()
        let ended = holders[index]
        apply(.end(ended, token: token(of: ended), .cancelled))
        let ticket = ask(for: index)
        lines[index].append(ticket)
        holders[index] = lines[index][heads[index]]
        heads[index] += 1
    }

    private mutating func turn() -> Int {
        next = (next + 1) % stacks.count
        return next
    }

    private mutating func ask(for index: Int) -> TransitionID {
        lastID += 1
        let id = TransitionID(rawValue: lastID)
        apply(.serialize(request(for: index), id: id, token: token(of: id)))
        return id
    }

    private func request(for index: Int) -> TransitionRequest {
        guard let view = ControllerID("new-\(lastID)"),
            let node = try? Hierarchy(root: view, controllers: [Controller(id: view)])
        else { fatalError("new-\(lastID) is no id") }
        let key = isKeyed ? CoalescingKey("\(index) \(lines[index].count % 2)") : nil
        return TransitionRequest(
            scope: .operation, operation: .push(navigation: stacks[index], controller: node),
            coalescing: key.map { Coalescing(key: $0, keep: .latest) })
    }

    private func token(of id: TransitionID) -> Token { Token(high: id.rawValue, low: id.rawValue) }

    private mutating func apply(_ record: Record) {
        if case .failure(let error) = outcome(of: record).answer { fatalError("\(record): \(error)") }
    }

    private mutating func outcome(of record: Record) -> Outcome<Void> {
        machine.apply(record, at: Moment(instant: Instant(nanoseconds: 0), timestamp: Timestamp(milliseconds: 0)))
    }
}
