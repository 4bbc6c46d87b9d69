package import ArbiterCore
internal import Synchronization

/// What a client that has been authenticated may do.
package final class Permission: Sendable {
    /// To whom sessions and idempotency keys belong, and which scenes there are for the client.
    package let caller: Caller
    let roles: Set<Role>
    /// The entry of the access file that it is from.
    private let entry: AccessEntry?

    init(_ caller: Caller, roles: Set<Role>, entry: AccessEntry? = nil) {
        self.caller = caller
        self.roles = roles
        self.entry = entry
    }

    /// What every client may do where there is no access control.
    package static let everything = Permission(.anyone, roles: Set(Role.allCases))

    /// The name of the entry of the access file that it is from.
    var entryName: String? { entry?.name }

    /// The highest priority that its transitions may have; `nil` if there is no bound.
    var highestPriority: Priority? { entry?.highestPriority }

    /// Whether the entry that it is from has been changed or removed.
    var isRevoked: Bool { entry?.isRevoked ?? false }

    /// - Throws: `forbidden` if the client does not have the role.
    func check(_ role: Role) throws(Problem) {
        guard !roles.contains(role) else { return }
        throw Problem(.forbidden, "\(name) does not have the role \(role.rawValue), which this call needs.")
    }

    /// - Throws: `forbidden` if the client may not use the scene, whether or not there is one.
    func check(_ scene: SceneName) throws(Problem) {
        guard !caller.scenes.contains(scene) else { return }
        throw Problem(.forbidden, "\(name) may not use the scene \(scene).")
    }

    /// - Throws: `forbidden` if the client may not have the priority.
    func check(_ priority: Priority?) throws(Problem) {
        guard let priority, let highest = highestPriority, highest < priority else { return }
        throw Problem(
            .forbidden, "\(name) may not ask for a priority above \(highest.value), which is its maxPriority.",
            field: "priority")
    }

    /// - Returns: whose transitions the client may revoke; `nil` if everybody's.
    /// - Throws: `forbidden` if nobody's.
    func checkMayRevoke() throws(Problem) -> PrincipalName? {
        if roles.contains(.admin) { return nil }
        guard roles.contains(.transition), let principal = caller.principal else {
            throw Problem(
                .forbidden,
                "\(name) has neither the role \(Role.admin.rawValue) nor \(Role.transition.rawValue), of which this call needs one."
            )
        }
        return principal
    }

    /// - Throws: `forbidden` if the client may not remove what others guard without asking them.
    func checkMayIgnoreGuards() throws(Problem) {
        guard !roles.contains(.design) else { return }
        throw Problem(
            .forbidden, "\(name) does not have the role \(Role.design.rawValue), which ignoreGuards needs.",
            field: "ignoreGuards")
    }

    private var name: String { caller.principal?.description ?? "The client" }
}

/// One entry of the access file.
final class AccessEntry: Sendable {
    let name: String
    let proof: Proof
    let roles: Set<Role>
    let scenes: SceneSelection
    /// The highest priority that a transition of the client may have.
    let highestPriority: Priority
    private let wasRevoked = Atomic(false)

    /// What shows that a client is meant.
    enum Proof: Hashable, Sendable {
        /// It sends a secret with one of these digests.
        case token([SecretDigest])
        /// It is a process of this user, on a Unix socket.
        case user(UInt32)
        /// It is a process of a user in this group, on a Unix socket.
        case group(UInt32)
        /// It has a client certificate with this common name.
        case certificate(String)

        /// What is shown, as the access file names it.
        var kind: String {
            switch self {
            case .token: "token"
            case .user: "user"
            case .group: "group"
            case .certificate: "certificate"
            }
        }

        /// One proof for each digest.
        var each: [Proof] {
            guard case .token(let digests) = self else { return [self] }
            return digests.map { .token([$0]) }
        }
    }

    init(
        name: String, proof: Proof, roles: Set<Role>, scenes: SceneSelection, highestPriority: Priority = .standard
    ) {
        self.name = name
        self.proof = proof
        self.roles = roles
        self.scenes = scenes
        self.highestPriority = highestPriority
    }

    /// Whether the file has no such entry any more.
    var isRevoked: Bool { wasRevoked.load(ordering: .relaxed) }

    func revoke() { wasRevoked.store(true, ordering: .relaxed) }

    /// Whether another entry says the same.
    func says(theSameAs other: AccessEntry) -> Bool {
        name == other.name && proof == other.proof && roles == other.roles && scenes == other.scenes
            && highestPriority == other.highestPriority
    }

    /// What a client may do to whom this entry applies, by the name of its principal.
    func permission(of principal: String) -> Permission {
        Permission(Caller(principal: PrincipalName(principal), scenes: scenes), roles: roles, entry: self)
    }
}
