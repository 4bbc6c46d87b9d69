internal import ArbiterCore

// The members of transitions about gestures, participants and coalescing.

extension JSONWriter {
    /// The requested session, participants, gesture and coalescing.
    mutating func cooperationMembers(of request: TransitionRequest) {
        if request.isInteractive {
            member("interactive", true)
            object("policy") { $0.members(of: request.policy) }
        }
        if let coalescing = request.coalescing {
            object("coalesce") { writer in
                writer.member("key", coalescing.key.description)
                writer.member("keep", coalescing.keep.rawValue)
                if coalescing.among != .queued { writer.member("among", coalescing.among.rawValue) }
            }
        }
        if request.interrupts { member("whenBusy", WhenBusy.interrupt.rawValue) }
    }

    /// How long participants have to become ready, and what happens if they are not.
    mutating func readyMembers(of request: TransitionRequest) {
        member("readySeconds", request.ready)
        member("onUnready", request.onUnready.rawValue)
    }

    /// Participants with their states.
    mutating func member(_ participants: [Participant]) {
        array("participants", participants) { writer, participant in
            writer.object { writer in
                writer.member("client", participant.client.description)
                writer.member("required", participant.isRequired)
                if participant.mayVeto { writer.member("mayVeto", true) }
                if let asked = participant.asked { writer.member("guard", asked.by.description) }
                writer.member("state", participant.state.rawValue)
            }
        }
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

    /// The current state of the participants and of the gesture.
    mutating func cooperationMembers(of view: TransitionView) {
        let transition = view.transition
        if let session = transition.session { member("session", session.description) }
        if transition.request.isInteractive, !transition.isEnded || transition.gesture != nil {
            object("interaction") { $0.interactionMembers(of: view) }
        }
        guard !transition.participants.isEmpty else { return }
        readyMembers(of: transition.request)
        if let remaining = view.remaining.ready { member("readyRemaining", remaining) }
        member(transition.participants)
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

/// The phase of a gesture.
enum InteractionPhase: String, Hashable, Sendable, CaseIterable {
    /// The transition is not granted yet, and the gesture is not decided.
    case possible
    /// The gesture can be driven, but has made no progress yet.
    case began
    case changing
    /// The gesture is decided.
    case released
}

extension TransitionView {
    var interactionPhase: InteractionPhase {
        if transition.gesture != nil { return .released }
        if transition.grant == nil { return .possible }
        return progress == nil ? .began : .changing
    }

    /// How long the rest of a decided gesture takes; `nil` before the grant.
    var remainingGesture: Duration? {
        guard let gesture = transition.gesture, let grant = transition.grant else { return nil }
        return grant.animation.map { gesture.remaining(of: $0) }
    }
}

/// What the policy of a gesture depends on.
enum GesturePolicyKind: String, Hashable, Sendable, CaseIterable {
    case fraction
    case velocity
}
