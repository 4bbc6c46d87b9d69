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

/// By what a request is known if it is sent again.
struct KeyOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The Idempotency-Key, 16 to 128 visible ASCII characters; drawn at random unless given.", valueName: "key"))
    var key: String?

    /// The key that was given, or one that nobody else has.
    var value: String { key ?? UUID().uuidString }

    func validate() throws {
        guard let key else { return }
        guard 16...128 ~= key.utf8.count, key.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            throw ValidationError("--key must be 16 to 128 visible ASCII characters")
        }
    }
}

/// What `start` and `serialize` have in common.
protocol RequestCommand: ClientCommand {
    var request: RequestOptions { get }
    var lease: LeaseOption { get }
    var key: KeyOption { get }
    var json: JSONOutput { get }
    var interrupts: Bool { get }
    var unmetMembers: [String: JSONValue] { get }
}

extension RequestCommand {
    /// Asks for a transition.
    func ask(_ arbiter: Arbiter, _ call: String) async throws -> WireAnswer {
        var options = try request.made()
        options.further.merge(try lease.members()) { $1 }
        options.further.merge(unmetMembers) { $1 }
        options.interrupts = interrupts
        var members = options.members
        members["scene"] = .string(request.scene)
        if let client = connection.client { members["client"] = .string(client) }
        let headers = ["Idempotency-Key": key.value]
        return try await arbiter.ask(
            WireRequest("POST", "/transitions/\(call)", .object(members), headers: headers))
    }

    /// Writes the transition that was granted: its id and its token.
    ///
    /// If that cannot be written, nobody has the token, so the transition is ended again.
    ///
    /// - Throws: `Failure` if it cannot be written.
    func writeGranted(_ transition: JSONValue, _ arbiter: Arbiter) async throws {
        let words = ["id", "token"].compactMap { transition[$0]?.string }
        do {
            try Terminal.output.deliver(json.isWanted ? transition.text() : words.joined(separator: " "))
        } catch {
            let isNoop = transition["noop"]?.bool == true
            if !isNoop { try await takeBack(OwnedTransition(transition), arbiter, error) }
            throw error
        }
    }

    /// Ends a transition that nobody has been told of.
    ///
    /// - Throws: `Failure` if that fails, too.
    private func takeBack(_ owned: OwnedTransition, _ arbiter: Arbiter, _ failure: Failure) async throws {
        do {
            _ = try await owned.ask(arbiter, "end", ["outcome": "cancelled"])
        } catch ClientError.ended, ClientError.refused {
            // It has ended, or nobody can end it.
        } catch {
            throw Failure(code: failure.code, text: "\(failure.text); \(owned.id) could not be ended: \(error)")
        }
    }
}

extension JSONValue {
    /// Whether it is a transition that has ended, other than by an operation that changes nothing.
    fileprivate var hasEnded: Bool { self["state"]?.string == "ended" && self["noop"]?.bool != true }
}

/// `arbiterctl start`.
struct StartCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Begins a transition at once, or drops it if another one is in the way.",
        discussion: """
            Writes the id and the token of the transition. It is yours until its lease is over; renew starts the lease \
            again, and end ends the transition. If they cannot be written, the transition is ended at once. Exit code 124 \
            says that another transition is in the way, 125 also that standard output cannot be written.

            For 10 minutes, the same request with the same --key gets the same transition; exit code 123 says that it has \
            ended.

                read -r id ARBITER_TRANSITION_TOKEN < <(arbiterctl start --lease 60)
                export ARBITER_TRANSITION_TOKEN
                arbiterctl end "$id"
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var request: RequestOptions
    @OptionGroup var lease: LeaseOption
    @OptionGroup var key: KeyOption
    @OptionGroup var json: JSONOutput

    var interrupts: Bool { false }
    var unmetMembers: [String: JSONValue] { [:] }

    func run(_ arbiter: Arbiter) async throws {
        let answer = try await ask(arbiter, "start")
        if answer.status == 409, answer.document["code"]?.string == "busy" {
            Exit.tell(answer.document["detail"]?.string ?? "another transition is in the way")
            throw ExitCode(Exit.timedOut)
        }
        let transition = try answer.accepted()
        // By its key, it may be one that was begun before.
        if transition.hasEnded { throw ClientError.ended(EndedTransition(transition)) }
        try await writeGranted(transition, arbiter)
    }
}

/// `arbiterctl serialize`.
struct SerializeCommand: RequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "serialize",
        abstract: "Waits for its turn, first come, first served among equal priorities.",
        discussion: """
            Writes the id and the token of the transition when it runs; see start. Exit code 124 says that the turn did \
            not come in time, 123 that the transition ended before it ran, for example because it was impossible at its \
            turn, or that the daemon no longer knows it.
            """
    )

    @OptionGroup var connection: Connection
    @OptionGroup var request: RequestOptions
    @OptionGroup var lease: LeaseOption
    @OptionGroup var key: KeyOption
    @OptionGroup var waiting: WaitOption
    @OptionGroup var interrupting: InterruptOption
    @OptionGroup var unmet: UnmetOption
    @OptionGroup var json: JSONOutput

    var interrupts: Bool { interrupting.interrupt }
    var unmetMembers: [String: JSONValue] { unmet.members }

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
        let document = JSONValue.object(transition)
        if document.hasEnded { throw ClientError.ended(EndedTransition(document)) }
        try await writeGranted(document, arbiter)
    }
}
