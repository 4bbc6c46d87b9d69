internal import ArbiterClient
internal import ArgumentParser
internal import Foundation
internal import Synchronization

/// `arbiterctl bench`.
struct BenchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Loads the daemon with transitions, and shows how long turns and ends took.",
        discussion: """
            Each client asks for its turn, holds the lock for --hold seconds, and ends its transition, again and again. The \
            clients are spread over the scenes bench-0, bench-1 …, so that with fewer scenes than clients they wait for \
            one another. It needs the role transition, and a daemon whose users do not mind.
            """
    )

    @OptionGroup var connection: Connection

    @Option(help: ArgumentHelp("How many clients, 1 to 1000.", valueName: "count"))
    var clients = 8

    @Option(help: ArgumentHelp("Over how many scenes they are spread, 1 to 1000.", valueName: "count"))
    var scenes = 8

    @Option(help: ArgumentHelp("How long, up to 3600.", valueName: "seconds"))
    var seconds = 5.0

    @Option(help: ArgumentHelp("How long each holds the lock.", valueName: "seconds"))
    var hold = 0.0

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard 1...1000 ~= clients, 1...1000 ~= scenes else {
            throw ValidationError("--clients and --scenes must be 1 to 1000")
        }
        guard seconds > 0, seconds <= 3600, hold >= 0, hold <= 3600 else {
            throw ValidationError("--seconds must be more than 0 and --hold at least 0, and both at most 3600")
        }
    }

    func run(_ arbiter: Arbiter) async throws {
        // A daemon that is not there is told of before the progress bar begins.
        _ = try await arbiter.ask(WireRequest("GET", "/readyz")).accepted()
        let (turns, ends) = (LatencyHistogram(), LatencyHistogram())
        let begun = ContinuousClock.now
        let deadline = begun + .seconds(seconds)
        let bar = Task { await showProgress(from: begun) }
        defer { bar.cancel() }
        try await withThrowingTaskGroup { group in
            for number in 0..<clients {
                group.addTask {
                    let scene = "bench-\(number % scenes)"
                    while ContinuousClock.now < deadline {
                        try await oneTransition(arbiter, scene, deadline, turns, ends)
                    }
                }
            }
            try await group.waitForAll()
        }
        bar.cancel()
        await bar.value
        show(turns, ends, (ContinuousClock.now - begun).inSeconds)
    }

    /// Takes one turn and ends it; a turn that has not come when the time is over is given up.
    private func oneTransition(
        _ arbiter: Arbiter, _ scene: String, _ deadline: ContinuousClock.Instant, _ turns: LatencyHistogram,
        _ ends: LatencyHistogram
    ) async throws {
        let asked = ContinuousClock.now
        let body: JSONValue = ["scene": .string(scene), "wait": .number(max(0, (deadline - asked).inSeconds))]
        let request = WireRequest(
            "POST", "/transitions/serialize", body, headers: ["Idempotency-Key": UUID().uuidString],
            timeout: deadline - asked + WireTimes.margin)
        let ticket = try await arbiter.ask(request).accepted()
        let owned = OwnedTransition(ticket)
        guard ticket["state"]?.string == "running" else { return await owned.giveUp(arbiter) }
        turns.add(.now - asked)
        if hold > 0 { try await Task.sleep(for: .seconds(hold)) }
        let ending = ContinuousClock.now
        _ = try await owned.ask(arbiter, "end")
        ends.add(.now - ending)
    }

    private func showProgress(from begun: ContinuousClock.Instant) async {
        let terminal = Terminal.error
        guard terminal.isTerminal else { return }
        while !Task.isCancelled {
            let share = min(1, (ContinuousClock.now - begun).inSeconds / seconds)
            let width = max(10, min(50, terminal.size.columns - 20))
            let done = Int(share * Double(width))
            let bar = String(repeating: "█", count: done) + String(repeating: "░", count: width - done)
            terminal.write("\r\(bar) \(Int(share * 100)) %\u{1B}[K")
            try? await Task.sleep(for: .milliseconds(100))
        }
        terminal.write("\r\u{1B}[K")
    }

    private func show(_ turns: LatencyHistogram, _ ends: LatencyHistogram, _ taken: Double) {
        let rate = Double(ends.count) / taken
        guard !json.isWanted else {
            let document: JSONValue = [
                "transitions": .number(Double(ends.count)), "seconds": .number(taken), "perSecond": .number(rate),
                "turn": turns.document, "end": ends.document,
            ]
            return Terminal.output.line(document.text())
        }
        let output = Terminal.output
        output.line(
            "\(ends.count) transitions in \(taken.inTenths) s, \(rate.inTenths) a second, by \(clients) clients in "
                + "\(scenes) scenes")
        var table = TextTable("MILLISECONDS", "MEDIAN", "90 %", "99 %", "LONGEST")
        for (name, histogram) in [("turn", turns), ("end", ends)] {
            let figures = [0.5, 0.9, 0.99, 1].map { histogram.quantile($0).inMilliseconds }
            table.add(name, figures[0], figures[1], figures[2], figures[3])
        }
        for line in table.lines(on: output) { output.line(line) }
        output.line("")
        output.line(output.styled("turns by milliseconds", .dim))
        for line in turns.bars(width: max(10, min(50, output.size.columns - 30))) { output.line(line) }
    }
}

/// Durations, counted in buckets that grow by the fourth root of two.
final class LatencyHistogram: Sendable {
    private static let bucketsPerDoubling = 4.0
    /// The end of the first bucket, in seconds.
    private static let first = 0.000_01
    private let state = Mutex(State())

    private struct State {
        var counts: [Int: Int] = [:]
        var count = 0
        var longest = Duration.zero
    }

    var count: Int { state.withLock { $0.count } }

    func add(_ duration: Duration) {
        let doublings = log2(max(duration.inSeconds, Self.first) / Self.first)
        state.withLock { state in
            state.counts[Int((doublings * Self.bucketsPerDoubling).rounded(.up)), default: 0] += 1
            state.count += 1
            state.longest = max(state.longest, duration)
        }
    }

    /// The duration that this share of all does not exceed, at most a fifth too long; zero if there are none.
    func quantile(_ share: Double) -> Duration {
        state.withLock { state in
            var left = Int((share * Double(state.count)).rounded(.up))
            for (bucket, count) in state.counts.sorted(by: { $0.key < $1.key }) {
                left -= count
                if left <= 0 { return min(Self.end(of: bucket), state.longest) }
            }
            return state.longest
        }
    }

    private static func end(of bucket: Int) -> Duration {
        .seconds(first * exp2(Double(bucket) / bucketsPerDoubling))
    }

    /// Counts and quantiles in seconds.
    var document: JSONValue {
        [
            "count": .number(Double(count)), "median": .number(quantile(0.5).inSeconds),
            "p90": .number(quantile(0.9).inSeconds), "p99": .number(quantile(0.99).inSeconds),
            "longest": .number(quantile(1).inSeconds),
        ]
    }

    /// A bar for each doubling of time.
    func bars(width: Int) -> [String] {
        let doublings = state.withLock { state in
            Dictionary(
                state.counts.map { (Int((Double($0.key) / Self.bucketsPerDoubling).rounded(.up)), $0.value) },
                uniquingKeysWith: +)
        }
        guard let first = doublings.keys.min(), let last = doublings.keys.max(), let most = doublings.values.max()
        else { return [] }
        return (first...last).map { doubling in
            let count = doublings[doubling] ?? 0
            let end = Self.end(of: doubling * Int(Self.bucketsPerDoubling)).inMilliseconds
            let bar = String(repeating: "█", count: (count * width + most - 1) / most)
            return "≤ \(end.padded(to: 8)) \(bar) \(count)"
        }
    }
}

extension Duration {
    /// With three significant digits.
    fileprivate var inMilliseconds: String {
        let milliseconds = inSeconds * 1000
        guard milliseconds > 0 else { return "0" }
        let scale = pow(10, (2 - log10(milliseconds).rounded(.down)))
        let rounded = (milliseconds * scale).rounded() / scale
        return rounded >= 100 ? "\(Int(rounded))" : "\(rounded)"
    }
}
