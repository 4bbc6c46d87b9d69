internal import ArbiterCore
internal import ArbiterTestKit

// Small random trees over few names, so that requests conflict.

extension SplitMix64 {
    static let names = ["a", "b", "c", "d", "e", "f", "g", "h", "m", "n", "p", "t", "x", "y"].compactMap(
        ControllerID.init)
    static let types = ["fade", "slide", "flip"].compactMap(TransitionTypeName.init)
    static let identifiers = ["next", "back"].compactMap(SegueIdentifier.init)

    /// A random element, or a fallback if there is none.
    mutating func pick<Value>(_ values: [Value], or fallback: Value) -> Value {
        values.randomElement(using: &self) ?? fallback
    }

    mutating func name() -> ControllerID { pick(Self.names, or: Self.names[0]) }

    /// A random storyboard; a wide one has several stacks side by side.
    mutating func storyboard(isWide: Bool) -> Storyboard {
        var segues: [Segue] = []
        for _ in 0..<8 {
            let kind: Segue.Kind = pick(Segue.Kind.allCases, or: .show)
            let segue = Segue(
                identifier: pick(Self.identifiers, or: Self.identifiers[0]), source: name(), kind: kind,
                destination: arrival(avoiding: []))
            let isNew = !segues.contains { $0.source == segue.source && $0.identifier == segue.identifier }
            if isNew { segues.append(segue) }
        }
        let types = Self.types.prefix(2).map {
            TransitionType(name: $0, duration: isOnce(in: 2) ? milliseconds(upTo: 900) : nil, curve: nil)
        }
        let defaults = Storyboard.Defaults(
            duration: milliseconds(upTo: 700), curve: .linear,
            lease: .seconds(Int.random(in: 1...12, using: &self)),
            scope: isOnce(in: 5) ? .scene : .operation, priority: isOnce(in: 6) ? priority() : .standard,
            consent: isOnce(in: 3) ? consent() : nil)
        do throws(StoryboardFault) {
            return try Storyboard(
                hierarchy: isWide ? wideHierarchy() : hierarchy(), segues: segues, transitionTypes: Array(types),
                defaults: defaults)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// A random change of a storyboard: mostly something new or the same again, now and then something else.
    mutating func patch(of storyboard: Storyboard) -> StoryboardPatch {
        var patch = StoryboardPatch()
        for _ in 0..<Int.random(in: 0...2, using: &self) {
            let identifier = pick(Self.identifiers, or: Self.identifiers[0])
            let segue = Segue(
                identifier: identifier, source: name(), kind: pick(Segue.Kind.allCases, or: .show),
                destination: arrival(avoiding: []))
            let change: StoryboardPatch.SegueChange =
                switch Int.random(in: 0..<6, using: &self) {
                case 0: .remove(identifier, source: segue.source)
                case 1: .set(storyboard.segues.randomElement(using: &self) ?? segue)
                default: .set(segue)
                }
            let isNew = !patch.segues.contains {
                $0.source == change.source && $0.identifier == change.identifier
            }
            if isNew { patch.segues.append(change) }
        }
        if isOnce(in: 3) {
            let type = TransitionType(name: pick(Self.types, or: Self.types[0]), duration: milliseconds(upTo: 900))
            patch.transitionTypes.append(isOnce(in: 3) ? .remove(type.name) : .set(type))
        }
        if isOnce(in: 4) {
            let seconds = Int.random(in: 1...12, using: &self)
            patch.defaults.lease = .seconds(seconds)
            // So that histories go on as they did before there were default types, as far as they can.
            patch.defaults.type = seconds < 5 ? .some(Self.types[0]) : seconds < 9 ? .some(nil) : nil
        }
        if isOnce(in: 4) { patch.defaults.scope = isOnce(in: 5) ? .scene : .operation }
        if isOnce(in: 8) { patch.defaults.priority = isOnce(in: 2) ? .standard : priority() }
        if isOnce(in: 8) { patch.defaults.interruptibility = interruptibility() }
        return patch
    }

    /// One of a few priorities, so that some are equal.
    mutating func priority() -> Priority {
        pick([-1_000, -1, 0, 1, 2, 1_000].compactMap { Priority($0) }, or: .standard)
    }

    mutating func interruptibility() -> Interruptibility { isOnce(in: 5) ? .never : .allowed(consent()) }

    private mutating func consent() -> Consent {
        Consent(
            by: pick(Consent.Interrupters.allCases, or: .higher),
            grace: isOnce(in: 4) ? .zero : milliseconds(upTo: 2_000),
            outcome: pick(EndOutcome.allCases, or: .cancelled))
    }

    /// A random hierarchy, now and then an empty one.
    private mutating func hierarchy() -> Hierarchy {
        if isOnce(in: 20) { return Hierarchy() }
        var growing = Growing(names: Self.names.shuffled(using: &self).dropLast(5))
        guard let root = controller(at: 0, in: &growing) else { return Hierarchy() }
        return Self.hierarchy(root, growing)
    }

    /// Two stacks, and beside them two or three more in tabs that define a presentation context.
    private mutating func wideHierarchy() -> Hierarchy {
        var growing = Growing(names: Self.names.shuffled(using: &self)[...])
        let (root, inner) = (growing.names.removeFirst(), growing.names.removeFirst())
        var tabs = [stack(in: &growing), stack(in: &growing)]
        let deeper = (0..<Int.random(in: 2...3, using: &self)).map { _ in stack(in: &growing) }
        growing.controllers.append(
            Controller(id: inner, content: .tabs(deeper, selected: 0), definesPresentationContext: true))
        tabs.insert(inner, at: Int.random(in: 0...2, using: &self))
        growing.controllers.append(
            Controller(id: root, content: .tabs(tabs, selected: Int.random(in: tabs.indices, using: &self))))
        return Self.hierarchy(root, growing)
    }

    private mutating func stack(in growing: inout Growing) -> ControllerID {
        let id = growing.names.removeFirst()
        let views = isOnce(in: 3) ? growing.names.prefix(1) : []
        growing.names.removeFirst(views.count)
        growing.controllers +=
            views.map { Controller(id: $0) } + [Controller(id: id, content: .navigation(Array(views)))]
        return id
    }

    /// Controllers to insert: mostly new ones, now and then one that a ticket waits for.
    mutating func arrival(avoiding taken: [ControllerID], wanted: [ControllerID] = []) -> Hierarchy {
        let free = isOnce(in: 8) ? Self.names : Self.names.filter { !taken.contains($0) }
        var growing = Growing(names: free.shuffled(using: &self)[...])
        if let wanted = wanted.randomElement(using: &self), isOnce(in: 2) {
            growing.names = [wanted] + growing.names.filter { $0 != wanted }
        }
        if growing.names.isEmpty { growing.names = [name()] }
        guard let root = controller(at: isOnce(in: 4) ? 1 : 3, in: &growing) else {
            preconditionFailure("nobody is left to come in")
        }
        return Self.hierarchy(root, growing)
    }

    /// A controller that is presented by the one that defines the context.
    mutating func overlay(avoiding taken: [ControllerID]) -> Hierarchy {
        let id = pick(Self.names.filter { !taken.contains($0) }, or: name())
        let style: PresentationStyle = isOnce(in: 2) ? .currentContext : .overCurrentContext
        return Self.hierarchy(id, Growing(names: [], controllers: [Controller(id: id, presentationStyle: style)]))
    }

    private struct Growing {
        var names: ArraySlice<ControllerID>
        var controllers: [Controller] = []
    }

    private static func hierarchy(_ root: ControllerID, _ growing: Growing) -> Hierarchy {
        do throws(HierarchyFault) {
            return try Hierarchy(root: root, controllers: growing.controllers)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// - Returns: `nil` where no names are left.
    private mutating func controller(at level: Int, in growing: inout Growing) -> ControllerID? {
        guard let id = growing.names.popFirst() else { return nil }
        let content = content(at: level, in: &growing)
        let presents = level < 3 ? isOnce(in: 8) : isOnce(in: 24)
        let presented = presents ? controller(at: max(level, 2), in: &growing) : nil
        growing.controllers.append(
            Controller(
                id: id, content: content, presented: presented,
                presentationStyle: isOnce(in: 3) ? .fullScreen : pick(PresentationStyle.allCases, or: .popover),
                definesPresentationContext: isOnce(in: 3),
                introTransitionType: isOnce(in: 4) ? pick(Array(Self.types.prefix(2)), or: Self.types[0]) : nil))
        return id
    }

    private mutating func content(at level: Int, in growing: inout Growing) -> Controller.Content {
        // Mostly tabs at the top, so that there are subtrees side by side; only views far down.
        let kinds: [ControllerKind] =
            switch level {
            case 0: [.tabs, .tabs, .split, .split, .navigation]
            case 1: [.navigation, .navigation, .navigation, .split, .split, .tabs, .view]
            case 2: [.navigation, .view, .view]
            default: [.view]
            }
        switch pick(kinds, or: .view) {
        case .view:
            return .view
        case .navigation:
            let count = Int.random(in: 0...3, using: &self)
            return .navigation((0..<count).compactMap { _ in controller(at: 3, in: &growing) })
        case .tabs:
            let count = Int.random(in: 1...3, using: &self)
            let tabs = (0..<count).compactMap { _ in controller(at: level + 1, in: &growing) }
            return .tabs(tabs, selected: tabs.isEmpty ? 0 : Int.random(in: tabs.indices, using: &self))
        case .split:
            guard let primary = controller(at: level + 1, in: &growing) else { return .view }
            guard let secondary = controller(at: level + 1, in: &growing) else { return .tabs([primary], selected: 0) }
            let supplementary = isOnce(in: 4) ? controller(at: 3, in: &growing) : nil
            return .split(
                Controller.Columns(
                    primary: primary, secondary: secondary, supplementary: supplementary, isCollapsed: isOnce(in: 2),
                    style: isOnce(in: 3) ? .tripleColumn : nil))
        }
    }
}
