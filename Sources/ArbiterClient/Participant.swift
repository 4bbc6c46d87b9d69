/// A client that has to be ready before a transition runs; a string stands for its name.
public struct Participant: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name of the client.
    public var client: String
    /// Whether the transition waits for it.
    public var isRequired: Bool
    /// Whether it may say that the transition must not run.
    public var mayVeto: Bool

    /// A participant with the name of its client.
    public init(_ client: String, isRequired: Bool = true, mayVeto: Bool = false) {
        self.client = client
        self.isRequired = isRequired
        self.mayVeto = mayVeto
    }

    /// A required participant, which may not veto.
    public init(stringLiteral client: String) { self.init(client) }

    /// The participant as the wire has it.
    var document: JSONValue {
        var members: [String: JSONValue] = ["client": .string(client)]
        if !isRequired { members["required"] = false }
        if mayVeto { members["mayVeto"] = true }
        return .object(members)
    }
}
