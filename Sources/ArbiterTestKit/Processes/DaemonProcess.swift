internal import Foundation
internal import Glibc

/// A real `arbiterd`, started on a free port and ready; killed on `deinit`.
package final class DaemonProcess {
    package let process: ChildProcess
    package let port: UInt16
    /// The directory of its journal.
    package let directory: TemporaryDirectory

    /// Starts the daemon and waits for the line that says it is ready.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the command line, besides `--listen`.
    ///   - environment: variables to add.
    ///   - listen: the value of the first `--listen`, over TCP; `nil` to omit it.
    ///   - listening: a socket that it gets as from a service manager, instead of `listen`.
    ///   - directory: the directory of its journal; a new one by default.
    /// - Throws: `ChildProcessError` if it does not become ready.
    package init(
        _ arguments: [String] = [], environment: [String: String] = [:], listen: String? = "127.0.0.1:0",
        listening: Int32? = nil, in directory: TemporaryDirectory? = nil
    ) throws {
        self.directory = try directory ?? TemporaryDirectory()
        let addresses = listening == nil ? listen.map { ["--listen", $0] } ?? [] : []
        process = try ChildProcess(
            "arbiterd", addresses + ["--data", self.directory.path] + arguments, environment: environment,
            listening: listening)
        let line = try process.readLine()
        guard line.contains(" ready on "),
            let urls = line.split(separator: ";").first,
            let port = urls.split(separator: ",").first?.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw ChildProcessError.notStarted("not a ready line: \(line)") }
        self.port = port
    }

    /// The same, with a thread of its own that waits: those of the tests' tasks are few.
    package static func started(_ arguments: [String] = []) async throws -> DaemonProcess {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try DaemonProcess(arguments) }) }
        }
    }

    package var identifier: Int32 { process.identifier }

    /// A new connection.
    ///
    /// - Throws: `WireError.notConnected`.
    package func connect() throws(WireError) -> WireClient {
        try WireClient(port: port)
    }

    package func signal(_ signal: Int32) {
        process.signal(signal)
    }

    /// Waits until the daemon has ended.
    ///
    /// - Throws: `ChildProcessError.timedOut` if it has not ended in time.
    @discardableResult
    package func waitForExit(within limit: Duration = ChildProcess.patience) throws(ChildProcessError) -> Termination {
        try process.waitForExit(within: limit)
    }

    /// Its log so far.
    package var log: String { process.standardError }

    /// Waits until its log says this, which may arrive later than an answer.
    package func logs(_ text: String) -> Bool { eventually { log.contains(text) } }
}
