/// How a gesture that drives a transition ends.
package enum GestureDecision: String, Hashable, Sendable, CaseIterable {
    case finish
    case cancel
}

/// What decides a gesture that is released without an explicit decision.
package enum GesturePolicy: Hashable, Sendable {
    /// It finishes if its fraction is strictly greater than this, 0 to 1.
    case fraction(threshold: Double)
    /// It finishes if its velocity is greater than 0.
    case velocity

    package static let standard = GesturePolicy.fraction(threshold: 0.5)
}

/// Where a finger is.
package struct GestureProgress: Hashable, Sendable {
    /// 0 to 1; what is given beyond is taken for the nearer end.
    package var fraction: Double
    package var velocity: Double?
    /// By which what comes late is known as such.
    package var sequence: UInt64?

    package init(fraction: Double, velocity: Double? = nil, sequence: UInt64? = nil) {
        self.fraction = min(max(fraction, 0), 1)
        self.velocity = velocity
        self.sequence = sequence
    }
}

/// The end of a gesture, as its owner tells it.
package struct GestureRelease: Hashable, Sendable {
    package var decision: GestureDecision?
    /// Where it was released, 0 to 1; without it, where it was last.
    package var fraction: Double?
    package var velocity: Double?
    /// The system took the gesture away: it cancels, whatever else is said.
    package var isCancelled: Bool

    package init(
        decision: GestureDecision? = nil, fraction: Double? = nil, velocity: Double? = nil, isCancelled: Bool = false
    ) {
        self.decision = decision
        self.fraction = fraction.map { min(max($0, 0), 1) }
        self.velocity = velocity
        self.isCancelled = isCancelled
    }

    /// What it comes to, with what was known of the gesture last.
    func decision(by policy: GesturePolicy, after last: GestureProgress?) -> GestureDecision {
        if isCancelled { return .cancel }
        if let decision { return decision }
        switch policy {
        case .fraction(let threshold): return (fraction ?? last?.fraction ?? 0) > threshold ? .finish : .cancel
        case .velocity: return (velocity ?? last?.velocity ?? 0) > 0 ? .finish : .cancel
        }
    }
}

/// What was decided of a gesture, once and for all.
package struct DecidedGesture: Hashable, Sendable {
    package let decision: GestureDecision
    /// Where it was decided; 0 before the grant, where there was nothing to see of it.
    package let fraction: Double

    package init(decision: GestureDecision, fraction: Double) {
        self.decision = decision
        self.fraction = fraction
    }

    /// How long the rest of an animation takes.
    package func remaining(of animation: Animation) -> Duration {
        let share = decision == .finish ? 1 - fraction : fraction
        return animation.duration * share / animation.completionSpeed
    }
}
