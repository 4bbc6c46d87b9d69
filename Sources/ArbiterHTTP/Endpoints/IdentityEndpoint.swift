internal import ArbiterCore

/// `/whoami`: as whom the daemon knows a client, and what that client may do.
struct IdentityEndpoint: Sendable {
    /// The version of the daemon.
    let version: String

    func show(_ call: Call) throws(Problem) {
        let permission = call.permission
        call.respond(
            .json(200) { writer in
                if let principal = permission.caller.principal { writer.member("principal", principal.description) }
                writer.member(named: "roles") { writer in
                    writer.elements(Role.allCases.filter { permission.roles.contains($0) }) { $0.string($1.rawValue) }
                }
                if case .matching(let patterns) = permission.caller.scenes {
                    writer.member(named: "scenes") { $0.elements(patterns) { $0.string($1.description) } }
                }
                writer.member("version", version)
            })
    }
}
