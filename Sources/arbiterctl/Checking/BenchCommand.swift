internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// `arbiterctl bench`.
struct BenchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Loads the daemon with transitions, and shows how long turns and ends took.",
        discussion: """
            Each client asks for its turn, holds the lock for --hold seconds, and ends its transition, again and again. The \
            clients are spread over the scenes bench-0, bench-1 …, so that with fewer scenes than clients they wait for \
            one another. It needs the role transition, and a daemon whose users do not mind. If a client fails, the others \
            end what they have begun, and what was measured until then is shown.
            """
    )

    @OptionGroup var connection: Connection

    @Option(parsing: .unconditional, help: ArgumentHelp("How many clients, 1 to 1000.", valueName: "count"))
    var clients = 8

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Over how many scenes they are spread, 1 to 1000.", valueName: "count"))
    var scenes = 8

    @Option(parsing: .unconditional, help: ArgumentHelp("How long, up to 3600.", valueName: "seconds"))
    var seconds = 5.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long each holds the lock, up to 270.", valueName: "seconds"))
    var hold = 0.0

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard 1...1000 ~= clients, 1...1000 ~= scenes else {
            throw ValidationError("--clients and --scenes must be 1 to 1000")
        }
        guard seconds > 0, seconds <= 3600 else {
            throw ValidationError("--seconds must be more than 0 and at most 3600")
        }
        // A lease lasts for 300 seconds at most.
        guard 0...270 ~= hold else { throw ValidationError("--hold must be 0 to 270 seconds") }
    }

    func run(_ arbiter: Arbiter) async throws {
        // A daemon that is not there is told of before the progress bar begins.
        _ = try await arbiter.ask(WireRequest("GET", "/readyz")).accepted()
        let begun = ContinuousClock.now
        let load = BenchLoad(arbiter, until: begun + .seconds(seconds), hold: .seconds(hold))
        let bar = Task { await showProgress(from: begun) }
        await load.run(clients: clients, scenes: scenes)
        bar.cancel()
        await bar.value
        let taken = (ContinuousClock.now - begun).inSeconds
        // What was measured until a client failed is of use, too.
        if load.failure == nil || load.turns.count > 0 { show(load.turns, load.ends, taken) }
        if let failure = load.failure { throw failure }
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
        output.lines(table.lines(on: output))
        output.line("")
        output.line(output.styled("turns by milliseconds", .dim))
        output.lines(turns.bars(width: max(10, min(50, output.size.columns - 30))))
    }
}
