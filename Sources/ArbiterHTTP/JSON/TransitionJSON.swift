internal import ArbiterCore

extension JSONWriter {
    /// The members of a transition, as in every answer about this transition.
    mutating func members(of view: TransitionView, showingToken: Bool) {
        firstMembers(of: view, showingToken: showingToken)
        if let change = view.transition.ending?.change {
            member("inserted", change.inserted)
            member("removed", change.removed)
        }
        let appearance = view.transition.appearance
        if !appearance.isEmpty { member("appearance", appearance) }
        lastMembers(of: view)
    }

    /// The members of a transition in a list, an event or an error: without long lists.
    mutating func summaryMembers(of view: TransitionView) {
        firstMembers(of: view, isSummary: true)
        let limit = Limits.summarizedControllers
        if let change = view.transition.ending?.change {
            if change.inserted.count <= limit { member("inserted", change.inserted) }
            if change.removed.count <= limit { member("removed", change.removed) }
        }
        let appearance = view.transition.appearance
        if 1...limit ~= appearance.count { member("appearance", appearance) }
        lastMembers(of: view)
    }

    /// The members before the lists of controllers.
    fileprivate mutating func firstMembers(
        of view: TransitionView, showingToken: Bool = false, isSummary: Bool = false
    ) {
        let transition = view.transition
        // Read once, because each reading copies the whole request, or the whole grant.
        let (request, grant) = (transition.request, transition.grant)
        member("id", transition.id)
        member("scene", request.scene.description)
        if let client = request.client { member("client", client.description) }
        if let principal = request.principal { member("principal", principal.description) }
        if let note = request.note { member("note", note.description) }
        member("state", transition.state.rawValue)
        if transition.hasRememberedEnd { member("endRequested", EndOutcome.completed.rawValue) }
        if case .ended(let ending) = transition.phase {
            member("outcome", ending.outcome.name)
            outcomeMembers(ending.outcome)
            if let interrupter = ending.interruptedBy {
                member("reason", EndReason.interrupted)
                member("interruptedBy", interrupter)
            }
        }
        if showingToken { member("token", transition.token) }
        if let grant { member("fence", grant.fence.rawValue) }
        if let position = view.position { member("position", position) }
        if !view.blockers.isEmpty { member("blockers", view.blockers) }
        if view.isBlockedBySelf { member("blockedBySelf", true) }
        if let waiting = view.waiting { member("waiting", waiting) }
        if transition.priority != .standard { member("priority", transition.priority.value) }
        member("scope", transition.scope)
        if request.mode != .exclusive { member("mode", request.mode.rawValue) }
        if let locks = view.locks { member("locks", locks) }
        member("leaseSeconds", transition.lease)
        if let remaining = view.remaining.lease { member("leaseRemaining", remaining) }
        member("ticketSeconds", request.ticket)
        if let remaining = view.remaining.ticket { member("ticketRemaining", remaining) }
        if let queue = request.queue { member("queueSeconds", queue) }
        if let remaining = view.remaining.queue { member("queueRemaining", remaining) }
        if let unmet = transition.unmet {
            member("awaits", Awaited.expectation.rawValue)
            object("unmetExpectation") { $0.members(of: unmet) }
        } else if view.remaining.resumption != nil {
            member("awaits", Awaited.resume.rawValue)
        }
        if let remaining = view.remaining.resumption {
            member("resumeRemaining", remaining)
        }
        askedMembers(of: request, isSummary: isSummary)
        interruptionMembers(of: view)
        if let grant { resultMembers(of: transition, grant, isSummary: isSummary) }
        if transition.ending?.isNoop == true { member("noop", true) }
    }

    /// The members after the lists of controllers.
    fileprivate mutating func lastMembers(of view: TransitionView) {
        let transition = view.transition
        cooperationMembers(of: view)
        if let trace = transition.request.trace { member("traceparent", trace.description) }
        member("requestedAt", transition.requestedAt.timestamp)
        if let grant = transition.grant { member("grantedAt", grant.grantedAt) }
        if case .ended(let ending) = transition.phase { member("endedAt", ending.endedAt.timestamp) }
    }

    /// The operation and its conditions.
    mutating func askedMembers(of request: TransitionRequest, isSummary: Bool = false) {
        if isSummary {
            if let kept = request.keptOperation { summary(of: kept) }
        } else if let operation = request.operation {
            member(operation)
        }
        if !request.expectations.isEmpty { member("expect", request.expectations) }
        if request.unmet != .reject { member("unmet", request.unmet.rawValue) }
        if let hold = request.maxHold { member("maxHoldSeconds", hold) }
        if request.onExpiry != .discard { member("onExpiry", request.onExpiry.rawValue) }
        if request.ignoresGuards { member("ignoreGuards", true) }
        cooperationMembers(of: request)
    }

    /// The effect on the hierarchy.
    private mutating func resultMembers(
        of transition: Transition, _ grant: Transition.Grant, isSummary: Bool
    ) {
        resolved(grant.resolved, isSummary: isSummary)
        if let animation = grant.animation { member("animation", animation.completed(by: transition.gesture)) }
        if let presenter = grant.presenter { member("presenter", presenter) }
        member("requestedRevision", transition.requestedRevision.rawValue)
        member("revision", (transition.ending?.change?.revision ?? grant.revision).rawValue)
    }

    /// The reason for the outcome, if the outcome alone does not tell.
    private mutating func outcomeMembers(_ outcome: TransitionOutcome) {
        switch outcome {
        case .completed, .cancelled:
            break
        case .expired(let reason):
            member("reason", reason.rawValue)
        case .superseded(let other):
            member("supersededBy", other)
        case .revoked(let revocation):
            member("reason", revocation.reason.description)
            if let principal = revocation.principal { member("revokedBy", principal.description) }
        case .rejected(let rejection):
            member("reason", rejection.reason)
            switch rejection {
            case .expectationFailed(let failure):
                member("code", Problem.Code.expectationFailed.rawValue)
                member("detail", failure.text)
                members(of: failure)
            case .invalidOperation(let refusal):
                member("code", refusal.code.rawValue)
                member("detail", refusal.detail)
                if let index = refusal.index { member("index", index) }
            case .sceneGone:
                member("code", Problem.Code.unknownScene.rawValue)
                member("detail", "The scene was deleted while the ticket was set aside.")
            case .vetoed(let client, let reason):
                member("code", rejection.reason)
                member(
                    "detail",
                    "\(client) said that it must not run\(reason.map { ": \($0)" } ?? ".")")
                member("vetoedBy", client.description)
                if let reason { member("vetoReason", reason.description) }
            case .scopeGone(let controller):
                member("code", Problem.Code.unknownController.rawValue)
                member("detail", "The controller <\(controller)> of its scope is not there any more.")
            }
        }
    }
}

/// What a ticket waits for besides other transitions.
enum Awaited: String, Hashable, Sendable, CaseIterable {
    /// The conditions that it expects; it is set aside until they hold.
    case expectation
    /// The end of the time for which nothing is granted.
    case resume
}

extension JSONWriter {
    mutating func members(of failure: FailedExpectation) {
        member("expected", failure.expectation.text)
        member("actual", failure.actual)
    }
}

extension Transition {
    /// The end of the transition; `nil` before that.
    fileprivate var ending: Ending? {
        if case .ended(let ending) = phase { ending } else { nil }
    }

    /// The appearance events so far; none while it waits for its participants.
    fileprivate var appearance: [AppearanceEvent] {
        let beginning = state == .preparing ? [] : grant?.appearance ?? []
        return beginning + (ending?.appearance ?? [])
    }
}

extension TransitionView {
    /// The number of controllers in its lists, without those of its operation.
    var listedControllers: Int {
        let changed = transition.ending?.change.map { $0.inserted.count + $0.removed.count } ?? 0
        return changed + (transition.grant?.appearance.count ?? 0) + (transition.ending?.appearance.count ?? 0)
    }

    /// A document with the transition after the given members.
    func document(
        showingToken: Bool, behind members: @escaping @Sendable (inout JSONWriter) -> Void
    ) -> JSONDocument {
        var parts: [JSONDocument.Part] = [
            .brief { writer in
                writer.beginObject()
                members(&writer)
                writer.firstMembers(of: self, showingToken: showingToken)
            }
        ]
        if let change = transition.ending?.change {
            parts += JSONDocument.Part.array("inserted", change.inserted) { $0.string($1.description) }
            parts += JSONDocument.Part.array("removed", change.removed) { $0.string($1.description) }
        }
        let appearance = transition.appearance
        if !appearance.isEmpty {
            parts += JSONDocument.Part.array("appearance", appearance) { writer, event in
                writer.object { $0.members(of: event) }
            }
        }
        parts.append(
            .brief { writer in
                writer.lastMembers(of: self)
                writer.endObject()
                writer.endLine()
            })
        return JSONDocument(parts, keeping: byteCount)
    }
}

/// Reasons for an outcome that the outcome itself does not have.
enum EndReason {
    /// Of one that completed or was cancelled, but not by its owner.
    static let interrupted = "interrupted"
}

extension TransitionOutcome {
    /// The name in JSON.
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
