internal import ArbiterCore

// A hierarchy as nested nodes. They may be nested too deeply for a thread's stack, so reading and writing keep a stack
// of their own.

extension JSONReader {
    /// Reads a node with everything below it; a plain string stands for a view with that id.
    ///
    /// - Parameters:
    ///   - field: the field that contains the node.
    ///   - limit: how many controllers it may have.
    /// - Returns: a hierarchy with the node as its root.
    /// - Throws: a problem that names the field within the node.
    mutating func hierarchy(_ field: String, upTo limit: Int = Limits.controllers) throws(Problem) -> Hierarchy {
        var nodes = NodeReader(name: name(of: field), limit: limit)
        let root = try nodes.read(field, from: &self)
        do throws(HierarchyFault) {
            return try Hierarchy(root: root, controllers: nodes.controllers)
        } catch {
            throw nodes.problem(error)
        }
    }
}

/// Reads nested nodes without recursion.
private struct NodeReader {
    /// The nodes that have been read completely.
    private(set) var controllers: [Controller] = []

    /// The full name of the field that contains the outermost node.
    private let name: String
    private let limit: Int
    /// The nodes that are being read, the outermost first.
    private var open: [NodeDraft] = []

    init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Reads the outermost node.
    ///
    /// - Returns: its id.
    mutating func read(_ field: String, from reader: inout JSONReader) throws(Problem) -> ControllerID {
        var finished = try begin(field, from: &reader)
        while let innermost = open.indices.last {
            if let id = finished { open[innermost].take(id) }
            if let inner = try open[innermost].readOn(from: &reader) {
                finished = try begin(inner, from: &reader)
            } else {
                let controller = try open.removeLast().controller(reader)
                reader.leave()
                controllers.append(controller)
                finished = controller.id
            }
        }
        guard let finished else { preconditionFailure("the node in \(name) was read, but not to its end") }
        return finished
    }

    /// - Returns: the id of a node that is complete, because it is a plain string; `nil` if an object has been opened.
    private mutating func begin(
        _ inner: String, from reader: inout JSONReader
    ) throws(Problem) -> ControllerID? {
        guard open.count < Limits.hierarchyDepth else { throw problem(.tooDeep(limit: Limits.hierarchyDepth)) }
        guard controllers.count + open.count < limit else { throw problem(.tooManyControllers(limit: limit)) }
        switch reader.valueType {
        case .object:
            try reader.openObject(inner)
            open.append(NodeDraft())
            return nil
        case .string:
            let id = try reader.name(inner, as: ControllerID.self)
            controllers.append(Controller(id: id))
            return id
        case .number, .boolean, .null, .array, nil:
            throw try reader.mismatch(inner, "a controller, or the id of a view")
        }
    }

    /// A fault of the whole hierarchy.
    ///
    /// It names the field of the outermost node, because the path to a node may be very
    /// long.
    func problem(_ fault: HierarchyFault) -> Problem {
        .invalid(name, fault.complaint)
    }
}

extension HierarchyFault {
    /// The end of the sentence that begins with the field.
    fileprivate var complaint: String {
        switch self {
        case .tooManyControllers(let limit): "may have \(limit) controllers at most"
        case .tooDeep(let limit): "may have \(limit) controllers at most on a way from its top down"
        case .duplicate(let id): "has the controller \(quoted(id.description)) more than once"
        case .missing(let id): "names the controller \(quoted(id.description)), but does not have it"
        case .unreachable(let id):
            "has the controller \(quoted(id.description)), but no controller has it as a child or presents it"
        case .cannotPushContainer(let id, let navigation):
            "has \(quoted(id.description)) on the stack of \(quoted(navigation.description)), which cannot hold a "
                + "navigation, tabs or split controller, but for a navigation on the stack of a primary column"
        case .noSupplementary(let split):
            "has a supplementary column in the split \(quoted(split.description)), whose style is doubleColumn"
        case .notPushed(let id, let split):
            "names \(quoted(id.description)) as a pushed column of the split \(quoted(split.description)): that has to be "
                + "collapsed, and the column has to be on the stack of its primary column, and only there"
        case .indexOutOfRange(let tabs, let selected):
            "has a tabs controller \(quoted(tabs.description)) without a child number \(selected), counted from 0"
        }
    }
}

// MARK: - Writing

extension JSONWriter {
    /// Writes a node with everything below it; members with their default values are omitted.
    mutating func member(_ name: StaticString, _ hierarchy: Hierarchy, isPresented: Bool = false) {
        var nodes = HierarchyWriter(hierarchy, named: name, isPresented: isPresented)
        nodes.write(to: &self, until: .max)
    }

    /// Writes which columns of a collapsed split stand on its primary's stack; nothing if none do.
    mutating func member(_ name: StaticString, _ pushed: PushedColumns) {
        guard !pushed.isEmpty else { return }
        object(name) { writer in
            if let supplementary = pushed.supplementary { writer.member("supplementary", supplementary) }
            if let secondary = pushed.secondary { writer.member("secondary", secondary) }
        }
    }

    /// Writes the root with everything below it; nothing if the hierarchy is empty.
    mutating func node(of hierarchy: Hierarchy) {
        var nodes = HierarchyWriter(hierarchy)
        nodes.write(to: &self, until: .max)
    }
}

/// Writes the nodes of a hierarchy in pieces.
struct HierarchyWriter: Sendable {
    private let hierarchy: Hierarchy
    /// Whether the root is presented by a controller of another hierarchy.
    private let isPresented: Bool
    /// The pieces that remain, in reverse order.
    private var steps: [Step]

    /// A piece of a node.
    private enum Step {
        case value(ControllerID)
        case elements(ArraySlice<ControllerID>)
        case member(StaticString, ControllerID)
        case endOfChildren
        case afterContent(Controller)
        case end(Controller)
    }

    /// - Parameters:
    ///   - hierarchy: the hierarchy to write; nothing is written if it is empty.
    ///   - name: the name of the member, if it is one.
    ///   - isPresented: whether the root is presented by a controller of another hierarchy.
    init(_ hierarchy: Hierarchy, named name: StaticString? = nil, isPresented: Bool = false) {
        self.hierarchy = hierarchy
        self.isPresented = isPresented
        steps = hierarchy.root.map { root in [name.map { .member($0, root) } ?? .value(root)] } ?? []
    }

    /// Whether everything has been written.
    var isOver: Bool { steps.isEmpty }

    /// Writes until the writer has `count` bytes, or to the end.
    mutating func write(to writer: inout JSONWriter, until count: Int) {
        while writer.bytes.count < count, let step = steps.popLast() {
            switch step {
            case .value(let id):
                begin(id, in: &writer)
            case .elements(let ids):
                guard let id = ids.first else { continue }
                steps.append(.elements(ids.dropFirst()))
                writer.beginElement()
                begin(id, in: &writer)
            case .member(let name, let id):
                writer.begin(name)
                begin(id, in: &writer)
            case .endOfChildren:
                writer.endArray()
            case .afterContent(let controller):
                switch controller.content {
                case .view, .navigation: break
                case .tabs(_, let selected): writer.member("selected", selected)
                case .split(let columns):
                    writer.member("style", columns.style.rawValue)
                    writer.member("collapsed", columns.isCollapsed)
                    writer.member("pushed", columns.pushed)
                }
            case .end(let controller):
                end(controller, in: &writer)
            }
        }
    }

    /// Writes a node up to its children.
    private mutating func begin(_ id: ControllerID, in writer: inout JSONWriter) {
        guard let controller = hierarchy[id] else {
            preconditionFailure("a hierarchy refers to the controller \(id), which it does not have")
        }
        writer.beginObject()
        writer.member("id", id)
        writer.member("kind", controller.kind.rawValue)
        steps.append(.end(controller))
        if let presented = controller.presented { steps.append(.member("presented", presented)) }
        steps.append(.afterContent(controller))
        switch controller.content {
        case .view: break
        case .navigation(let children), .tabs(let children, _):
            writer.begin("children")
            writer.beginArray()
            steps.append(.endOfChildren)
            steps.append(.elements(children[...]))
        case .split(let columns):
            if let supplementary = columns.supplementary { steps.append(.member("supplementary", supplementary)) }
            if let secondary = columns.secondary { steps.append(.member("secondary", secondary)) }
            steps.append(.member("primary", columns.primary))
        }
    }

    private func end(_ controller: Controller, in writer: inout JSONWriter) {
        let isPresented = controller.id == hierarchy.root ? isPresented : hierarchy.presenter(of: controller.id) != nil
        if isPresented || controller.presentationStyle != .fullScreen {
            writer.member("presentationStyle", controller.presentationStyle.rawValue)
        }
        if controller.definesPresentationContext != controller.kind.definesPresentationContext {
            writer.member("definesPresentationContext", controller.definesPresentationContext)
        }
        if let type = controller.introTransitionType { writer.member("introTransitionType", type.description) }
        writer.endObject()
    }
}
