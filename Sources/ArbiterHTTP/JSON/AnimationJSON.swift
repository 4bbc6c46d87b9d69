internal import ArbiterCore

extension JSONReader {
    /// Reads the animation that a request asks for.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func animation(_ field: String) throws(Problem) -> AnimationRequest {
        var animation = AnimationRequest()
        try object(field) { field, reader throws(Problem) in
            switch field {
            case "type": animation.type = try reader.name(field)
            case "duration": animation.duration = try reader.seconds(field, in: Limits.animationDurations)
            case "curve": animation.curve = try reader.word(field)
            case "completionSpeed": animation.completionSpeed = try reader.double(field, in: Limits.completionSpeeds)
            case "userInfo": animation.userInfo = try reader.rawValue(field, upTo: Limits.userInfoBytes)
            case "reversed": animation.isReversed = try reader.boolean(field)
            case "direction": animation.direction = try reader.word(field)
            default: throw reader.unknown(field)
            }
        }
        return animation
    }
}

extension JSONReader {
    /// Reads what an owner changes of an animation.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func animationUpdate(_ field: String) throws(Problem) -> AnimationUpdate {
        var update = AnimationUpdate()
        try object(field) { field, reader throws(Problem) in
            switch field {
            case "duration": update.duration = try reader.seconds(field, in: Limits.animationDurations)
            case "curve": update.curve = try reader.word(field) as AnimationCurve
            case "completionSpeed": update.completionSpeed = try reader.double(field, in: Limits.completionSpeeds)
            case "userInfo": update.userInfo = try reader.rawValue(field, upTo: Limits.userInfoBytes)
            default: throw reader.unknown(field)
            }
        }
        return update
    }
}

// MARK: - Writing

extension JSONWriter {
    mutating func member(_ name: StaticString, _ animation: Animation) {
        object(name) { writer in
            if let type = animation.type { writer.member("type", type.description) }
            writer.member("duration", exactly: animation.duration)
            writer.member("curve", animation.curve.rawValue)
            writer.member("completionSpeed", animation.completionSpeed)
            writer.member("reversed", animation.isReversed)
            writer.member("direction", animation.direction.rawValue)
            if let userInfo = animation.userInfo { writer.member("userInfo", raw: userInfo) }
        }
    }

    mutating func member(_ name: StaticString, _ animation: AnimationRequest) {
        object(name) { writer in
            if let type = animation.type { writer.member("type", type.description) }
            if let duration = animation.duration { writer.member("duration", exactly: duration) }
            if let curve = animation.curve { writer.member("curve", curve.rawValue) }
            if let speed = animation.completionSpeed { writer.member("completionSpeed", speed) }
            if let isReversed = animation.isReversed { writer.member("reversed", isReversed) }
            if let direction = animation.direction { writer.member("direction", direction.rawValue) }
            if let userInfo = animation.userInfo { writer.member("userInfo", raw: userInfo) }
        }
    }
}
