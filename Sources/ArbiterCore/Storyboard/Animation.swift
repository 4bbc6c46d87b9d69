/// How a change is spread over time.
package enum AnimationCurve: String, Hashable, Sendable, CaseIterable {
    case linear
    case easeIn
    case easeOut
    case easeInOut
}

/// Which way an animation goes.
package enum AnimationDirection: String, Hashable, Sendable, CaseIterable {
    case forward
    case backward
}

/// What a request says about its animation.
package struct AnimationRequest: Hashable, Sendable {
    package var type: TransitionTypeName?
    /// Within `Limits.animationDurations`.
    package var duration: Duration?
    package var curve: AnimationCurve?
    /// How much faster than its duration it is completed, within `Limits.completionSpeeds`.
    package var completionSpeed: Double?
    /// JSON of `Limits.userInfoBytes` at most, which nobody here reads.
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

/// An animation as it was settled at the grant: by the request, else by its type, else by the scene's defaults.
package struct Animation: Hashable, Sendable {
    package let type: TransitionTypeName?
    package let duration: Duration
    package let curve: AnimationCurve
    package let completionSpeed: Double
    package let userInfo: [UInt8]?
    package let isReversed: Bool
    package let direction: AnimationDirection
}
