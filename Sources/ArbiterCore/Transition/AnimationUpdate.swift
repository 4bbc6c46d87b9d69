/// What the owner of an unfinished transition changes of its animation; `nil` for what stays.
package struct AnimationUpdate: Hashable, Sendable {
    /// Within `Limits.animationDurations`.
    package var duration: Duration?
    package var curve: AnimationCurve?
    /// Within `Limits.completionSpeeds`.
    package var completionSpeed: Double?
    /// Any JSON of at most `Limits.userInfoBytes`, passed on unread.
    package var userInfo: [UInt8]?

    package init(
        duration: Duration? = nil, curve: AnimationCurve? = nil, completionSpeed: Double? = nil,
        userInfo: [UInt8]? = nil
    ) {
        self.duration = duration
        self.curve = curve
        self.completionSpeed = completionSpeed
        self.userInfo = userInfo
    }

    /// The same change after an earlier one.
    package func following(_ earlier: AnimationUpdate?) -> AnimationUpdate {
        AnimationUpdate(
            duration: duration ?? earlier?.duration, curve: curve ?? earlier?.curve,
            completionSpeed: completionSpeed ?? earlier?.completionSpeed, userInfo: userInfo ?? earlier?.userInfo)
    }
}

extension Animation {
    /// The same animation with what its owner has changed.
    func changed(by update: AnimationUpdate) -> Animation {
        Animation(
            type: type, duration: update.duration ?? duration, curve: update.curve ?? curve,
            completionSpeed: update.completionSpeed ?? completionSpeed, userInfo: update.userInfo ?? userInfo,
            isReversed: isReversed, direction: direction)
    }
}

extension AnimationUpdate: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(duration)
        writer.writeWord(curve)
        writer.write(completionSpeed)
        writer.write(bytes: userInfo)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            duration: try reader.readOptional(), curve: try reader.readOptionalWord(),
            completionSpeed: try reader.readOptional(), userInfo: try reader.readOptionalBytes())
    }
}
