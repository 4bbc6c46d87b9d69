/// The pace of an animation.
package enum AnimationCurve: String, Hashable, Sendable, CaseIterable {
    case linear
    case easeIn
    case easeOut
    case easeInOut
}

/// The direction of an animation.
package enum AnimationDirection: String, Hashable, Sendable, CaseIterable {
    case forward
    case backward
}

/// The animation that a request asks for; the grant fills in what it omits.
package struct AnimationRequest: Hashable, Sendable {
    package var type: TransitionTypeName?
    /// Within `Limits.animationDurations`.
    package var duration: Duration?
    package var curve: AnimationCurve?
    /// The factor by which the end of a gesture's animation is faster than its duration; within
    /// `Limits.completionSpeeds`.
    package var completionSpeed: Double?
    /// Any JSON of at most `Limits.userInfoBytes`, passed on unread.
    package var userInfo: [UInt8]?
    package var isReversed: Bool?
    package var direction: AnimationDirection?

    package init(
        type: TransitionTypeName? = nil, duration: Duration? = nil, curve: AnimationCurve? = nil,
        completionSpeed: Double? = nil, userInfo: [UInt8]? = nil, isReversed: Bool? = nil,
        direction: AnimationDirection? = nil
    ) {
        self.type = type
        self.duration = duration
        self.curve = curve
        self.completionSpeed = completionSpeed
        self.userInfo = userInfo
        self.isReversed = isReversed
        self.direction = direction
    }
}

/// The animation fixed at the grant: from the request, else from its transition type, else from the scene's defaults.
package struct Animation: Hashable, Sendable {
    package let type: TransitionTypeName?
    package let duration: Duration
    package let curve: AnimationCurve
    package let completionSpeed: Double
    package let userInfo: [UInt8]?
    package let isReversed: Bool
    package let direction: AnimationDirection
}
