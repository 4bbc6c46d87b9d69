internal import ArbiterCore

extension JSONReader {
    /// Reads the operation of a transition: `{"type": "push", "navigation": "nav", "controller": …}`.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func operation(_ field: String) throws(Problem) -> Operation {
        try openObject(field)
        var draft = OperationDraft()
        var seen: [String] = []
        while let member = try nextMember(&seen) { try draft.read(member, from: &self) }
        let operation = try draft.operation(self)
        leave()
        return operation
    }
}

/// An operation whose members are being read, in any order.
private struct OperationDraft {
    private var type: OperationType?
    private var identifiers: [Member: ControllerID] = [:]
    private var controller: Hierarchy?
    /// The id, if the controller is given by its id only.
    private var controllerID: ControllerID?
    private var controllers: [Hierarchy] = []
    private var index: Int?
    private var segue: SegueIdentifier?

    /// The members that have been read, without the type.
    private var given: [Member] = []

    enum Member: String {
        case presenter
        case controller
        case navigation
        case controllers
        case tabs
        case index
        case split
        case source
        case identifier
    }

    mutating func read(_ field: String, from reader: inout JSONReader) throws(Problem) {
        guard field != "type" else {
            type = try reader.word(field)
            return
        }
        guard let member = Member(rawValue: field) else { throw reader.unknown(field) }
        given.append(member)
        switch member {
        case .presenter, .navigation, .tabs, .split, .source: identifiers[member] = try reader.name(field)
        case .controller:
            let isText = reader.valueType == .string
            let read = try reader.hierarchy(field)
            controller = read
            controllerID = isText ? read.root : nil
        case .controllers: try readControllers(field, from: &reader)
        case .index: index = try reader.integer(field, in: .min ... .max)
        case .identifier: segue = try reader.name(field)
        }
    }

    private mutating func readControllers(_ field: String, from reader: inout JSONReader) throws(Problem) {
        var remaining = Limits.controllers
        try reader.array(field, upTo: Limits.controllers) { element, reader throws(Problem) in
            let controller = try reader.hierarchy(element, upTo: remaining)
            remaining -= controller.count
            controllers.append(controller)
        }
        guard !controllers.isEmpty else { throw reader.invalid(field, "must have one controller at least") }
    }
}

// MARK: - Building the operation

extension OperationDraft {
    /// - Throws: a problem if a member is missing, or if this type of operation does not have it.
    fileprivate func operation(_ reader: JSONReader) throws(Problem) -> Operation {
        guard let type else { throw reader.missing("type") }
        for member in given where !type.members.contains(member) {
            let name = reader.name(of: member.rawValue)
            throw Problem(
                .unknownField, "There is no field \(quoted(name)) in an operation of type \(type.rawValue).",
                field: name)
        }
        for member in type.members where !given.contains(member) && !type.alternatives.contains(member) {
            throw reader.missing(member.rawValue)
        }
        return try operation(of: type, reader)
    }

    private func operation(of type: OperationType, _ reader: JSONReader) throws(Problem) -> Operation {
        switch type {
        case .present: .present(presenter: try id(.presenter, reader), controller: try node(reader))
        case .dismiss: .dismiss(try id(.controller, reader))
        case .push: .push(navigation: try id(.navigation, reader), controller: try node(reader))
        case .pop: .pop(navigation: try id(.navigation, reader))
        case .popTo: .popTo(navigation: try id(.navigation, reader), controller: try id(.controller, reader))
        case .popToRoot: .popToRoot(navigation: try id(.navigation, reader))
        case .setStack: .setStack(navigation: try id(.navigation, reader), controllers: controllers)
        case .select: .select(tabs: try id(.tabs, reader), try tab(reader))
        case .showDetail: .showDetail(split: try id(.split, reader), controller: try node(reader))
        case .segue: .segue(source: try id(.source, reader), try identifier(reader))
        }
    }

    private func id(_ member: Member, _ reader: JSONReader) throws(Problem) -> ControllerID {
        guard member == .controller else {
            guard let id = identifiers[member] else { throw reader.missing(member.rawValue) }
            return id
        }
        guard let controllerID else { throw reader.invalid(member.rawValue, "must be a controller's id") }
        return controllerID
    }

    private func node(_ reader: JSONReader) throws(Problem) -> Hierarchy {
        guard let controller else { throw reader.missing(Member.controller.rawValue) }
        return controller
    }

    private func identifier(_ reader: JSONReader) throws(Problem) -> SegueIdentifier {
        guard let segue else { throw reader.missing(Member.identifier.rawValue) }
        return segue
    }

    private func tab(_ reader: JSONReader) throws(Problem) -> Operation.Tab {
        guard let index else {
            guard controller != nil else { throw reader.missing(Member.index.rawValue) }
            return .controller(try id(.controller, reader))
        }
        guard controller == nil else {
            throw reader.invalid(Member.controller.rawValue, "cannot be given together with an index")
        }
        return .index(index)
    }
}

extension OperationType {
    /// The members that an operation of this type has.
    fileprivate var members: [OperationDraft.Member] {
        switch self {
        case .present: [.presenter, .controller]
        case .dismiss: [.controller]
        case .push: [.navigation, .controller]
        case .pop, .popToRoot: [.navigation]
        case .popTo: [.navigation, .controller]
        case .setStack: [.navigation, .controllers]
        case .select: [.tabs, .index, .controller]
        case .showDetail: [.split, .controller]
        case .segue: [.source, .identifier]
        }
    }

    /// The members of which exactly one must be given.
    fileprivate var alternatives: [OperationDraft.Member] {
        self == .select ? [.index, .controller] : []
    }
}

// MARK: - Writing

extension JSONWriter {
    /// Writes an operation as it was requested.
    ///
    /// With `counts`, writes a summary: the roots and the number of the controllers to insert. The operation's outline
    /// is enough for that.
    mutating func member(_ name: StaticString, _ operation: Operation, bringing counts: ArrivalCounts? = nil) {
        begin(name)
        beginObject()
        member("type", operation.type.rawValue)
        switch operation {
        case .present(let presenter, let controller):
            member("presenter", presenter)
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
            if let counts {
                member("controllerCount", counts.hierarchies)
            } else {
                array("controllers", controllers) { writer, controller in writer.node(of: controller) }
            }
        case .select(let tabs, .index(let index)):
            member("tabs", tabs)
            member("index", index)
        case .select(let tabs, .controller(let controller)):
            member("tabs", tabs)
            member("controller", controller)
        case .showDetail(let split, let controller):
            member("split", split)
            arrival(controller, counts)
        case .segue(let source, let identifier):
            member("source", source)
            member("identifier", identifier.description)
        }
        endObject()
    }

    private mutating func arrival(_ controller: Hierarchy, _ counts: ArrivalCounts?) {
        if let counts, let root = controller.root {
            member("controller", root)
            member("controllerCount", counts.controllers)
        } else {
            member("controller", controller)
        }
    }

    mutating func member(_ name: StaticString, _ controller: ControllerID) {
        member(name, controller.description)
    }

    mutating func member(_ name: StaticString, _ controllers: [ControllerID]) {
        array(name, controllers) { writer, controller in writer.string(controller.description) }
    }
}
