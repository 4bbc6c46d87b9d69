/// What happens to a transition when nobody has said something in time.
public enum SilenceAction: String, Hashable, Sendable {
    /// It runs.
    case proceed
    /// It expires.
    case abort
}

/// Being asked before controllers are removed.
extension ArbiterScene {
    /// Asks to be asked before these controllers, or any above them, are removed, until the session of this client ends.
    ///
    /// Then `transition.preparing` names this client among the `participants`, with the `guard`: answer with
    /// ``Arbiter/ready(for:)`` or ``Arbiter/veto(_:reason:)`` within two seconds. A stream of
    /// events that is attached keeps the session alive. The same call again returns the same guard.
    ///
    /// - Parameters:
    ///   - controllers: their ids; there may be no such controllers yet.
    ///   - onSilence: what happens if this client says nothing.
    /// - Returns: the guard, with its `id`.
    /// - Throws: `ClientError`, for example `refused` with `queue-full`; `CancellationError`.
    @discardableResult
    public func addGuard(of controllers: [String], onSilence: SilenceAction = .proceed) async throws -> JSONValue {
        let body: JSONValue = [
            "controllers": .array(controllers.map { .string($0) }), "onSilence": .string(onSilence.rawValue),
        ]
        return try await arbiter.say("POST", path("/guards"), body).accepted()
    }

    /// Takes a guard back; nothing if it has ended.
    ///
    /// - Throws: `ClientError`; `CancellationError`.
    public func removeGuard(_ id: String) async throws {
        let answer = try await arbiter.say("DELETE", path("/guards/\(id.inPath)"))
        let isGone = ["not-found", "unknown-scene"].contains(answer.document["code"]?.string)
        if !isGone { _ = try answer.accepted() }
    }
}

extension ArbiterScene {
    /// Takes all unfinished transitions of the scene, or those of a client, from their owners, in one step.
    ///
    /// An administrator takes everybody's, others those of their own principal. It is sent once: if it is `unreachable`, it may have
    /// happened.
    ///
    /// - Parameters:
    ///   - client: only those of this client.
    ///   - reason: what the owners are told.
    /// - Returns: their ids.
    /// - Throws: `ClientError`; `CancellationError`.
    @discardableResult
    public func revoke(client: String? = nil, reason: String) async throws -> [String] {
        var members: [String: JSONValue] = ["scene": .string(name), "reason": .string(reason)]
        members["client"] = client.map { .string($0) }
        // Repeated, it would end what was asked for in between.
        let answer = try await arbiter.sendOnce(WireRequest("POST", "/transitions/revoke", .object(members)))
        return try answer.accepted()["revoked"]?.array?.compactMap(\.string) ?? []
    }
}
