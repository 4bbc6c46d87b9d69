internal import ArbiterCore

// Gestures, participants and coalescing as transitions show them.

extension JSONWriter {
    /// What was asked for beyond the lock itself.
    mutating func cooperationMembers(of request: TransitionRequest) {
        if request.isInteractive {
            member("interactive", true)
            object("policy") { $0.members(of: request.policy) }
        }
        if let coalescing = request.coalescing {
            object("coalesce") { writer in
                writer.member("key", coalescing.key.description)
                writer.member("keep", coalescing.keep.rawValue)
            }
        }
        guard !request.participants.isEmpty else { return }
        member("readySeconds", request.ready)
        member("onUnready", request.onUnready.rawValue)
    }

    private mutating func members(of policy: GesturePolicy) {
        switch policy {
        case .fraction(let threshold):
            member("by", GesturePolicyKind.fraction.rawValue)
            member("threshold", threshold)
        case .velocity:
            member("by", GesturePolicyKind.velocity.rawValue)
        }
    }

    /// How its participants and its finger stand.
    mutating func cooperationMembers(of view: TransitionView) {
        let transition = view.transition
        if let session = transition.session { member("session", session.description) }
        if transition.request.isInteractive, !transition.isEnded || transition.gesture != nil {
            object("interaction") { $0.interactionMembers(of: view) }
        }
        guard !transition.participants.isEmpty else { return }
        array("participants", transition.participants) { writer, participant in
            writer.object { writer in
                writer.member("client", participant.client.description)
                writer.member("required", participant.isRequired)
                writer.member("state", participant.state.rawValue)
            }
        }
        array("laggards", transition.laggards) { writer, client in writer.string(client.description) }
    }

    private mutating func interactionMembers(of view: TransitionView) {
        member("phase", view.interactionPhase.rawValue)
        if let gesture = view.transition.gesture {
            member("fraction", gesture.fraction)
            member("decision", gesture.decision.rawValue)
            if let remaining = view.remainingGesture { member("remaining", remaining) }
        } else if let progress = view.progress {
            member("fraction", progress.fraction)
            if let velocity = progress.velocity { member("velocity", velocity) }
        }
    }
}

/// Where a gesture is in its life.
enum InteractionPhase: String, Hashable, Sendable, CaseIterable {
    /// The transition is not granted yet, and the gesture not decided.
    case possible
    /// It can be driven, and has not been yet.
    case began
    case changing
    /// It is decided.
    case released
}

extension TransitionView {
    var interactionPhase: InteractionPhase {
        if transition.gesture != nil { return .released }
        if transition.grant == nil { return .possible }
        return progress == nil ? .began : .changing
    }

    /// How long the rest of a decided gesture takes, once it is granted.
    var remainingGesture: Duration? {
        guard let gesture = transition.gesture, let grant = transition.grant else { return nil }
        return grant.animation.map { gesture.remaining(of: $0) }
    }
}

/// What a gesture's policy goes by.
enum GesturePolicyKind: String, Hashable, Sendable, CaseIterable {
    case fraction
    case velocity
}
