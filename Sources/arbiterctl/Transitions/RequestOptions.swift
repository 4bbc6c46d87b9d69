internal import ArbiterClient
internal import ArgumentParser
internal import Foundation

/// What is asked of a scene.
struct RequestOptions: ParsableArguments {
    @Option(help: "The scene.")
    var scene = "main"

    @Option(
        help: ArgumentHelp(
            "What is locked: scene, operation, ids with commas between them, or one of several names with | between them.",
            valueName: "scope"))
    var scope: String?

    @Option(
        help: ArgumentHelp(
            "The operation, as JSON, or a list of them; it is applied when the transition is completed.",
            valueName: "json")
    )
    var operation: String?

    @Option(
        help: ArgumentHelp(
            "What must hold when it is granted, as JSON: a condition or a list of them.", valueName: "json"))
    var expect: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How urgent it is, from -1000 to 1000: a higher priority is served first; the scene's default unless given.",
            valueName: "number"))
    var priority: Int?

    @Option(
        help: ArgumentHelp(
            "Who may interrupt it, once it is granted: nobody, higher priorities, or equal ones too; the scene's default unless given.",
            valueName: "no|higher|equal"))
    var interruptible: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long it goes on when it is interrupted, up to 10 seconds; 0.5 unless given.", valueName: "seconds"))
    var grace: Double?

    @Flag(help: "Conflict with exclusive ones only, beside others that are shared.")
    var shared = false

    @Option(help: "Why it is held, for people.")
    var note: String?

    @Flag(help: "Remove what others guard without asking them; needs the role design.")
    var ignoreGuards = false

    func validate() throws { _ = try made() }

    /// - Throws: `ValidationError` if the operation is no JSON object and no list, or an id of the scope is empty.
    func made() throws -> TransitionOptions {
        guard priority.map({ -1_000...1_000 ~= $0 }) ?? true else {
            throw ValidationError("--priority must be an integer from -1000 to 1000")
        }
        if let grace {
            guard 0...10 ~= grace else { throw ValidationError("--grace must be 0 to 10") }
            guard interruptible != nil, interruptible != "no" else {
                throw ValidationError("--grace goes with --interruptible higher or equal")
            }
        }
        var options = TransitionOptions()
        options.priority = priority
        options.ignoresGuards = ignoreGuards
        options.note = note
        switch interruptible {
        case "no": options.interruptible = .no
        case let word?:
            guard let interrupters = TransitionOptions.Interrupters(rawValue: word) else {
                throw ValidationError("--interruptible must be no, higher or equal")
            }
            options.interruptible = .by(interrupters, grace: grace.map { .seconds($0) })
        case nil: break
        }
        if let expect { options.further["expect"] = try JSONValue(of: "--expect", expect) }
        if let operation {
            options.operation = try TransitionOperation(ofOption: operation)
        }
        options.isShared = shared
        switch scope {
        case "scene": options.scope = .scene
        case "operation": options.scope = .operation
        case let list?:
            let separator: Character = list.contains("|") ? "|" : ","
            let ids = list.split(separator: separator, omittingEmptySubsequences: false).map { String($0) }
            guard !ids.contains("") else { throw ValidationError("--scope has an empty id") }
            options.scope = separator == "|" ? .anyOf(ids) : .controllers(ids)
        case nil: break
        }
        return options
    }
}

/// Whether a turn waits for what it expects.
struct UnmetOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Wait so long, at most a day, for what it expects, if that does not hold at its turn, instead of being rejected.",
            valueName: "seconds"))
    var unmetWait: Double?

    func validate() throws {
        guard 0...86_400 ~= unmetWait ?? 0 else { throw ValidationError("--unmet-wait must be 0 to 86400") }
    }

    /// The members of a request.
    var members: [String: JSONValue] {
        unmetWait.map { ["unmet": "wait", "queueSeconds": .number($0)] } ?? [:]
    }
}

/// Whether a turn interrupts what is in its way.
struct InterruptOption: ParsableArguments {
    @Flag(help: "End what is in the way and may be interrupted, instead of waiting for it.")
    var interrupt = false
}

extension JSONValue {
    /// What an option says.
    ///
    /// - Throws: `ValidationError`, with the name of the option, if it is no JSON.
    init(of option: String, _ text: String) throws {
        guard let document = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
            throw ValidationError("\(option) must be JSON")
        }
        self = document
    }

}

extension TransitionOperation {
    /// - Throws: `ValidationError` if it is no JSON object, nor a list.
    init(ofOption text: String) throws {
        guard let document = try? JSONValue(of: "--operation", text),
            document.object != nil || document.array?.isEmpty == false
        else {
            throw ValidationError("--operation must be a JSON object, or a list of them")
        }
        self.init(document)
    }
}
