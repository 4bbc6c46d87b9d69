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
            QUIT, TERM, USR1 and USR2 are passed on to it and to what it has started; with --only-child, to it alone. If the \
            lock is lost, they get SIGTERM, and SIGKILL at the latest ten seconds later or when the lease is over; if it is \
            interrupted, SIGTERM at once, and SIGKILL when its grace is over. While the \
            daemon cannot be reached, they get SIGTERM when a tenth of the lease is left, at most ten seconds; with \
            --max-hold, also when a tenth of that is left. If arbiterctl is killed, the command alone gets SIGTERM, and the \
            lock is free two seconds later.

            The transition is completed if the command succeeds, and cancelled otherwise.

            The command never runs without the lock. If the operation would change nothing, there is nothing to lock: the \
            command is not run, which is said on standard error, and the exit code is 0.

            Exit codes: that of the command, or 128 and the number of the signal that ended it; 123 if the lock was lost or \
            the daemon could not be told of the end, 124 if the turn did not come in time (timeout(1) says the same), 125 \
            if the daemon cannot be reached or refuses, or the ticket ended before its turn, 126 if the command cannot be \
            executed, 127 if there is none. --lost-code, --timeout-code and, for --wait 0, --busy-code set others than 123 \
            and 124.

                arbiterctl run --scene device-7 --wait 60 -- ./run-ui-tests
            """
    )

    /// How long a command that lost the lock may take to end.
    private static let graceOfCommand = Duration.seconds(10)
    /// After how long somebody is told that the daemon does not answer.
    private static let silence = Duration.seconds(1)

    @OptionGroup var connection: Connection

    @OptionGroup var request: RequestOptions

    @OptionGroup var waiting: WaitOption

    @OptionGroup var interrupting: InterruptOption

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many seconds the lock is kept while the daemon hears nothing; 10 unless given, up to 300.",
            valueName: "seconds"))
    var lease: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many seconds the command may hold the lock; for ever unless given.", valueName: "seconds"))
    var maxHold: Double?

    @Option(parsing: .unconditional, help: ArgumentHelp("The exit code if the lock was lost.", valueName: "code"))
    var lostCode = Exit.lost

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The exit code if the turn did not come in time.", valueName: "code"))
    var timeoutCode = Exit.timedOut

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The exit code of --wait 0 if another transition is in the way.", valueName: "code"))
    var busyCode = Exit.timedOut

    @Flag(help: "Pass signals on to the command alone, not to what it has started.")
    var onlyChild = false

    @Flag(help: "Say nothing while waiting.")
    var quiet = false

    @Argument(parsing: .postTerminator, help: "The command and its arguments, behind --.")
    var command: [String] = []

    private var scene: String { request.scene }

    private var wait: Double? { waiting.wait }

    func validate() throws {
        guard !command.isEmpty else { throw ValidationError("give a command behind --") }
        guard lease.map({ $0 > 0 && $0 <= 300 }) ?? true else {
            throw ValidationError("--lease must be more than 0 and at most 300 seconds")
        }
        guard wait != 0 || !interrupting.interrupt else {
            throw ValidationError("--interrupt takes a turn, and --wait 0 does not: give --wait a second")
        }
        guard maxHold.map({ $0 > 0 && $0 <= 86_400 }) ?? true else {
            throw ValidationError("--max-hold must be more than 0 and at most 86400 seconds")
        }
        for (option, code) in [("lost", lostCode), ("timeout", timeoutCode), ("busy", busyCode)]
        where !(0...255 ~= code) {
            throw ValidationError("--\(option)-code must be 0 to 255")
        }
    }

    /// What is asked of the scene, and for how long.
    private func makeOptions() throws -> TransitionOptions {
        var options = try request.made()
        options.interrupts = interrupting.interrupt
        options.lease = lease.map { .seconds($0) }
        options.further["maxHoldSeconds"] = maxHold.map { .number($0) }
        return options
    }

    func run() async throws {
        let arbiter = try connection.makeArbiter(named: command.first.map { "\($0) (\(getpid()))" })
        let child = ChildCommand(isAlone: onlyChild)
        let options = try makeOptions()
        // First, because who is told of the ticket may end this process at once.
        let signals = try Signals()
        let turn = Task { try await takeTurn(options, of: arbiter) }
        let interrupted = Mutex<Int32?>(nil)
        let phase = Mutex(Phase.waiting)
        signals.pass { signal, isKnown in
            switch phase.withLock({ $0 }) {
            case .waiting:
                interrupted.withLock { $0 = $0 ?? signal }
                turn.cancel()
            case .running: child.signal(signal, isKnown: isKnown)
            case .ending(let end): end.cancel()
            }
        }
        let transition: HeldTransition
        do {
            guard let held = try await turn.value else {
                if !quiet { Exit.tell("another transition is in the way in \(scene)") }
                throw ExitCode(busyCode)
            }
            transition = held
            phase.withLock { $0 = .running }
            // One that came in the moment of the grant was for the wait.
            if interrupted.withLock({ $0 }) != nil {
                _ = try? await held.cancel()
                throw CancellationError()
            }
        } catch is CancellationError {
            throw ExitCode(128 + (interrupted.withLock { $0 } ?? SIGTERM))
        } catch ClientError.timedOut {
            Exit.tell("the turn in \(scene) did not come within \((wait ?? 0).inTenths) s")
            throw ExitCode(timeoutCode)
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
        let end = Task { await tellingOfSilence { await finish(transition, code) } }
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

    /// Whether somebody is told what is waited for.
    private var isHeard: Bool { !quiet && isatty(STDERR_FILENO) != 0 }

    private func takeTurn(_ options: TransitionOptions, of arbiter: Arbiter) async throws -> HeldTransition? {
        let scene = arbiter.scene(scene)
        if wait == 0 { return try await tellingOfSilence { try await scene.start(options) } }
        let isHeard = isHeard
        let begun = ContinuousClock.now
        let silence = tellOfSilence()
        defer { silence?.cancel() }
        return try await scene.serialize(options, timeout: wait.map { .seconds($0) }) { ticket in
            silence?.cancel()
            guard isHeard else { return }
            let position = ticket["position"]?.number.map { "position \(Int($0))" } ?? "preparing"
            let blockers = ticket["blockers"]?.array?.compactMap(\.string) ?? []
            let seconds = Int((ContinuousClock.now - begun).inSeconds)
            if let left = ticket["resumeRemaining"]?.number {
                return Exit.tell(
                    "waiting in \(scene.name) for \(seconds) s: the daemon may have forgotten who holds locks, and grants nothing "
                        + "for \(Int(left) + 1) s")
            }
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
    /// - Returns: the exit code; `nil` if the command had to end, because the lock was lost.
    private func run(_ child: ChildCommand, holding transition: HeldTransition) async -> Int32? {
        var environment = ProcessInfo.processInfo.environment
        environment["ARBITER_SCENE"] = scene
        environment["ARBITER_TRANSITION"] = transition.id
        environment["ARBITER_FENCE"] = transition.fence.map { "\($0)" }
        let watch = Task { await endWhenLost(child, holding: transition) }
        let code: Int32
        do {
            code = try await child.run(command, environment: environment)
        } catch {
            let reason = (error as? ChildCommand.NotStarted)?.reason ?? 0
            Exit.tell("\(command[0]): \(unsafe String(cString: strerror(reason)))")
            code = reason == ENOENT ? Exit.notFound : Exit.notExecutable
        }
        watch.cancel()
        return await watch.value ? nil : code
    }

    /// Ends the command once the lock is lost, or will be unless the daemon answers at the last moment.
    ///
    /// - Returns: whether the command had to end; not if the task is cancelled before.
    private func endWhenLost(_ child: ChildCommand, holding transition: HeldTransition) async -> Bool {
        await untilCommandMustEnd(transition)
        guard !Task.isCancelled || transition.isLost else { return false }
        // While it is only interrupted, its lease is kept.
        let grace = transition.isLost ? nil : transition.interruption?["graceRemaining"]?.number
        let left =
            grace.map { .seconds($0) } ?? max(.zero, min(transition.heldUntil - .now, Self.graceOfCommand))
        // In a task of its own, because this one may be cancelled; and first, because nobody may read what is told.
        let end = Task { await child.end(within: left) }
        if let loss = transition.ending {
            Exit.tell("the lock is lost: \(loss.words ?? "it has ended")")
        } else if let interruption = transition.interruption {
            let name = interruption["client"]?.string ?? interruption["by"]?.string
            Exit.tell("the lock will be lost: \(name ?? "another transition") interrupts it")
        } else {
            Exit.tell("the lock will be lost: \(transition.isUnanswered ? "the daemon cannot be reached" : "hold")")
        }
        await end.value
        return true
    }

    /// Returns when the lock is lost or interrupted, or no more is left than the command may take to end: of the longest hold, or of the lease
    /// if the daemon has not answered.
    private func untilCommandMustEnd(_ transition: HeldTransition) async {
        let lease = transition.document["leaseSeconds"]?.number.map { Duration.seconds($0) } ?? WireTimes.lease
        let hold = maxHold.map { Duration.seconds($0) }
        let holdEnd = hold.map { ContinuousClock.now + $0 }
        let grace = min(min(lease, hold ?? lease) / 10, Self.graceOfCommand)
        while !transition.isLost, transition.interruption == nil, !Task.isCancelled {
            let left = transition.heldUntil - .now
            // If nothing is left, this process has slept, and the daemon is asked once more.
            if transition.isUnanswered, left > .zero, left <= grace { return }
            let holdLeft = holdEnd.map { $0 - .now } ?? left
            if holdEnd != nil, holdLeft <= grace { return }
            await withTaskGroup { group in
                group.addTask { await transition.untilInterrupted() }
                group.addTask { try? await Task.sleep(for: max(grace / 4, min(left, holdLeft) - grace)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Ends the transition.
    ///
    /// - Returns: the exit code.
    private func finish(_ transition: HeldTransition, _ code: Int32?) async -> Int32 {
        do {
            if code == 0 { try await transition.complete() } else { try await transition.cancel() }
            return code ?? lostCode
        } catch {
            if !transition.isLost { Exit.tell("\(error)") }
            return lostCode
        }
    }

    /// Tells, on a terminal, that nothing was answered for a second while something is asked.
    private func tellingOfSilence<Result>(_ ask: () async throws -> Result) async rethrows -> Result {
        let silence = tellOfSilence()
        defer { silence?.cancel() }
        return try await ask()
    }

    /// Tells so in a second, unless it is cancelled.
    private func tellOfSilence() -> Task<Void, Never>? {
        guard isHeard else { return nil }
        let text = "no answer from \(connection.address) yet; asking for \(connection.patience.inTenths) s"
        return Task {
            guard (try? await Task.sleep(for: Self.silence)) != nil else { return }
            Exit.tell(text)
        }
    }
}
