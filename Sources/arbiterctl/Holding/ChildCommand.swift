internal import CLinux
internal import Foundation
internal import Synchronization

/// A command that runs while the lock is held, and what it has started.
final class ChildCommand: Sendable {
    /// The time between two looks at what is left.
    private static let pause = Duration.milliseconds(20)
    /// How long what was killed may take to be gone.
    private static let patience = Duration.seconds(1)

    /// Whether signals are for the command alone, and not for what it has started.
    private let isAlone: Bool
    /// What was there before the command: the shell that became this process may have started it.
    private let strangers = ProcessTree.started(by: nil)
    private let state = Mutex(State.waiting(early: nil))

    private enum State {
        /// It has not begun; a signal may have come already.
        case waiting(early: Int32?)
        case running(pid_t)
        case over
    }

    /// Why a command was not started.
    struct NotStarted: Error {
        let reason: Int32
    }

    init(isAlone: Bool) { self.isAlone = isAlone }

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

    /// Sends a signal to the command, and to what it has started.
    ///
    /// - Parameters:
    ///   - signal: the number of the signal.
    ///   - isKnown: whether the whole process group has got it; then it is for those that have another one.
    func signal(_ signal: Int32, isKnown: Bool = false) {
        state.withLock { state in
            if case .waiting = state { state = .waiting(early: signal) }
            for process in processes(state) where !isKnown || getpgid(process) != getpgrp() { kill(process, signal) }
        }
    }

    /// Ends the command, and what it has started: with SIGTERM, and what is left after the grace with SIGKILL.
    func end(within grace: Duration) async {
        signal(SIGTERM)
        let deadline = ContinuousClock.now + grace
        var isKilled = false
        while state.withLock({ !processes($0).isEmpty }), !isKilled || .now < deadline + Self.patience {
            if .now >= deadline {
                signal(SIGKILL)
                isKilled = true
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// The processes that a signal is for.
    private func processes(_ state: State) -> Set<pid_t> {
        switch state {
        case .waiting: []
        case .running(let command): isAlone ? [command] : ProcessTree.started(by: command, since: strangers)
        case .over: isAlone ? [] : ProcessTree.started(by: nil, since: strangers)
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
            if case .waiting(let early?) = state { kill(process, early) }
            state = .running(process)
        }
        let code = arbiter_wait_for(process)
        // The number may be another process's from now on.
        state.withLock { $0 = .over }
        return code
    }
}

/// What a command has started, as /proc shows it.
private enum ProcessTree {
    /// The command, and the processes that it has started, also after those that started them have ended.
    ///
    /// They are in its session or in that of this process: what has made itself a daemon is left alone.
    ///
    /// - Parameters:
    ///   - command: the command; `nil` if it has ended.
    ///   - strangers: the processes that were there before.
    /// - Returns: the processes, in any order.
    static func started(by command: pid_t?, since strangers: Set<pid_t> = []) -> Set<pid_t> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        var children: [pid_t: [pid_t]] = [:]
        var sessions: [pid_t: pid_t] = [:]
        for process in names.compactMap({ pid_t($0) }) {
            var relation = arbiter_relation()
            guard unsafe arbiter_relation_of(process, &relation) == 0, relation.has_ended == 0 else { continue }
            children[relation.parent, default: []].append(process)
            sessions[process] = relation.session
        }
        let known = [getsid(0), command.flatMap { sessions[$0] }]
        var found = Set(command.map { [$0] } ?? [])
        var waiting = [getpid()]
        while let parent = waiting.popLast() {
            for child in children[parent] ?? [] where !strangers.contains(child) {
                waiting.append(child)
                if known.contains(sessions[child]) { found.insert(child) }
            }
        }
        return found
    }
}
