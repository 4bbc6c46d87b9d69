internal import CLinux
internal import Foundation
internal import Synchronization

/// A command that runs while the lock is held.
final class ChildCommand: Sendable {
    private let state = Mutex(State())

    private struct State {
        var process: pid_t?
        /// A signal that came before there was a process.
        var early: Int32?
    }

    /// Why a command was not started.
    struct NotStarted: Error {
        let reason: Int32
    }

    /// Runs the command until it ends.
    ///
    /// - Returns: its exit code, or 128 and the number of the signal that ended it.
    /// - Throws: `NotStarted`.
    func run(_ arguments: [String], environment: [String: String]) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            // A thread that lives as long as the command, which gets SIGTERM when the thread ends, as it does when this
            // process is killed.
            Thread.detachNewThread { [self] in
                continuation.resume(with: Result { try runHere(arguments, environment) })
            }
        }
    }

    /// Sends a signal to the command.
    func signal(_ signal: Int32) {
        state.withLock { state in
            if let process = state.process { kill(process, signal) } else { state.early = signal }
        }
    }

    private func runHere(_ arguments: [String], _ environment: [String: String]) throws -> Int32 {
        var texts = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            for index in unsafe texts.indices { unsafe free(texts[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var reason: Int32 = 0
        let process = unsafe arbiter_start_command(&texts, &variables, &reason)
        guard process > 0 else { throw NotStarted(reason: reason) }
        state.withLock { state in
            state.process = process
            if let early = state.early { kill(process, early) }
        }
        let code = arbiter_wait_for(process)
        // The number may be another process's from now on.
        state.withLock { $0.process = nil }
        return code
    }
}
