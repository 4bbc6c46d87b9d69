internal import ArbiterCore

// The changes of a hierarchy, as `hierarchy.changed` says them: each has a `type`, and they are applied in their order.

extension JSONWriter {
    mutating func member(_ name: StaticString, _ change: HierarchyUpdate.Change) {
        switch change {
        case .replaced(let hierarchy):
            array(name, [hierarchy]) { writer, hierarchy in
                writer.object { writer in
                    writer.member("type", "replace")
                    if !hierarchy.isEmpty { writer.member("root", hierarchy) }
                }
            }
        case .edited(let edits):
            array(name, edits) { writer, edit in writer.object { $0.members(of: edit) } }
        }
    }

    private mutating func members(of edit: OperationPlan.Edit) {
        switch edit {
        case .insert(let arrival, let place):
            member("type", "insert")
            member("controller", arrival, isPresented: place.isPresented)
            object("place") { $0.members(of: place) }
        case .remove(let controller):
            member("type", "remove")
            member("id", controller.description)
        case .move(let controller, let place):
            member("type", "move")
            member("id", controller.description)
            object("place") { $0.members(of: place) }
        case .select(let tabs, let index):
            member("type", "select")
            member("id", tabs.description)
            member("selected", index)
        case .arrange(let navigation, let stack):
            member("type", "arrange")
            member("id", navigation.description)
            names("children", stack)
        case .arrangeTabs(let tabs, let children, let selected):
            member("type", "arrange")
            member("id", tabs.description)
            names("children", children)
            member("selected", selected)
        case .arrangeColumns(let split, let isCollapsed, let pushed):
            member("type", isCollapsed ? "collapse" : "expand")
            member("id", split.description)
            member("pushed", pushed)
        }
    }

    private mutating func members(of place: OperationPlan.Place) {
        member("type", place.word)
        if let parent = place.parent { member("parent", parent.description) }
    }

    mutating func names(_ name: StaticString, _ controllers: [ControllerID]) {
        array(name, controllers) { writer, controller in writer.string(controller.description) }
    }
}

extension OperationPlan.Place {
    fileprivate var word: String {
        switch self {
        case .root: "root"
        case .top: "top"
        case .tab: "tab"
        case .presented: "presented"
        case .column(let column, _): column.rawValue
        }
    }

    fileprivate var isPresented: Bool { if case .presented = self { true } else { false } }
}
