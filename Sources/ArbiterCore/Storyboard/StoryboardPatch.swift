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
        /// The new type, or none.
        package var type: TransitionTypeName??
        /// Within `Limits.leaseDurations`.
        package var lease: Duration?
        package var scope: Storyboard.DefaultScope?
        package var priority: Priority?
        package var interruptibility: Interruptibility?

        package init(
            duration: Duration? = nil, curve: AnimationCurve? = nil, type: TransitionTypeName?? = nil,
            lease: Duration? = nil, scope: Storyboard.DefaultScope? = nil, priority: Priority? = nil,
            interruptibility: Interruptibility? = nil
        ) {
            self.duration = duration
            self.curve = curve
            self.type = type
            self.lease = lease
            self.scope = scope
            self.priority = priority
            self.interruptibility = interruptibility
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
            type: patch.defaults.type ?? defaults.type, lease: patch.defaults.lease ?? defaults.lease,
            scope: patch.defaults.scope ?? defaults.scope,
            priority: patch.defaults.priority ?? defaults.priority,
            consent: patch.defaults.interruptibility.map(\.consent) ?? defaults.consent)
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
