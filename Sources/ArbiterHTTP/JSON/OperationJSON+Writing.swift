internal import ArbiterCore

// Operations, and what segues became, as they are shown.

extension JSONWriter {
    /// Writes an operation as it was requested: `operation`, or the list `operations`.
    mutating func member(_ operation: Operation) {
        if case .list(let operations) = operation {
            array("operations", operations) { writer, operation in writer.object { $0.members(of: operation) } }
        } else {
            object("operation") { $0.members(of: operation) }
        }
    }

    /// Writes the summary of an operation, or of each one of a list.
    mutating func summary(of kept: KeptOperation) {
        if kept.isList {
            array("operations", kept.parts) { writer, part in
                writer.object { $0.members(of: part.outline, bringing: part.arrivalCounts) }
            }
        } else {
            object("operation") { $0.members(of: kept.outline, bringing: kept.arrivalCounts) }
        }
    }

    /// Writes the members of an operation, which is no list.
    ///
    /// With `counts`, writes a summary: the roots and the number of the controllers to insert. The operation's outline
    /// is enough for that.
    ///
    /// - Parameters:
    ///   - operation: the operation, or its outline.
    ///   - type: another type than the operation's own.
    ///   - counts: how much it inserts, for a summary.
    mutating func members(of operation: Operation, as type: String? = nil, bringing counts: ArrivalCounts? = nil) {
        if let type = type ?? operation.type?.rawValue { member("type", type) }
        switch operation {
        case .present(let presenter, let controller):
            if let presenter { member("presenter", presenter) }
            arrival(controller, counts)
        case .dismiss(let controller):
            member("controller", controller)
        case .push(let navigation, let controller):
            member("navigation", navigation)
            arrival(controller, counts)
        case .pop(let navigation), .popToRoot(let navigation):
            member("navigation", navigation)
        case .popTo(let navigation, let controller):
            member("navigation", navigation)
            member("controller", controller)
        case .setStack(let navigation, let controllers):
            member("navigation", navigation)
            arrivals(controllers, counts)
        case .select(let tabs, .index(let index)):
            member("tabs", tabs)
            member("index", index)
        case .select(let tabs, .controller(let controller)):
            member("tabs", tabs)
            member("controller", controller)
        case .showDetail(let split, let controller):
            member("split", split)
            arrival(controller, counts)
        case .select(let tabs, .offset(let offset)):
            member("tabs", tabs)
            member("offset", offset)
        case .setColumn(let split, let column, let controller):
            member("split", split)
            member("column", column.rawValue)
            if let controller {
                arrival(controller, counts)
            } else if counts == nil {
                begin("controller")
                null()
            }
        case .showColumn(let split, let column):
            member("split", split)
            member("column", column.rawValue)
        case .collapse(let split, let top):
            member("split", split)
            if let top { member("topColumn", top.rawValue) }
        case .expand(let split):
            member("split", split)
        case .setTabs(let tabs, let controllers, let selected):
            member("tabs", tabs)
            arrivals(controllers, counts)
            if let selected { member("selected", selected) }
        case .insertTab(let tabs, let controller, let index):
            member("tabs", tabs)
            arrival(controller, counts)
            if let index { member("index", index) }
        case .removeTab(let tabs, let controller):
            member("tabs", tabs)
            member("controller", controller)
        case .setRoot(let controller):
            arrival(controller, counts)
        case .segue(let source, let identifier, let destination):
            member("source", source)
            member("identifier", identifier.description)
            if let destination { arrival(destination, counts, named: "destination") }
        case .list: preconditionFailure("a list is written as an array")
        }
    }

    /// Writes what a segue became, or what each operation of a list did; a summary leaves out the list.
    mutating func resolved(_ resolved: [ResolvedSegue], isSummary: Bool) {
        switch resolved.count {
        case 0: break
        case 1: object("resolved") { $0.members(of: resolved[0], isSummary: isSummary) }
        case _ where isSummary: break
        default:
            array("resolved", resolved) { writer, each in
                writer.object { $0.members(of: each, isSummary: false) }
            }
        }
    }

    private mutating func members(of resolved: ResolvedSegue, isSummary: Bool) {
        let type = resolved.form == .operation ? nil : resolved.form.rawValue
        if isSummary {
            members(of: resolved.outline, as: type, bringing: resolved.arrivalCounts)
        } else {
            members(of: resolved.operation, as: type)
        }
    }

    private mutating func arrival(
        _ controller: Hierarchy, _ counts: ArrivalCounts?, named name: StaticString = "controller"
    ) {
        if let counts, let root = controller.root {
            member(name, root)
            member("controllerCount", counts.controllers)
        } else {
            member(name, controller)
        }
    }

    private mutating func arrivals(_ controllers: [Hierarchy], _ counts: ArrivalCounts?) {
        if let counts {
            member("controllerCount", counts.hierarchies)
        } else {
            array("controllers", controllers) { writer, controller in writer.node(of: controller) }
        }
    }

    mutating func member(_ name: StaticString, _ controller: ControllerID) {
        member(name, controller.description)
    }

    mutating func member(_ name: StaticString, _ controllers: [ControllerID]) {
        array(name, controllers) { writer, controller in writer.string(controller.description) }
    }
}
