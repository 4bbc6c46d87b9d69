internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// How long the daemon keeps a transition whose owner says nothing, and what else is asked of it.
struct LeaseOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many seconds the transition is kept without a word; up to 300.", valueName: "seconds"))
    var lease = 30.0

    @Option(help: ArgumentHelp("Further members of the request, as a JSON object.", valueName: "json"))
    var further: String?

    func validate() throws { _ = try members() }

    /// The members of the request besides what is asked of the scene.
    func members() throws -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let further {
            guard let given = try? JSONDecoder().decode([String: JSONValue].self, from: Data(further.utf8)) else {
                throw ValidationError("--further must be a JSON object")
            }
            guard given["scene"] == nil else { throw ValidationError("name the scene with --scene, not in --further") }
            members = given
        }
        guard lease > 0, lease <= 300 else {
            throw ValidationError("--lease must be more than 0 and at most 300 seconds")
        }
        return members.merging(["leaseSeconds": .number(lease)]) { given, _ in given }
    }
}

/// What `start` and `serialize` have in common.
protocol RequestCommand: ClientCommand {
    var request: RequestOptions { get }
    var lease: LeaseOption { get }
    var json: JSONOutput { get }
}

extension RequestCommand {
    /// Asks for a transition.
    func ask(_ arbiter: Arbiter, _ call: String) async throws -> WireAnswer {
        var options = try request.made()
        options.further = try lease.members()
        var members = options.members
        members["scene"] = .string(request.scene)
        if let client = connection.client { members["client"] = .string(client) }
        let key = UUID().uuidString
        return try await arbiter.ask(
            WireRequest("POST", "/transitions/\(call)", .object(members), headers: ["Idempotency-Key": key]))
    }

    /// Writes the transition that was granted: its id and its token.
    func writeGranted(_ transition: JSONValue) {
        if json.isWanted { return Terminal.output.line(transition.text()) }
        let words = ["id", "token"].compactMap { transition[$0]?.string }
        Terminal.output.line(words.joined(separator: " "))
    }
}

/// `arbiterctl start`.
struct StartCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Begins a transition at once, or drops it if another one is in the way.",
        discussion: """
            Writes the id and the token of the transition. It is yours until its lease is over; renew starts the lease \
            again, and end ends the transition. Exit code 124 says that another transition is in the way.

                read -r id ARBITER_TRANSITION_TOKEN < <(arbiterctl start --lease 60)
                export ARBITER_TRANSITION_TOKEN
                arbiterctl end "$id"
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var request: RequestOptions
    @OptionGroup var lease: LeaseOption
    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        let answer = try await ask(arbiter, "start")
        if answer.status == 409, answer.document["code"]?.string == "busy" {
            Exit.tell(answer.document["detail"]?.string ?? "another transition is in the way")
            throw ExitCode(Exit.timedOut)
        }
        writeGranted(try answer.accepted())
    }
}

/// `arbiterctl serialize`.
struct SerializeCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "serialize",
        abstract: "Waits for its turn, strictly first come, first served.",
        discussion: """
            Writes the id and the token of the transition when it runs; see start. Exit code 124 says that the turn did \
            not come in time, 123 that the transition ended before it ran, for example because it was impossible at its \
            turn, or that the daemon no longer knows it.
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var request: RequestOptions
    @OptionGroup var lease: LeaseOption
    @OptionGroup var waiting: WaitOption
    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        let deadline = waiting.deadline
        let ticket = try await ask(arbiter, "serialize").accepted()
        let owned = OwnedTransition(ticket)
        let reached: JSONValue?
        do {
            reached = try await owned.wait(arbiter, ticket, until: .running, deadline: deadline)
        } catch {
            await owned.giveUp(arbiter)
            throw error
        }
        guard var transition = reached?.object else {
            await owned.giveUp(arbiter)
            throw ClientError.timedOut
        }
        transition["token"] = ticket["token"]
        if transition["state"]?.string == "ended", transition["noop"]?.bool != true {
            throw ClientError.ended(EndedTransition(.object(transition)))
        }
        writeGranted(.object(transition))
    }
}
