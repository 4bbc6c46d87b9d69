internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl await`.
struct AwaitCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "await", abstract: "Waits for a transition, or until a scene is idle.",
        discussion: """
            With its token, the wait keeps the transition alive, as its owner's. With --idle it waits until nothing runs or \
            waits in the scene. Exit code 124 says that the time is over, 123 that the transition ended before it ran.

                arbiterctl await t-6z3mgtb74kf77 --until ended --wait 60
                arbiterctl await --idle --scene device-7 --quiet-seconds 0.5
            """
    )

    @OptionGroup var connection: Connection

    @Argument(help: "The id of the transition.")
    var id: String?

    @Argument(help: "Its token, if it is one's own.")
    var token: String?

    @Option(help: "granted, running or ended.")
    var until = Milestone.ended

    @Flag(help: "Wait until the scene is idle.")
    var idle = false

    @Option(help: "The scene, with --idle.")
    var scene = "main"

    @Option(help: ArgumentHelp("How long the scene must have been idle.", valueName: "seconds"))
    var quietSeconds = 0.0

    @OptionGroup var patience: WaitOption
    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard idle != (id != nil) else { throw ValidationError("give either the id of a transition or --idle") }
        if let id { try OwnedArguments.check(id) }
    }

    func run(_ arbiter: Arbiter) async throws {
        if idle { return try await waitUntilIdle(arbiter) }
        let owned = OwnedTransition(id: id ?? "", token: token)
        guard let reached = try await owned.wait(arbiter, until: until, deadline: patience.deadline) else {
            throw timeIsOver()
        }
        json.write(reached)
        let hasEnded = reached["state"]?.string == "ended" && reached["noop"]?.bool != true
        if until != .ended, hasEnded, reached["outcome"]?.string != "completed" { throw ExitCode(Exit.lost) }
    }

    private func timeIsOver() -> ExitCode {
        Exit.tell("the time is over")
        return ExitCode(Exit.timedOut)
    }

    private func waitUntilIdle(_ arbiter: Arbiter) async throws {
        let (deadline, path) = (patience.deadline, arbiter.scene(scene).path("/await"))
        while true {
            let left = deadline.map { $0 - ContinuousClock.now } ?? WireTimes.longestWait
            let wait = max(.zero, min(left, WireTimes.longestWait))
            let query = "until=idle&quietSeconds=\(quietSeconds)&wait=\(wait.inSeconds)"
            let request = WireRequest("GET", "\(path)?\(query)", timeout: wait + WireTimes.margin)
            let answer = try await arbiter.ask(request).accepted()
            if answer["idle"]?.bool == true {
                return Terminal.output.line(json.isWanted ? answer.text() : "\(scene) is idle")
            }
            guard left > .zero else { throw timeIsOver() }
        }
    }
}
