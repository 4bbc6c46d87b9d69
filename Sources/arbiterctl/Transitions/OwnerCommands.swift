internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl end`.
struct EndCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "Ends a transition of one's own.",
        discussion: "Exit code 123 says that it had ended before, without its owner."
    )

    /// How a transition ends.
    enum Outcome: String, ExpressibleByArgument, CaseIterable {
        case completed
        case cancelled
    }

    @OptionGroup var connection: Connection
    @OptionGroup var transition: OwnedArguments

    @Option(help: "completed, which applies its operation, or cancelled; as its gesture was decided, or completed.")
    var outcome: Outcome?

    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        let members: [String: JSONValue] = outcome.map { ["outcome": .string($0.rawValue)] } ?? [:]
        json.write(try await transition.owned.ask(arbiter, "end", members))
    }
}

/// `arbiterctl renew`.
struct RenewCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew", abstract: "Starts the lease of a transition of one's own again.",
        discussion: "Exit code 123 says that it has ended without its owner."
    )

    @OptionGroup var connection: Connection
    @OptionGroup var transition: OwnedArguments
    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        json.write(try await transition.owned.ask(arbiter, "renew"))
    }
}

/// `arbiterctl perform`.
struct PerformCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "perform", abstract: "Gives a running transition of one's own, which has none, its operation.",
        discussion: "Exit code 123 says that it has ended without its owner."
    )

    @OptionGroup var connection: Connection
    @OptionGroup var transition: OwnedArguments

    @Option(
        help: ArgumentHelp(
            "The operation, as JSON, or a list of them; it is applied when the transition is completed.",
            valueName: "json")
    )
    var operation: String

    @Option(help: ArgumentHelp("What must hold now, as JSON: a condition, or a list of them.", valueName: "json"))
    var expect: String?

    @OptionGroup var json: JSONOutput

    func validate() throws { _ = try members() }

    private func members() throws -> [String: JSONValue] {
        var members = try TransitionOperation(ofOption: operation).members
        if let expect { members["expect"] = try JSONValue(of: "--expect", expect) }
        return members
    }

    func run(_ arbiter: Arbiter) async throws {
        json.write(try await transition.owned.ask(arbiter, "perform", members()))
    }
}

/// `arbiterctl progress`.
struct ProgressCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Says where the finger is that drives a transition of one's own.")

    @OptionGroup var connection: Connection
    @OptionGroup var transition: OwnedArguments

    @Option(parsing: .unconditional, help: "How much of the transition is done, from 0 to 1.")
    var fraction: Double

    @Option(parsing: .unconditional, help: "Fractions per second; negative towards the beginning.")
    var velocity: Double?

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard 0...1 ~= fraction else { throw ValidationError("--fraction must be 0 to 1") }
        guard velocity?.isFinite ?? true else { throw ValidationError("--velocity must be a finite number") }
    }

    func run(_ arbiter: Arbiter) async throws {
        var members: [String: JSONValue] = ["fraction": .number(fraction)]
        members["velocity"] = velocity.map { .number($0) }
        json.write(try await transition.owned.ask(arbiter, "progress", members))
    }
}

/// `arbiterctl release`.
struct ReleaseCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Says that the finger has left, which decides the gesture.",
        discussion: """
            Writes the decision, and how many seconds the rest of the animation takes. The transition has to be ended after \
            that, without an outcome.
            """
    )

    /// What a gesture comes to.
    enum Decision: String, ExpressibleByArgument, CaseIterable {
        case finish
        case cancel
    }

    @OptionGroup var connection: Connection
    @OptionGroup var transition: OwnedArguments

    @Option(help: "finish or cancel; unless given, the policy of the transition decides.")
    var decision: Decision?

    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        let members: [String: JSONValue] = decision.map { ["decision": .string($0.rawValue)] } ?? [:]
        let released = try await transition.owned.ask(arbiter, "release", members)
        guard !json.isWanted else { return json.write(released) }
        let remaining = released["remaining"]?.number.map { ", \($0) s remain" } ?? ""
        Terminal.output.line("\(released["decision"]?.string ?? "-")\(remaining)")
    }
}

/// `arbiterctl revoke`.
struct RevokeCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Takes a transition from its owner, or a ticket out of the queue.",
        discussion: """
            Without an id, all unfinished transitions of a scene, or those of a client. Needs the role admin where there is access \
            control, unless they are one's own.
            """
    )

    @OptionGroup var connection: Connection

    @Argument(help: "The id of the transition.")
    var id: String?

    @Option(help: "The scene, instead of an id.")
    var scene: String?

    @Option(help: "With --scene: only those of this client.")
    var of: String?

    @Option(help: "Why; its owner is told.")
    var reason: String

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard (id == nil) != (scene == nil) else { throw ValidationError("give an id, or --scene") }
        guard of == nil || scene != nil else { throw ValidationError("--of goes with --scene") }
        guard scene == nil || connection.client == nil else {
            throw ValidationError("--client is the caller's own name; --of says whose transitions end")
        }
        if let id { try OwnedArguments.check(id) }
    }

    func run(_ arbiter: Arbiter) async throws {
        guard let id else {
            let revoked = try await arbiter.scene(scene ?? "main").revoke(client: of, reason: reason)
            if revoked.isEmpty { Exit.tell("there is nothing to revoke") }
            if json.isWanted {
                return Terminal.output.line(JSONValue.object(["revoked": .array(revoked.map { .string($0) })]).text())
            }
            return Terminal.output.lines(revoked)
        }
        let members: [String: JSONValue] = ["reason": .string(reason)]
        json.write(try await OwnedTransition(id: id, token: nil).ask(arbiter, "revoke", members))
    }
}
