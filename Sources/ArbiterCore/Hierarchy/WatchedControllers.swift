/// Controllers that watchers have conditions on, as a tree, so that a change finds the conditions that it may have changed.
///
/// A condition on a controller depends on the containers and presenters above it. So a change can only affect conditions on the
/// controllers that it touches, and on those below them. Filing costs the depth of the controller. Finding costs what is found.
struct WatchedControllers<Watcher: Hashable & Sendable>: Sendable {
    /// The watched controllers, and all above them.
    private var nodes: [ControllerID: Node] = [:]
    /// Those whose conditions any change may have changed.
    private var watchingAll: Set<Watcher> = []

    private struct Node: Sendable {
        var parent: ControllerID?
        var children: Set<ControllerID> = []
        var watchers: Set<Watcher> = []
    }

    var isEmpty: Bool { nodes.isEmpty && watchingAll.isEmpty }

    /// Files a watcher at the controllers of its conditions, as they stand in a hierarchy.
    mutating func insert(_ watcher: Watcher, on expectations: some Sequence<Expectation>, in hierarchy: Hierarchy) {
        for expectation in expectations {
            switch expectation {
            case .revision: watchingAll.insert(watcher)
            case .controller(let id, _, _): insert(watcher, at: id, in: hierarchy)
            }
        }
    }

    private mutating func insert(_ watcher: Watcher, at controller: ControllerID, in hierarchy: Hierarchy) {
        var (below, next) = (ControllerID?.none, ControllerID?.some(controller))
        // Above one that is known, all are.
        while let id = next {
            let isKnown = nodes[id] != nil
            let parent = hierarchy[id]?.parent
            if let below {
                nodes[id, default: Node(parent: parent)].children.insert(below)
            } else {
                nodes[id, default: Node(parent: parent)].watchers.insert(watcher)
            }
            if isKnown { return }
            (below, next) = (id, parent)
        }
    }

    /// Removes a watcher from where it is filed.
    mutating func remove(_ watcher: Watcher, on expectations: some Sequence<Expectation>) {
        watchingAll.remove(watcher)
        for case .controller(let id, _, _) in expectations {
            nodes[id]?.watchers.remove(watcher)
            prune(id)
        }
    }

    /// Removes a controller that nobody watches, and those above it of which the same is true then.
    private mutating func prune(_ controller: ControllerID) {
        var next = ControllerID?.some(controller)
        while let id = next, let node = nodes[id], node.watchers.isEmpty, node.children.isEmpty {
            nodes[id] = nil
            if let parent = node.parent { nodes[parent]?.children.remove(id) }
            next = node.parent
        }
    }

    /// Removes the watchers whose conditions a change may have changed, at and below the controllers that it touches; those that
    /// go on watching are filed anew.
    ///
    /// - Returns: the watchers; some of them may still be filed elsewhere too.
    mutating func take(touchedBy change: TouchedControllers) -> Set<Watcher> {
        guard !isEmpty else { return [] }
        var found = watchingAll
        switch change {
        case .all:
            for node in nodes.values { found.formUnion(node.watchers) }
            nodes = [:]
        case .some(let ids):
            for id in ids {
                let parent = nodes[id]?.parent
                take(from: id, into: &found)
                guard let parent else { continue }
                nodes[parent]?.children.remove(id)
                prune(parent)
            }
        }
        return found
    }

    private mutating func take(from top: ControllerID, into found: inout Set<Watcher>) {
        var rest = [top]
        while let node = rest.popLast().flatMap({ nodes.removeValue(forKey: $0) }) {
            found.formUnion(node.watchers)
            rest += node.children
        }
    }
}

/// The controllers whose conditions, and those of all below them, a change of the hierarchy may have changed.
enum TouchedControllers: Sendable {
    case all
    case some([ControllerID])
}

extension Hierarchy {
    /// What steps touch that are about to be applied: the containers and presenters that get or lose something, or show something
    /// else, and what comes in.
    func touched(by steps: [OperationPlan.Edit]) -> TouchedControllers {
        var touched: [ControllerID] = []
        for step in steps {
            switch step {
            case .insert(let arrival, let place):
                touched += arrival.preorder.map(\.id)
                if let parent = place.parent { touched.append(parent) }
            case .remove(let controller): touched.append(self[controller]?.parent ?? controller)
            case .move(let controller, let place):
                touched += [self[controller]?.parent, place.parent].compactMap(\.self)
            case .select(let container, _), .arrange(let container, _), .arrangeTabs(let container, _, _),
                .arrangeColumns(let container, _, _):
                touched.append(container)
            }
        }
        return .some(touched)
    }
}
