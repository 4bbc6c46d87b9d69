internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl await`.
struct AwaitCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "await",
        abstract: "Waits for a transition, for a condition on a controller, or until a scene is idle.",
        discussion: """
            With its token, the wait keeps the transition alive, as its owner's. With --idle it waits until nothing runs or \
            waits in the scene, or with --controller at, above or below that controller; a scene that nobody has used or declared is \
            idle. With --controller alone it waits until that controller, \
            which need not exist, is as --is says, or no longer as --is-not says. Exit code 124 says that the time is over, \
            123 that the transition ended before it ran, with --until interrupted that it ended without being interrupted, or that \
            the daemon no longer knows it.

            Where there is access control, a token needs the role transition, and everything else the role observe.

                arbiterctl await t-6z3mgtb74kf77 --until ended --wait 60
                arbiterctl await --idle --scene device-7 --quiet-seconds 0.5
                arbiterctl await --idle --scene wall --controller page
                arbiterctl await --controller nav --is-not presenting --wait 60
            """
    )

    @OptionGroup var connection: Connection

    @Argument(help: "The id of the transition.")
    var id: String?

    @Argument(help: "Its token, if it is one's own.")
    var token: String?

    @Option(help: "granted, running, interrupted or ended; ended unless given.")
    var until: Milestone?

    @Flag(help: "Wait until the scene is idle.")
    var idle = false

    @Option(
        help: ArgumentHelp("Wait for a condition on this controller; with --idle, until it is idle.", valueName: "id"))
    var controller: String?

    @Option(
        name: .customLong("is"),
        help: ArgumentHelp(
            "exists, absent, visible, presented, presenting, top or selected; with --controller.",
            valueName: "condition"))
    var condition: String?

    @Option(help: ArgumentHelp("The same conditions; wait until this one does not hold.", valueName: "condition"))
    var isNot: String?

    @Option(help: "The scene, with --idle or --controller; main unless given.")
    var scene: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the scene must have been idle, up to 120; with --idle.", valueName: "seconds"))
    var quietSeconds: Double?

    @OptionGroup var waiting: WaitOption
    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard [idle, id != nil, controller != nil && !idle].count(where: \.self) == 1 else {
            throw ValidationError("give either the id of a transition, --idle or --controller")
        }
        let awaitsCondition = controller != nil && !idle
        guard awaitsCondition == (condition != nil || isNot != nil), condition == nil || isNot == nil else {
            throw ValidationError("--controller goes with either --is or --is-not, and these only with it")
        }
        guard idle || quietSeconds == nil else { throw ValidationError("--quiet-seconds goes with --idle") }
        if let id {
            try OwnedArguments.check(id)
            guard scene == nil else {
                throw ValidationError("--scene goes with --idle or --controller, not with the id of a transition")
            }
        } else {
            guard until == nil else {
                throw ValidationError("--until goes with the id of a transition")
            }
            guard 0...120 ~= quietSeconds ?? 0 else { throw ValidationError("--quiet-seconds must be 0 to 120") }
        }
    }

    func run(_ arbiter: Arbiter) async throws {
        if let controller, !idle { return try await wait(for: controller, of: arbiter.scene(scene ?? "main")) }
        guard let id else { return try await waitUntilIdle(arbiter.scene(scene ?? "main")) }
        let milestone = until ?? .ended
        let owned = OwnedTransition(id: id, token: token)
        guard let reached = try await owned.wait(arbiter, until: milestone, deadline: waiting.deadline) else {
            throw timeIsOver
        }
        json.write(reached)
        let hasEnded = reached["state"]?.string == "ended" && reached["noop"]?.bool != true
        switch milestone {
        case .granted, .running:
            if hasEnded, reached["outcome"]?.string != "completed" { throw ExitCode(Exit.lost) }
        case .interrupted: if hasEnded, reached["interruptedBy"] == nil { throw ExitCode(Exit.lost) }
        case .ended: break
        }
    }

    private var timeIsOver: Failure { Failure(code: Exit.timedOut, text: "the time is over") }

    private func wait(for controller: String, of scene: ArbiterScene) async throws {
        let deadline = waiting.deadline
        let asked = condition.map { "is=\($0.inPath)" } ?? "not=\((isNot ?? "").inPath)"
        while true {
            let wait = deadline.nextWait()
            let target = scene.path("/controllers/\(controller.inPath)/await?\(asked)&wait=\(wait.inSeconds)")
            let answer = try await scene.arbiter.ask(WireRequest("GET", target, wait: wait)).accepted()
            if answer["holds"]?.bool == true {
                let words = condition.map { "is \($0)" } ?? "is not \(isNot ?? "")"
                return Terminal.output.line(json.isWanted ? answer.text() : "\(controller.printable) \(words)")
            }
            guard !deadline.isOver else { throw timeIsOver }
        }
    }

    private func waitUntilIdle(_ scene: ArbiterScene) async throws {
        let deadline = waiting.deadline
        while true {
            // Of a part, the time of quiet begins with each request.
            let quiet = Duration.seconds(controller == nil ? 0 : quietSeconds ?? 0)
            let wait = deadline.nextWait(atMost: min(WireTimes.longestWait + quiet, WireTimes.mostWait))
            let part = controller.map { "&controller=\($0.inPath)" } ?? ""
            let query = "until=idle&quietSeconds=\(quietSeconds ?? 0)&wait=\(wait.inSeconds)\(part)"
            let request = WireRequest("GET", scene.path("/await?\(query)"), wait: wait)
            let answer = try await scene.arbiter.ask(request).accepted()
            if answer["idle"]?.bool == true {
                await hint(at: scene)
                return Terminal.output.line(
                    json.isWanted ? answer.text() : "\((controller ?? scene.name).printable) is idle")
            }
            guard !deadline.isOver else { throw timeIsOver(busy: answer) }
        }
    }

    /// Who keeps a scene from being idle, when the time is over.
    private func timeIsOver(busy answer: JSONValue) -> Failure {
        let busy = (answer["busy"]?.array ?? []).compactMap { each in
            each["id"]?.string.map { "\(each["client"]?.string ?? "somebody") (\($0))".printable }
        }
        guard !busy.isEmpty else { return timeIsOver }
        return Failure(code: Exit.timedOut, text: "the time is over; busy: \(busy.joined(separator: ", "))")
    }

    /// Points out that a scene is not known, in case that its name is wrong.
    ///
    /// That is no error, since a scene need not be declared before its first transition.
    private func hint(at scene: ArbiterScene) async {
        do {
            _ = try await scene.arbiter.sendOnce(WireRequest("GET", scene.path(), timeout: WireTimes.margin)).accepted()
        } catch ClientError.refused(let refusal) where refusal.code == "unknown-scene" {
            Exit.tell(refusal.detail)
        } catch {
            // The scene is idle, whatever else is the matter.
        }
    }
}
