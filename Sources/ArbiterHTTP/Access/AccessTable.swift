internal import ArbiterCore

/// The entries of an access file, found by what a client shows.
final class AccessTable: Sendable {
    /// In the order of the file.
    let entries: [AccessEntry]
    private let names: [String: AccessEntry]
    private let tokens: [[UInt8]: [Token]]
    private let users: [UInt32: Permission]
    private let groups: [(number: UInt32, entry: AccessEntry)]
    private let certificates: [String: Permission]

    private struct Token: Sendable {
        let digest: SecretDigest
        let permission: Permission
    }

    init(_ entries: [AccessEntry]) {
        self.entries = entries
        names = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var tokens: [[UInt8]: [Token]] = [:]
        var users: [UInt32: Permission] = [:]
        var groups: [(number: UInt32, entry: AccessEntry)] = []
        var certificates: [String: Permission] = [:]
        for entry in entries {
            switch entry.proof {
            case .token(let digests):
                let permission = entry.permission(of: "token:\(entry.name)")
                for digest in digests {
                    tokens[digest.mark, default: []].append(Token(digest: digest, permission: permission))
                }
            case .user(let number): users[number] = entry.permission(of: Self.name(ofUser: number))
            case .group(let number): groups.append((number, entry))
            case .certificate(let name): certificates[name] = entry.permission(of: "certificate:\(name)")
            }
        }
        (self.tokens, self.users, self.groups, self.certificates) = (tokens, users, groups, certificates)
    }

    /// The name of the principal of a user's processes.
    static func name(ofUser number: UInt32) -> String { "uid:\(number)" }

    func permission(ofSecret secret: String) -> Permission? {
        let digest = SecretDigest(of: secret)
        return tokens[digest.mark]?.first { $0.digest == digest }?.permission
    }

    /// The entry of the user counts, or else the first one of a group that the user is in.
    func permission(of user: LocalUser) -> Permission? {
        if let permission = users[user.user] { return permission }
        let entry = groups.first { user.groups.contains($0.number) }?.entry
        return entry?.permission(of: Self.name(ofUser: user.user))
    }

    /// This table in the place of another one.
    ///
    /// It takes over the other table's entries that stay the same, so that they can still be revoked. All other entries
    /// of that table are revoked.
    func replacing(_ other: AccessTable) -> AccessTable {
        var kept: [String: AccessEntry] = [:]
        for entry in other.entries {
            if keeps(entry, of: other) { kept[entry.name] = entry } else { entry.revoke() }
        }
        return AccessTable(entries.map { kept[$0.name] ?? $0 })
    }

    /// Whether an entry of another table is in this one too, and counts for the same clients.
    private func keeps(_ entry: AccessEntry, of other: AccessTable) -> Bool {
        guard names[entry.name]?.says(theSameAs: entry) == true else { return false }
        guard case .group = entry.proof else { return true }
        // The entry of a user, or that of an earlier group, counts instead of a group's.
        return users.keys == other.users.keys && groups.map(\.number) == other.groups.map(\.number)
    }

    /// What a client may do that another node has found the entry of.
    func permission(ofEntry name: String, principal: String) -> Permission? {
        names[name]?.permission(of: principal)
    }

    func permission(of certificate: PeerCertificate) -> Permission? { certificates[certificate.commonName] }
}
