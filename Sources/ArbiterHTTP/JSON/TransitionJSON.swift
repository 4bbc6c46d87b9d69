internal import ArbiterCore

extension JSONWriter {
    /// The members of a transition, as every call shows it.
    mutating func members(of view: TransitionView, showingToken: Bool) {
        let transition = view.transition
        member("id", transition.id)
        member("scene", transition.request.scene.description)
        if let client = transition.request.client { member("client", client.description) }
        member("state", transition.state.rawValue)
        if case .ended(let ending) = transition.phase {
            member("outcome", ending.outcome.name)
            if case .expired(let reason) = ending.outcome { member("reason", reason.rawValue) }
        }
        if showingToken { member("token", transition.token) }
        if let grant = transition.grant { member("fence", grant.fence.rawValue) }
        if let position = view.position { member("position", position) }
        if !view.blockers.isEmpty { member("blockers", view.blockers) }
        member("scope", transition.request.scope.name)
        member("leaseSeconds", transition.request.lease)
        if let remaining = view.leaseRemaining { member("leaseRemaining", remaining) }
        member("ticketSeconds", transition.request.ticket)
        if let queue = transition.request.queue { member("queueSeconds", queue) }
        member("requestedAt", transition.requestedAt.timestamp)
        if let grant = transition.grant { member("grantedAt", grant.grantedAt) }
        if case .ended(let ending) = transition.phase { member("endedAt", ending.endedAt.timestamp) }
    }
}

extension Transition {
    /// What the lock gave, once it has.
    var grant: Grant? {
        switch phase {
        case .queued: nil
        case .running(let grant): grant
        case .ended(let ending): ending.grant
        }
    }
}

extension TransitionOutcome {
    /// Its word on the wire.
    var name: String {
        switch self {
        case .completed: "completed"
        case .cancelled: "cancelled"
        case .expired: "expired"
        }
    }
}

extension Scope {
    /// Its word on the wire.
    var name: String {
        switch self {
        case .scene: "scene"
        }
    }
}
