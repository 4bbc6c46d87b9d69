/// What several changes of a hierarchy come to in the whole: a controller that comes and goes in between is not part of it.
struct NetChange {
    let before: Hierarchy
    let after: Hierarchy
    /// What the changes were; a controller may have arrived and departed several times.
    let change: HierarchyChange
    /// The controllers of `before` that are gone; others may have their ids now.
    private let gone: Set<ControllerID>

    init(from before: Hierarchy, to after: Hierarchy, by change: HierarchyChange) {
        self.before = before
        self.after = after
        self.change = change
        gone = Set(change.departed.filter { before[$0] != nil })
    }

    /// Whether a controller is there that was not, even if another one had its id.
    private func isNew(_ id: ControllerID) -> Bool {
        after[id] != nil && (before[id] == nil || gone.contains(id))
    }

    /// The new controllers whose container or presenter is not new.
    private var arrivals: [ControllerID] {
        change.arrived.filter { isNew($0) && after[$0]?.parent.map(isNew) != true }.lastOccurrences
    }

    /// The controllers that are gone, and whose container or presenter is not.
    private var departures: [ControllerID] {
        change.departed.filter { gone.contains($0) && before[$0]?.parent.map(gone.contains) != true }.firstOccurrences
    }

    /// Whether everything is as it was, where the changes touched it.
    func isNothing(touching touched: TouchedControllers) -> Bool {
        guard gone.isEmpty, !change.arrived.contains(where: isNew) else { return false }
        return remaining(touched).allSatisfy { before[$0] == after[$0] }
    }

    /// Those of the touched controllers that were there and have remained.
    private func remaining(_ touched: TouchedControllers) -> [ControllerID] {
        switch touched {
        case .all: after.preorder.map(\.id).filter { !isNew($0) }
        case .some(let ids): ids.firstOccurrences.filter { after[$0] != nil && !isNew($0) }
        }
    }
}

// MARK: - What is told of it

extension NetChange {
    /// The inserted controllers that the plans name, without those that have gone again; and those that came with one of these.
    func inserted(of plans: [OperationPlan]) -> [ControllerID] {
        (plans.flatMap(\.inserted).filter(isNew).lastOccurrences + arrivals).firstOccurrences
    }

    /// The removed controllers that the plans name, without those that had come before; and those that went with one of these.
    func removed(of plans: [OperationPlan]) -> [ControllerID] {
        (plans.flatMap(\.removed).filter(gone.contains) + departures).firstOccurrences
    }

    /// The controllers whose views disappear, and those whose views appear.
    var seen: (disappearing: [ControllerID], appearing: [ControllerID]) {
        let visible = (before: before.visible, after: after.visible)
        let (earlier, later) = (Set(visible.before), Set(visible.after))
        return (
            visible.before.filter { !later.contains($0) || gone.contains($0) },
            visible.after.filter { !earlier.contains($0) || gone.contains($0) }
        )
    }

    /// The edits that make the new hierarchy of the old one; if controllers have moved to other containers, the new one as a whole.
    ///
    /// `touched` is what the changes touched.
    func told(touching touched: TouchedControllers) -> HierarchyUpdate.Change {
        let remainingMoved = remaining(.some(change.moved))
        guard remainingMoved.allSatisfy({ before[$0]?.parent == after[$0]?.parent }) else { return .replaced(after) }
        var edits = departures.map { OperationPlan.Edit.remove($0) }
        for id in arrivals {
            guard let place = after.place(of: id) else { return .replaced(after) }
            edits.append(.insert(after.subtree(from: id), at: place))
        }
        var edited = before
        edited.apply(edits)
        for id in remaining(touched) {
            guard let content = after[id]?.content, let now = edited[id] else { continue }
            if case .tabs(let tabs, let selected) = content, case .tabs(_, let shown)? = before[id]?.content {
                // Not everybody who follows changes what is selected when a tab goes.
                if now.children != tabs {
                    edits.append(.arrangeTabs(tabs: id, children: tabs, selected: selected))
                } else if shown != selected || now.content != content {
                    edits.append(.select(tabs: id, index: selected))
                }
            } else if now.content != content {
                guard let edit = now.edit(to: content) else { return .replaced(after) }
                edits.append(edit)
            }
        }
        return .edited(edits)
    }
}

extension Controller {
    /// The edit that gives it the same children in another order, or shows others of them; `nil` if there is none.
    fileprivate func edit(to content: Content) -> OperationPlan.Edit? {
        switch (self.content, content) {
        case (.navigation, .navigation(let stack)): .arrange(navigation: id, stack: stack)
        case (.split(let old), .split(let new)):
            old.all == new.all ? .arrangeColumns(split: id, isCollapsed: new.isCollapsed, pushed: new.pushed) : nil
        default: nil
        }
    }
}

extension Hierarchy {
    /// Where a controller is; `nil` if its parent does not have it.
    fileprivate func place(of controller: ControllerID) -> OperationPlan.Place? {
        guard let parent = self[controller]?.parent.flatMap({ self[$0] }) else { return .root }
        if parent.presented == controller { return .presented(by: parent.id) }
        switch parent.content {
        case .view: return nil
        case .navigation: return .top(ofNavigation: parent.id)
        case .tabs: return .tab(ofTabs: parent.id)
        case .split(let columns): return columns.column(of: controller).map { .column($0, ofSplit: parent.id) }
        }
    }

    /// A controller with everything below it.
    fileprivate func subtree(from top: ControllerID) -> Hierarchy {
        var subtree = Hierarchy()
        subtree.root = top
        for controller in preorder(from: top) { subtree.controllers[controller.id] = controller }
        subtree.controllers[top]?.parent = nil
        return subtree
    }
}

extension [ControllerID] {
    fileprivate var firstOccurrences: [ControllerID] {
        var known: Set<ControllerID> = []
        return filter { known.insert($0).inserted }
    }

    fileprivate var lastOccurrences: [ControllerID] { reversed().firstOccurrences.reversed() }
}
