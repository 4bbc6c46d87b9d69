internal import ArbiterCore
internal import ArbiterEngine
internal import Synchronization

/// Authenticates requests: by a bearer token (RFC 6750), by the user of a Unix socket's peer, or by a client certificate.
package final class AccessControl: Sendable {
    /// `nil` if there is no access control, so that every client may do everything.
    private let table: Guarded<AccessTable?>
    private let replacements = Atomic<UInt64>(0)
    /// Whether a file without entries is meant so.
    private let allowsNoOne: Bool

    /// Without access control.
    package init() {
        table = Guarded(nil)
        allowsNoOne = false
    }

    /// With the entries of an access file.
    ///
    /// - Parameters:
    ///   - text: the file.
    ///   - allowsNoOne: whether the file, also one that replaces it, may have no entries. A file that is being written has
    ///     none for a moment.
    /// - Throws: `SettingsFile.Malformed` if the text is not that of an access file, or has no entries.
    package init(_ text: String, allowsNoOne: Bool = false) throws(SettingsFile.Malformed) {
        table = Guarded(try Self.table(text, allowsNoOne: allowsNoOne))
        self.allowsNoOne = allowsNoOne
    }

    /// Replaces the entries.
    ///
    /// An earlier entry is revoked if it is gone, has changed, or may no longer be the one that counts for its clients.
    ///
    /// - Throws: `SettingsFile.Malformed` if the text is not that of an access file, or has no entries; then the entries
    ///   stay.
    package func replace(with text: String) throws(SettingsFile.Malformed) {
        let new = try Self.table(text, allowsNoOne: allowsNoOne)
        table.withLock { table in table = table.map { new.replacing($0) } ?? new }
        replacements.add(1, ordering: .releasing)
    }

    /// Changes when the entries are replaced.
    ///
    /// What was found out by the entries holds as long as it is the same as before that.
    var generation: UInt64 { replacements.load(ordering: .acquiring) }

    private static func table(_ text: String, allowsNoOne: Bool) throws(SettingsFile.Malformed) -> AccessTable {
        let table = try AccessFile.table(text)
        guard allowsNoOne || !table.entries.isEmpty else {
            throw SettingsFile.Malformed(
                line: nil,
                reason: "has no entries, so that every client would be refused; --allow-no-one if that is meant")
        }
        return table
    }

    /// How many entries there are; `nil` without access control.
    package var entryCount: Int? { table.withLock { $0?.entries.count } }

    /// Finds out what the client of a request may do.
    ///
    /// - Throws: `unauthenticated` if that is nothing.
    func permission(for request: Request) throws(Problem) -> Permission {
        guard let table = table.withLock({ $0 }) else { return Self.permission(withoutControlOf: request.peer) }
        if let credentials = request.headers.value(of: .authorization) {
            guard let secret = Self.bearerToken(credentials) else {
                throw Problem(
                    unauthenticated: "The credentials in Authorization must be Bearer and a token.", error: nil)
            }
            guard let permission = table.permission(ofSecret: secret) else {
                throw Problem(unauthenticated: "No principal has this token.", error: "invalid_token")
            }
            return permission
        }
        switch request.peer {
        case .local(let user):
            if let permission = table.permission(of: user) { return permission }
            throw Problem(
                unauthenticated:
                    "The user \(user.user) has no entry in the access file; send a token as Authorization: Bearer.",
                error: nil)
        case .encrypted(_, let certificate?):
            if let permission = table.permission(of: certificate) { return permission }
            throw Problem(
                unauthenticated:
                    "The certificate of \(quoted(certificate.commonName)) has no entry in the access file; send a token "
                    + "as Authorization: Bearer.", error: nil)
        case .network, .encrypted, .node:
            throw Problem(unauthenticated: "Send a token as Authorization: Bearer.", error: nil)
        }
    }

    /// What the client of a forwarded request may do, as the node that forwards it names the client.
    ///
    /// That node has authenticated the client; what the client may do is for this one to say, by its own access file.
    ///
    /// - Throws: `unauthenticated` if the file has no such entry.
    func permission(of client: ForwardedClient) throws(Problem) -> Permission {
        guard let table = table.withLock({ $0 }) else {
            guard let principal = client.principal.flatMap({ PrincipalName($0) }) else { return .everything }
            return Permission(Caller(principal: principal), roles: Set(Role.allCases))
        }
        if let entry = client.entry, let principal = client.principal,
            let permission = table.permission(ofEntry: entry, principal: principal)
        {
            return permission
        }
        throw Problem(
            unauthenticated:
                "The access file of the node that serves the scene has no entry \(quoted(client.entry ?? "")).",
            error: nil)
    }

    /// Every client may do everything, but a user's sessions and idempotency keys are the user's own.
    private static func permission(withoutControlOf peer: Peer) -> Permission {
        guard case .local(let user) = peer else { return .everything }
        let principal = PrincipalName(AccessTable.name(ofUser: user.user))
        return Permission(Caller(principal: principal), roles: Set(Role.allCases))
    }

    /// The token in the credentials; the scheme may be written in any case (RFC 9110, section 11.1).
    private static func bearerToken(_ credentials: String) -> String? {
        let parts = credentials.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = parts[1].drop { $0 == " " }
        return token.isEmpty || token.contains(" ") ? nil : String(token)
    }
}

extension Problem {
    /// A request without valid credentials.
    ///
    /// - Parameters:
    ///   - detail: one sentence that a person can act on.
    ///   - error: the error code of RFC 6750, section 3.1, if a token was sent.
    fileprivate init(unauthenticated detail: String, error: String?) {
        self.init(.unauthenticated, detail, field: HeaderName.authorization.text)
        challenge = "Bearer realm=\"arbiterd\"" + (error.map { ", error=\"\($0)\"" } ?? "")
    }
}
