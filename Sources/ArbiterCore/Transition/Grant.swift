extension Transition {
    /// The values that a transition gets at its grant; a class, so that a copy costs no more than a reference.
    package final class Grant: Sendable {
        package let fence: Fence
        package let grantedAt: Timestamp
        /// The same on the arbiter's clock.
        let instant: Instant
        /// The revision of the hierarchy at the grant.
        package let revision: Revision
        /// The controller that really presents, or that presents what is dismissed.
        package let presenter: ControllerID?
        /// The resolved animation; `nil` if there is nothing to animate.
        package let animation: Animation?
        /// The appearance events that the views get when it begins to run.
        package let appearance: [AppearanceEvent]
        /// What its segue became, or each operation of its list; none if no segue is among them.
        package let resolved: [ResolvedSegue]
        /// The rules under which its operation was planned, and is carried out; other ones may plan it in another way.
        let rules: Rules

        init(
            fence: Fence, grantedAt: Timestamp, instant: Instant, revision: Revision, presenter: ControllerID?,
            animation: Animation?, appearance: [AppearanceEvent], resolved: [ResolvedSegue], rules: Rules
        ) {
            self.fence = fence
            self.grantedAt = grantedAt
            self.instant = instant
            self.revision = revision
            self.presenter = presenter
            self.animation = animation
            self.appearance = appearance
            self.resolved = resolved
            self.rules = rules
        }

        /// The same grant of a transition that has got its operation since.
        func performing(
            _ plan: OperationPlan, animation: Animation?, resolved: [ResolvedSegue], rules: Rules
        ) -> Grant {
            Grant(
                fence: fence, grantedAt: grantedAt, instant: instant, revision: revision, presenter: plan.presenter,
                animation: animation, appearance: plan.beginning, resolved: resolved, rules: rules)
        }

        /// The same grant of a transition whose owner has changed how it is animated.
        func animated(by animation: Animation?) -> Grant {
            Grant(
                fence: fence, grantedAt: grantedAt, instant: instant, revision: revision, presenter: presenter,
                animation: animation, appearance: appearance, resolved: resolved, rules: rules)
        }

        /// The same grant without appearance events, for a transition that ended before it ran.
        var untold: Grant {
            Grant(
                fence: fence, grantedAt: grantedAt, instant: instant, revision: revision, presenter: presenter,
                animation: animation, appearance: [], resolved: resolved, rules: rules)
        }
    }
}

extension Transition.Grant: Hashable {
    package static func == (left: Transition.Grant, right: Transition.Grant) -> Bool {
        left === right
            || left.fence == right.fence && left.grantedAt == right.grantedAt && left.instant == right.instant
                && left.revision == right.revision && left.presenter == right.presenter
                && left.animation == right.animation && left.appearance == right.appearance
                && left.resolved == right.resolved && left.rules == right.rules
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(fence)
    }
}

extension Transition.Grant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(fence)
        writer.write(grantedAt)
        writer.write(instant)
        writer.write(revision)
        writer.write(presenter)
        writer.write(animation)
        writer.write(appearance)
        writer.write(ResolvedSegues(of: resolved))
        writer.write(rules)
    }

    package convenience init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            fence: try reader.read(), grantedAt: try reader.read(), instant: try reader.read(),
            revision: try reader.read(), presenter: try reader.readOptional(), animation: try reader.readOptional(),
            appearance: try reader.readArray(), resolved: try reader.read(ResolvedSegues.self).all,
            rules: try reader.read())
    }
}

/// What the segues of a grant became, as it is stored: a list has several.
private struct ResolvedSegues: BinaryCodable {
    let all: [ResolvedSegue]

    init(of all: [ResolvedSegue]) { self.all = all }

    func encode(to writer: inout BinaryWriter) {
        writer.write(UInt8(min(all.count, 2)))
        if all.count > 1 { writer.write(all) } else if let only = all.first { writer.write(only) }
    }

    init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: all = []
        case 1: all = [try reader.read()]
        case 2: all = try reader.readArray()
        default: throw reader.malformed("what segues became")
        }
    }
}
