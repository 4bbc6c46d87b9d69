/// A change of a storyboard's segues, transition types and defaults; its hierarchy is changed by transitions only.
package struct StoryboardPatch: Hashable, Sendable {
    /// Each segue at most once.
    package var segues: [SegueChange]
    /// Each transition type at most once.
    package var transitionTypes: [TransitionTypeChange]
    package var defaults: DefaultsChange

    package init(
        segues: [SegueChange] = [], transitionTypes: [TransitionTypeChange] = [],
        defaults: DefaultsChange = DefaultsChange()
    ) {
        self.segues = segues
        self.transitionTypes = transitionTypes
        self.defaults = defaults
    }

    package enum SegueChange: Hashable, Sendable {
        /// Adds the segue, or replaces the one with its source and identifier.
        case set(Segue)
        case remove(SegueIdentifier, source: ControllerID)

        package var identifier: SegueIdentifier {
            switch self {
            case .set(let segue): segue.identifier
            case .remove(let identifier, _): identifier
            }
        }

        package var source: ControllerID {
            switch self {
            case .set(let segue): segue.source
            case .remove(_, let source): source
            }
        }
    }

    package enum TransitionTypeChange: Hashable, Sendable {
        /// Adds the type, or replaces the one with its name.
        case set(TransitionType)
        case remove(TransitionTypeName)

        package var name: TransitionTypeName {
            switch self {
            case .set(let type): type.name
            case .remove(let name): name
            }
        }
    }

    /// The defaults that change; `nil` for one that stays.
    package struct DefaultsChange: Hashable, Sendable {
        /// Within `Limits.animationDurations`.
        package var duration: Duration?
        package var curve: AnimationCurve?
        /// Within `Limits.leaseDurations`.
        package var lease: Duration?
        package var scope: Storyboard.DefaultScope?

        package init(
            duration: Duration? = nil, curve: AnimationCurve? = nil, lease: Duration? = nil,
            scope: Storyboard.DefaultScope? = nil
        ) {
            self.duration = duration
            self.curve = curve
            self.lease = lease
            self.scope = scope
        }
    }
}

extension Storyboard {
    /// The storyboard with a change: entries are replaced in their places, and new ones are added at the end.
    ///
    /// To remove what is not there changes nothing.
    ///
    /// - Throws: `StoryboardFault` as `init` does.
    package func changed(by patch: StoryboardPatch) throws(StoryboardFault) -> Storyboard {
        var changes: [Segue.Key: StoryboardPatch.SegueChange] = [:]
        for change in patch.segues { changes[change.key] = change }
        var segues: [Segue] = []
        for segue in self.segues {
            switch changes.removeValue(forKey: segue.key) {
            case .set(let changed): segues.append(changed)
            case .remove: break
            case nil: segues.append(segue)
            }
        }
        for case .set(let added) in patch.segues where changes[added.key] != nil { segues.append(added) }

        var typeChanges: [TransitionTypeName: StoryboardPatch.TransitionTypeChange] = [:]
        for change in patch.transitionTypes { typeChanges[change.name] = change }
        var types: [TransitionType] = []
        for type in transitionTypes {
            switch typeChanges.removeValue(forKey: type.name) {
            case .set(let changed): types.append(changed)
            case .remove: break
            case nil: types.append(type)
            }
        }
        for case .set(let added) in patch.transitionTypes where typeChanges[added.name] != nil { types.append(added) }

        let defaults = Defaults(
            duration: patch.defaults.duration ?? defaults.duration, curve: patch.defaults.curve ?? defaults.curve,
            lease: patch.defaults.lease ?? defaults.lease, scope: patch.defaults.scope ?? defaults.scope)
        return try Storyboard(hierarchy: hierarchy, segues: segues, transitionTypes: types, defaults: defaults)
    }

    /// The segues that a change replaces by others or removes.
    func segues(lostBy patch: StoryboardPatch) -> [Segue] {
        patch.segues.compactMap { change in
            guard let segue = segue(change.identifier, from: change.source), change != .set(segue) else { return nil }
            return segue
        }
    }

    /// The transition types that a change replaces by others or removes.
    func transitionTypes(lostBy patch: StoryboardPatch) -> [TransitionType] {
        patch.transitionTypes.compactMap { change in
            guard let type = transitionType(change.name), change != .set(type) else { return nil }
            return type
        }
    }
}

extension StoryboardPatch.SegueChange {
    fileprivate var key: Segue.Key { Segue.Key(source: source, identifier: identifier) }
}

// MARK: - Binary form

extension StoryboardPatch: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(segues)
        writer.write(transitionTypes)
        writer.write(defaults.duration)
        writer.writeWord(defaults.curve)
        writer.write(defaults.lease)
        writer.writeWord(defaults.scope)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            segues: try reader.readArray(), transitionTypes: try reader.readArray(),
            defaults: DefaultsChange(
                duration: try reader.readOptional(), curve: try reader.readOptionalWord(),
                lease: try reader.readOptional(), scope: try reader.readOptionalWord()))
    }
}

/// What the entries of a patch begin with.
private enum ChangeCode {
    static let set: UInt8 = 0
    static let remove: UInt8 = 1
}

extension StoryboardPatch.SegueChange: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .set(let segue):
            writer.write(ChangeCode.set)
            writer.write(segue)
        case .remove(let identifier, let source):
            writer.write(ChangeCode.remove)
            writer.write(identifier)
            writer.write(source)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case ChangeCode.set: self = .set(try reader.read())
        case ChangeCode.remove: self = .remove(try reader.read(), source: try reader.read())
        default: throw reader.malformed("a change of a segue")
        }
    }
}

extension StoryboardPatch.TransitionTypeChange: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .set(let type):
            writer.write(ChangeCode.set)
            writer.write(type)
        case .remove(let name):
            writer.write(ChangeCode.remove)
            writer.write(name)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case ChangeCode.set: self = .set(try reader.read())
        case ChangeCode.remove: self = .remove(try reader.read())
        default: throw reader.malformed("a change of a transition type")
        }
    }
}
