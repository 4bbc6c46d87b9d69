internal import ArbiterCore

// A hierarchy as a node with others in it. They may be nested deeper than a thread's stack is, so that both ways keep
// a stack of their own.

extension JSONReader {
    /// Reads a node with all that is in it; a plain string stands for a view of that id.
    ///
    /// - Parameters:
    ///   - field: The field that it is in.
    ///   - limit: How many controllers it may have.
    /// - Returns: The node as the topmost of a hierarchy.
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

/// Reads nodes one inside the other.
private struct NodeReader {
    /// Those that have been read to their end.
    private(set) var controllers: [Controller] = []

    /// The whole name of the field that the outermost is in.
    private let name: String
    private let limit: Int
    /// Those that are being read, from the outside in.
    private var open: [NodeDraft] = []

    init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
    }

    /// Reads the outermost node.
    ///
    /// - Returns: Its id.
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

    /// - Returns: The id of a node that is only its id; `nil` where there is more to be read.
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

    /// The complaint about the whole, which names the outermost node: the way to the one at fault may be very long.
    func problem(_ fault: HierarchyFault) -> Problem {
        .invalid(name, fault.complaint)
    }
}

extension HierarchyFault {
    /// What is to be said of the field.
    fileprivate var complaint: String {
        switch self {
        case .tooManyControllers(let limit): "may have \(limit) controllers at most"
        case .tooDeep(let limit): "may have \(limit) controllers at most on a way from its top down"
        case .duplicate(let id): "has the controller \(quoted(id.description)) more than once"
        case .missing(let id): "names the controller \(quoted(id.description)), but does not have it"
        case .unreachable(let id):
            "has the controller \(quoted(id.description)), but nobody has it as a child or presents it"
        case .cannotPushContainer(let id, let navigation):
            "has \(quoted(id.description)) on the stack of \(quoted(navigation.description)), which cannot hold a "
                + "navigation, tabs or split controller"
        case .indexOutOfRange(let tabs, let selected):
            "has a tabs controller \(quoted(tabs.description)) without a child number \(selected), counted from 0"
        }
    }
}

// MARK: - Writing

extension JSONWriter {
    /// Writes a node with all that is in it; what is as it would be without a word is left out.
    mutating func member(_ name: StaticString, _ hierarchy: Hierarchy) {
        var nodes = HierarchyWriter(hierarchy, named: name)
        nodes.write(to: &self, until: .max)
    }

    /// Writes the topmost node with all that is in it; nothing where there is none.
    mutating func node(of hierarchy: Hierarchy) {
        var nodes = HierarchyWriter(hierarchy)
        nodes.write(to: &self, until: .max)
    }
}

/// Writes the nodes of a hierarchy, as many at a time as are wanted.
struct HierarchyWriter: Sendable {
    private let hierarchy: Hierarchy
    /// What is still to be written, the next of it last.
    private var steps: [Step]

    /// A piece of a node that is still to be written.
    private enum Step {
        case value(ControllerID)
        case elements(ArraySlice<ControllerID>)
        case member(StaticString, ControllerID)
        case endOfChildren
        case afterContent(Controller)
        case end(Controller)
    }

    /// - Parameters:
    ///   - hierarchy: what is to be written; where it is empty, nothing is.
    ///   - name: of the member that it is, if it is one.
    init(_ hierarchy: Hierarchy, named name: StaticString? = nil) {
        self.hierarchy = hierarchy
        steps = hierarchy.root.map { root in [name.map { .member($0, root) } ?? .value(root)] } ?? []
    }

    /// Whether everything has been written.
    var isOver: Bool { steps.isEmpty }

    /// Writes until there are so many bytes, or to the end.
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
                case .split(let columns): writer.member("collapsed", columns.isCollapsed)
                }
            case .end(let controller):
                end(controller, in: &writer)
            }
        }
    }

    /// Writes a node as far as to what is in it.
    private mutating func begin(_ id: ControllerID, in writer: inout JSONWriter) {
        guard let controller = hierarchy[id] else {
            preconditionFailure("the controller \(id) is in a hierarchy that does not have it")
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
            steps.append(.member("secondary", columns.secondary))
            steps.append(.member("primary", columns.primary))
        }
    }

    private func end(_ controller: Controller, in writer: inout JSONWriter) {
        if hierarchy.presenter(of: controller.id) != nil || controller.presentationStyle != .fullScreen {
            writer.member("presentationStyle", controller.presentationStyle.rawValue)
        }
        if controller.definesPresentationContext { writer.member("definesPresentationContext", true) }
        if let type = controller.introTransitionType { writer.member("introTransitionType", type.description) }
        writer.endObject()
    }
}
