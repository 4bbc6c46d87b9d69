internal import ArbiterCore

extension JSONReader {
    /// Reads the operation of a transition: `{"type": "push", "navigation": "nav", "controller": …}`.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func operation(_ field: String) throws(Problem) -> Operation {
        try openObject(field)
        var draft = OperationDraft()
        var seen = MemberNames()
        while let member = try nextMember(&seen) { try draft.read(member, from: &self) }
        let operation = try draft.operation(self)
        leave()
        return operation
    }
}

extension JSONReader {
    /// Reads the operations of a transition: `[{"type": "popToRoot", …}, {"type": "push", …}]`; a list of one is that operation.
    ///
    /// - Throws: a problem that names the field within it.
    mutating func operations(_ field: String) throws(Problem) -> Operation {
        var operations: [Operation] = []
        var remaining = Limits.controllers
        try array(field, upTo: Limits.listedOperations.upperBound) { element, reader throws(Problem) in
            let operation = try reader.operation(element)
            remaining -= operation.arrivals.reduce(0) { $0 + $1.count }
            guard remaining >= 0 else {
                throw reader.invalid(
                    element, "brings in too many controllers: the list has more than \(Limits.controllers)")
            }
            operations.append(operation)
        }
        guard let first = operations.first else { throw invalid(field, "must have one operation at least") }
        return operations.count == 1 ? first : .list(operations)
    }
}

/// An operation whose members are being read, in any order.
private struct OperationDraft {
    private var type: OperationType?
    private var identifiers: [Member: ControllerID] = [:]
    private var controller: Hierarchy?
    /// The id, if the controller is given by its id only.
    private var controllerID: ControllerID?
    /// Whether the controller is `null`.
    private var hasNull = false
    private var controllers: [Hierarchy] = []
    private var index: Int?
    private var offset: Int?
    private var selected: Int?
    private var destination: Hierarchy?
    private var segue: SegueIdentifier?
    private var column: SplitColumn?

    /// The members that have been read, without the type.
    private var given: [Member] = []

    enum Member: String {
        case presenter
        case controller
        case navigation
        case controllers
        case tabs
        case index
        case offset
        case selected
        case split
        case column
        case topColumn
        case source
        case identifier
        case destination
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
            hasNull = try reader.isNull()
            guard !hasNull else { return }
            let isText = reader.valueType == .string
            let read = try reader.hierarchy(field)
            controller = read
            controllerID = isText ? read.root : nil
        case .controllers: try readControllers(field, from: &reader)
        case .index: index = try reader.integer(field, in: .min ... .max)
        case .offset: offset = try reader.integer(field, in: .min ... .max)
        case .selected: selected = try reader.integer(field, in: .min ... .max)
        case .destination: destination = try reader.hierarchy(field)
        case .identifier: segue = try reader.name(field)
        case .column, .topColumn: column = try reader.word(field)
        }
    }

    private mutating func readControllers(_ field: String, from reader: inout JSONReader) throws(Problem) {
        var remaining = Limits.controllers
        try reader.array(field, upTo: Limits.controllers) { element, reader throws(Problem) in
            let controller = try reader.hierarchy(element, upTo: remaining)
            remaining -= controller.count
            controllers.append(controller)
        }
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
        if hasNull, type != .setColumn {
            throw reader.invalid(Member.controller.rawValue, "must be a controller, or the id of a view")
        }
        for member in type.members where !given.contains(member) {
            guard type.alternatives.contains(member) || type.optional.contains(member) else {
                throw reader.missing(member.rawValue)
            }
        }
        return try operation(of: type, reader)
    }

    private func operation(of type: OperationType, _ reader: JSONReader) throws(Problem) -> Operation {
        switch type {
        case .present: .present(presenter: identifiers[.presenter], controller: try node(reader))
        case .dismiss: .dismiss(try id(.controller, reader))
        case .push: .push(navigation: try id(.navigation, reader), controller: try node(reader))
        case .pop: .pop(navigation: try id(.navigation, reader))
        case .popTo: .popTo(navigation: try id(.navigation, reader), controller: try id(.controller, reader))
        case .popToRoot: .popToRoot(navigation: try id(.navigation, reader))
        case .setStack: .setStack(navigation: try id(.navigation, reader), controllers: try stack(reader))
        case .select: .select(tabs: try id(.tabs, reader), try tab(reader))
        case .showDetail: .showDetail(split: try id(.split, reader), controller: try node(reader))
        case .setColumn: try setColumn(reader)
        case .showColumn: .showColumn(split: try id(.split, reader), try column(reader))
        case .collapse: .collapse(split: try id(.split, reader), topColumn: column)
        case .expand: .expand(split: try id(.split, reader))
        case .setTabs: .setTabs(tabs: try id(.tabs, reader), controllers: controllers, selected: selected)
        case .insertTab: .insertTab(tabs: try id(.tabs, reader), controller: try node(reader), index: index)
        case .removeTab: .removeTab(tabs: try id(.tabs, reader), controller: try id(.controller, reader))
        case .setRoot: .setRoot(try node(reader))
        case .segue: .segue(source: try id(.source, reader), try identifier(reader), destination: destination)
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

    private func stack(_ reader: JSONReader) throws(Problem) -> [Hierarchy] {
        guard !controllers.isEmpty else {
            throw reader.invalid(Member.controllers.rawValue, "must have one controller at least")
        }
        return controllers
    }

    private func node(_ reader: JSONReader) throws(Problem) -> Hierarchy {
        guard let controller else { throw reader.missing(Member.controller.rawValue) }
        return controller
    }

    private func identifier(_ reader: JSONReader) throws(Problem) -> SegueIdentifier {
        guard let segue else { throw reader.missing(Member.identifier.rawValue) }
        return segue
    }

    private func column(_ reader: JSONReader) throws(Problem) -> SplitColumn {
        guard let column else { throw reader.missing(Member.column.rawValue) }
        return column
    }

    private func setColumn(_ reader: JSONReader) throws(Problem) -> Operation {
        let column = try column(reader)
        if column == .primary, controller == nil {
            throw reader.invalid(Member.controller.rawValue, "must not be null for the primary column")
        }
        return .setColumn(split: try id(.split, reader), column, controller: controller)
    }

    private func tab(_ reader: JSONReader) throws(Problem) -> Operation.Tab {
        let alternatives = OperationType.select.alternatives.filter(given.contains)
        guard let first = alternatives.first else { throw reader.missing(Member.index.rawValue) }
        if alternatives.count > 1 {
            throw reader.invalid(alternatives[1].rawValue, "cannot be given together with \(quoted(first.rawValue))")
        }
        if let index { return .index(index) }
        if let offset { return .offset(offset) }
        return .controller(try id(.controller, reader))
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
        case .select: [.tabs, .index, .controller, .offset]
        case .showDetail: [.split, .controller]
        case .setColumn: [.split, .column, .controller]
        case .showColumn: [.split, .column]
        case .collapse: [.split, .topColumn]
        case .expand: [.split]
        case .setTabs: [.tabs, .controllers, .selected]
        case .insertTab: [.tabs, .controller, .index]
        case .removeTab: [.tabs, .controller]
        case .setRoot: [.controller]
        case .segue: [.source, .identifier, .destination]
        }
    }

    /// The members of which exactly one must be given.
    fileprivate var alternatives: [OperationDraft.Member] {
        self == .select ? [.index, .controller, .offset] : []
    }

    /// The members that may be missing.
    fileprivate var optional: [OperationDraft.Member] {
        switch self {
        case .present: [.presenter]
        case .setTabs: [.selected]
        case .collapse: [.topColumn]
        case .insertTab: [.index]
        case .segue: [.destination]
        case .dismiss, .push, .pop, .popTo, .popToRoot, .setStack, .select, .showDetail, .setColumn, .showColumn,
            .expand, .removeTab, .setRoot:
            []
        }
    }
}
