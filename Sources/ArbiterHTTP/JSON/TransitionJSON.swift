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
            outcomeMembers(ending.outcome)
        }
        if showingToken { member("token", transition.token) }
        if let grant = transition.grant { member("fence", grant.fence.rawValue) }
        if let position = view.position { member("position", position) }
        if !view.blockers.isEmpty { member("blockers", view.blockers) }
        member("scope", transition.scope)
        member("leaseSeconds", transition.lease)
        if let remaining = view.leaseRemaining { member("leaseRemaining", remaining) }
        member("ticketSeconds", transition.request.ticket)
        if let queue = transition.request.queue { member("queueSeconds", queue) }
        askedMembers(of: transition.request)
        resultMembers(of: transition)
        companyMembers(of: view)
        member("requestedAt", transition.requestedAt.timestamp)
        if let grant = transition.grant { member("grantedAt", grant.grantedAt) }
        if case .ended(let ending) = transition.phase { member("endedAt", ending.endedAt.timestamp) }
    }

    /// What it does to the hierarchy, and on what conditions.
    mutating func askedMembers(of request: TransitionRequest) {
        if let operation = request.operation { member("operation", operation) }
        if !request.expectations.isEmpty { member("expect", request.expectations) }
        if request.onExpiry != .discard { member("onExpiry", request.onExpiry.rawValue) }
        companyMembers(of: request)
    }

    /// What it comes to in the hierarchy, as far as that is known.
    private mutating func resultMembers(of transition: Transition) {
        let (grant, ending) = (transition.grant, transition.ending)
        if let grant {
            if let animation = grant.animation { member("animation", animation) }
            if let presenter = grant.presenter { member("presenter", presenter) }
            member("requestedRevision", transition.requestedRevision.rawValue)
            member("revision", (ending?.change?.revision ?? grant.revision).rawValue)
        }
        if ending?.isNoop == true { member("noop", true) }
        if let change = ending?.change {
            member("inserted", change.inserted)
            member("removed", change.removed)
        }
        // Nothing has been told yet while it waits for its participants.
        let beginning = transition.state == .preparing ? [] : grant?.appearance ?? []
        let appearance = beginning + (ending?.appearance ?? [])
        if !appearance.isEmpty { member("appearance", appearance) }
    }

    /// Why it ended as it did, where its outcome does not say.
    private mutating func outcomeMembers(_ outcome: TransitionOutcome) {
        switch outcome {
        case .completed, .cancelled:
            break
        case .expired(let reason):
            member("reason", reason.rawValue)
        case .superseded(let other):
            member("supersededBy", other)
        case .revoked(let reason):
            member("reason", reason.description)
        case .rejected(let rejection):
            member("reason", rejection.reason)
            switch rejection {
            case .expectationFailed(let failure):
                member("code", Problem.Code.expectationFailed.rawValue)
                member("detail", failure.text)
                member("expected", failure.expectation.text)
                member("actual", failure.actual)
            case .invalidOperation(let refusal):
                member("code", refusal.code.rawValue)
                member("detail", refusal.detail)
            case .scopeGone(let controller):
                member("code", Problem.Code.unknownController.rawValue)
                member("detail", "The controller <\(controller)> of its scope is not there any more.")
            }
        }
    }
}

extension Transition {
    /// How it ended, once it has.
    fileprivate var ending: Ending? {
        if case .ended(let ending) = phase { ending } else { nil }
    }
}

extension TransitionOutcome {
    /// Its word on the wire.
    var name: String {
        switch self {
        case .completed: "completed"
        case .cancelled: "cancelled"
        case .expired: "expired"
        case .rejected: "rejected"
        case .superseded: "superseded"
        case .revoked: "revoked"
        }
    }
}
