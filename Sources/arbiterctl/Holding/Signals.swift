internal import Dispatch
internal import Foundation

/// The signals of this process, which are passed on instead of ending it.
final class Signals {
    /// Those that a terminal sends to the command too.
    private static let ofTerminal = [SIGINT, SIGQUIT]
    private static let all = [SIGHUP, SIGTERM, SIGUSR1, SIGUSR2] + ofTerminal

    private let sources: [any DispatchSourceSignal]

    /// - Parameter take: called with each signal, and whether the command has got it from the terminal.
    init(_ take: @escaping @Sendable (Int32, Bool) -> Void) {
        let hasTerminal = isatty(STDIN_FILENO) != 0
        sources = Self.all.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { take(number, hasTerminal && Self.ofTerminal.contains(number)) }
            source.resume()
            return source
        }
    }
}
