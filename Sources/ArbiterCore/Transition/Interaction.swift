/// The decision about the gesture of an interactive transition.
package enum GestureDecision: String, Hashable, Sendable, CaseIterable {
    case finish
    case cancel
}

/// The rule that decides a gesture when its release has no explicit decision.
package enum GesturePolicy: Hashable, Sendable {
    /// Finishes if the fraction is strictly greater than the threshold, which is 0 to 1.
    case fraction(threshold: Double)
    /// Finishes if the velocity is greater than 0.
    case velocity

    package static let standard = GesturePolicy.fraction(threshold: 0.5)
}

/// The position of the finger that drives an interactive transition.
package struct GestureProgress: Hashable, Sendable {
    /// 0 to 1; a value outside this range is clamped.
    package var fraction: Double
    package var velocity: Double?
    /// Increases with each progress of a gesture, so that late ones can be ignored; `nil` if the client does not count.
    package var sequence: UInt64?

    package init(fraction: Double, velocity: Double? = nil, sequence: UInt64? = nil) {
        self.fraction = min(max(fraction, 0), 1)
        self.velocity = velocity
        self.sequence = sequence
    }
}

/// The end of a gesture, as the owner reports it.
package struct GestureRelease: Hashable, Sendable {
    package var decision: GestureDecision?
    /// The fraction at the release, 0 to 1; without it, the last progress counts.
    package var fraction: Double?
    package var velocity: Double?
    /// Whether the system cancelled the gesture; then the decision is always `cancel`.
    package var isCancelled: Bool
    /// How much faster than its duration the rest of the animation is, within `Limits.completionSpeeds`.
    package var completionSpeed: Double?

    package init(
        decision: GestureDecision? = nil, fraction: Double? = nil, velocity: Double? = nil, isCancelled: Bool = false,
        completionSpeed: Double? = nil
    ) {
        self.decision = decision
        self.fraction = fraction.map { min(max($0, 0), 1) }
        self.velocity = velocity
        self.isCancelled = isCancelled
        self.completionSpeed = completionSpeed
    }

    /// The decision: explicit, or by the policy, which uses the last progress for values that the release lacks.
    func decision(by policy: GesturePolicy, after last: GestureProgress?) -> GestureDecision {
        if isCancelled { return .cancel }
        if let decision { return decision }
        switch policy {
        case .fraction(let threshold): return (fraction ?? last?.fraction ?? 0) > threshold ? .finish : .cancel
        case .velocity: return (velocity ?? last?.velocity ?? 0) > 0 ? .finish : .cancel
        }
    }
}

/// The decision about a gesture, which never changes.
package struct DecidedGesture: Hashable, Sendable {
    package let decision: GestureDecision
    /// The fraction at the release; 0 if the gesture was decided before the grant, when nothing had moved.
    package let fraction: Double
    /// Replaces the animation's, within `Limits.completionSpeeds`; `nil` if the release named none.
    package let completionSpeed: Double?

    package init(decision: GestureDecision, fraction: Double, completionSpeed: Double? = nil) {
        self.decision = decision
        self.fraction = fraction
        self.completionSpeed = completionSpeed
    }

    /// How long the rest of the animation takes after the release: of the whole, times its share, by the speed.
    package func remaining(of animation: Animation) -> Duration {
        let share = decision == .finish ? 1 - fraction : fraction
        return animation.duration * share / (completionSpeed ?? animation.completionSpeed)
    }
}

extension Animation {
    /// The animation after the release of a gesture, which may have set its completion speed.
    package func completed(by gesture: DecidedGesture?) -> Animation {
        guard let speed = gesture?.completionSpeed else { return self }
        return Animation(
            type: type, duration: duration, curve: curve, completionSpeed: speed, userInfo: userInfo,
            isReversed: isReversed, direction: direction)
    }
}
