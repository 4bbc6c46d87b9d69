internal import ArbiterEngine

/// What the router has found out about requests with one head on one connection.
package final class KnownRequest: Sendable {
    private let admission = Guarded<Admission?>(nil)

    /// What follows from a head, from the connection and from the access file alone.
    struct Admission: Sendable {
        /// The access file by which the permission was found.
        let generation: UInt64
        let allowedOrigin: String?
        let route: Route
        let parameters: [String: String]
        let permission: Permission
        let query: Query
    }

    /// What was found out by an access file, if it was this one.
    func admission(in generation: UInt64) -> Admission? {
        admission.withLock { admission in admission.flatMap { $0.generation == generation ? $0 : nil } }
    }

    func note(_ admission: Admission) {
        self.admission.withLock { $0 = admission }
    }
}
