internal import ArbiterClient
internal import Foundation

/// A view that is drawn again, on a terminal, until it is interrupted.
struct LiveView {
    /// The most that a screen is drawn in a second.
    private static let interval = Duration.milliseconds(200)

    private let terminal = Terminal.output

    /// Draws now, after every event, and once a second, since times run.
    ///
    /// - Parameters:
    ///   - events: what makes it draw again.
    ///   - lines: what is shown; an error of the client is shown in its place.
    /// - Throws: `Failure` if this process may open no more files.
    func run(_ events: ArbiterEvents, _ lines: () async throws -> [String]) async throws(Failure) {
        let (ticks, tick) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let signals = try Signals()
        signals.pass { number, _ in
            guard [SIGINT, SIGTERM, SIGHUP].contains(number) else { return }
            tick.finish()
        }
        let following = Task {
            // A stream that is refused is told of by what is drawn.
            while !Task.isCancelled {
                do { for try await _ in events { tick.yield() } } catch {}
                try? await Task.sleep(for: .seconds(1))
            }
        }
        let clock = Task {
            while !Task.isCancelled {
                tick.yield()
                try? await Task.sleep(for: .seconds(1))
            }
        }
        // Another screen, without a cursor; the one before comes back.
        terminal.write("\u{1B}[?1049h\u{1B}[?25l")
        for await _ in ticks {
            let shown: [String]
            do {
                shown = try await lines()
            } catch {
                shown = [terminal.styled("\(error)".printable, .red)]
            }
            draw(shown)
            try? await Task.sleep(for: Self.interval)
        }
        terminal.write("\u{1B}[?25h\u{1B}[?1049l")
        following.cancel()
        clock.cancel()
        withExtendedLifetime(signals) {}
    }

    private func draw(_ lines: [String]) {
        let rows = terminal.size.rows
        let shown = lines.count < rows ? lines : lines.prefix(rows - 2) + ["… \(lines.count - rows + 2) more lines"]
        // Lines that are too long are cut off, not wrapped.
        terminal.write(
            "\u{1B}[?7l\u{1B}[H" + shown.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J\u{1B}[?7h")
    }
}
