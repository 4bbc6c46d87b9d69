internal import ArbiterClient
internal import ArgumentParser
internal import Foundation
internal import Synchronization

/// `arbiterctl run`: runs a command while the lock is held.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Waits for its turn, and runs a command while it holds the lock.",
        discussion: """
            The command has ARBITER_SCENE, ARBITER_TRANSITION and ARBITER_FENCE in its environment. The signals HUP, INT, \
            QUIT, TERM, USR1 and USR2 are passed on to it, not to what it starts. If the lock is lost, the command gets \
            SIGTERM, and SIGKILL ten seconds later. If arbiterctl is killed, the command gets SIGTERM, and the lock is free \
            two seconds later.

            The transition is completed if the command succeeds, and cancelled otherwise.

            The command never runs without the lock. If the operation would change nothing, there is nothing to lock: the \
            command is not run, which is said on standard error, and the exit code is 0.

            Exit codes: that of the command, or 128 and the number of the signal that ended it; 123 if the lock was lost or \
            the daemon could not be told of the end, 124 if the turn did not come in time (timeout(1) says the same), 125 \
            if the daemon cannot be reached or refuses, or the ticket ended before its turn, 126 if the command cannot be \
            executed, 127 if there is none.

                arbiterctl run --scene device-7 --wait 60 -- ./run-ui-tests
            """
    )

    /// How long a command that lost the lock may take to end.
    private static let graceOfCommand = Duration.seconds(10)

    @OptionGroup var connection: Connection

    @OptionGroup var request: RequestOptions

    @OptionGroup var waiting: WaitOption

    @Flag(help: "Say nothing while waiting.")
    var quiet = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments, behind --.")
    var command: [String] = []

    private var scene: String { request.scene }

    private var wait: Double? { waiting.wait }

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("give a command behind --") }
    }

    func run() async throws {
        let arbiter = try connection.makeArbiter(named: command.first.map { "\($0) (\(getpid()))" })
        let child = ChildCommand()
        let options = try request.made()
        let turn = Task { try await takeTurn(options, of: arbiter) }
        let interrupted = Mutex<Int32?>(nil)
        let phase = Mutex(Phase.waiting)
        let signals = Signals { signal, isKnown in
            switch phase.withLock({ $0 }) {
            case .waiting:
                interrupted.withLock { $0 = $0 ?? signal }
                turn.cancel()
            case .running: if !isKnown { child.signal(signal) }
            case .ending(let end): end.cancel()
            }
        }
        let transition: HeldTransition
        do {
            guard let held = try await turn.value else {
                if !quiet { Exit.tell("another transition is in the way in \(scene)") }
                throw ExitCode(Exit.timedOut)
            }
            transition = held
            phase.withLock { $0 = .running }
        } catch is CancellationError {
            throw ExitCode(128 + (interrupted.withLock { $0 } ?? SIGTERM))
        } catch ClientError.timedOut {
            Exit.tell("the turn in \(scene) did not come within \((wait ?? 0).inTenths) s")
            throw ExitCode(Exit.timedOut)
        } catch let error as ClientError {
            Exit.tell("\(error)")
            throw ExitCode(Exit.failed)
        }
        guard !transition.isNoop else {
            await arbiter.close()
            withExtendedLifetime(signals) {}
            return Exit.tell("the operation changes nothing in \(scene): there is no lock, and the command is not run")
        }
        let code = await run(child, holding: transition)
        let end = Task { await finish(transition, code) }
        phase.withLock { $0 = .ending(end) }
        let result = await end.value
        await arbiter.close()
        withExtendedLifetime(signals) {}
        throw ExitCode(result)
    }

    /// What is done now, and so what a signal is for.
    private enum Phase {
        case waiting
        case running
        /// The command is over; a signal ends the attempts to tell the daemon so.
        case ending(Task<Int32, Never>)
    }

    private func takeTurn(_ options: TransitionOptions, of arbiter: Arbiter) async throws -> HeldTransition? {
        let scene = arbiter.scene(scene)
        if wait == 0 { return try await scene.start(options) }
        let isHeard = !quiet && isatty(STDERR_FILENO) != 0
        let begun = ContinuousClock.now
        return try await scene.serialize(options, timeout: wait.map { .seconds($0) }) { ticket in
            guard isHeard else { return }
            let position = ticket["position"]?.number.map { "position \(Int($0))" } ?? "preparing"
            let blockers = ticket["blockers"]?.array?.compactMap(\.string) ?? []
            let seconds = Int((ContinuousClock.now - begun).inSeconds)
            Task {
                let names = await names(blockers, arbiter)
                Exit.tell("waiting in \(scene.name) for \(seconds) s, \(position), behind \(names)")
            }
        }
    }

    /// The clients of transitions, with their ids.
    private func names(_ ids: [String], _ arbiter: Arbiter) async -> String {
        var names: [String] = []
        for id in ids {
            let transition = try? await arbiter.sendOnce(WireRequest("GET", "/transitions/\(id)")).document
            names.append((transition?["client"]?.string).map { "\($0) (\(id))" } ?? id)
        }
        return names.isEmpty ? "participants" : names.joined(separator: ", ")
    }

    /// Runs the command.
    ///
    /// - Returns: the exit code.
    private func run(_ child: ChildCommand, holding transition: HeldTransition) async -> Int32 {
        var environment = ProcessInfo.processInfo.environment
        environment["ARBITER_SCENE"] = scene
        environment["ARBITER_TRANSITION"] = transition.id
        environment["ARBITER_FENCE"] = transition.fence.map { "\($0)" }
        let watch = Task {
            await transition.untilLost()
            guard transition.isLost else { return }
            Exit.tell("the lock is lost: \(transition.ending?.words ?? "it has ended")")
            child.signal(SIGTERM)
            try? await Task.sleep(for: Self.graceOfCommand)
            if !Task.isCancelled { child.signal(SIGKILL) }
        }
        let code: Int32
        do {
            code = try await child.run(command, environment: environment)
        } catch {
            let reason = (error as? ChildCommand.NotStarted)?.reason ?? 0
            Exit.tell("\(command[0]): \(unsafe String(cString: strerror(reason)))")
            code = reason == ENOENT ? Exit.notFound : Exit.notExecutable
        }
        watch.cancel()
        return code
    }

    /// Ends the transition.
    ///
    /// - Returns: the exit code.
    private func finish(_ transition: HeldTransition, _ code: Int32) async -> Int32 {
        do {
            if code == 0 { try await transition.complete() } else { try await transition.cancel() }
            return code
        } catch {
            if !transition.isLost { Exit.tell("\(error)") }
            return Exit.lost
        }
    }
}
