/// What a transition does to the hierarchy of its scene.
public struct TransitionOperation: Hashable, Sendable {
    /// The operation as the wire has it, or a list of them.
    public let document: JSONValue

    /// An operation as the wire has it.
    public init(_ document: JSONValue) { self.document = document }

    /// Several operations as one: each on the hierarchy that those before it leave, all at the end, or none.
    public static func list(_ operations: [Self]) -> Self { Self(.array(operations.map(\.document))) }

    /// What a request says of it.
    package var members: [String: JSONValue] {
        [document.array == nil ? "operation" : "operations": document]
    }

    /// Presents a controller, modally; without a presenter, over the controller in front.
    public static func present(_ controller: ControllerNode, by presenter: String? = nil) -> Self {
        var members: [String: JSONValue] = ["type": "present", "controller": controller.document]
        members["presenter"] = presenter.map { .string($0) }
        return Self(.object(members))
    }

    /// Dismisses what a controller presents, or the layer that it is in.
    public static func dismiss(_ controller: String) -> Self {
        Self(["type": "dismiss", "controller": .string(controller)])
    }

    /// Pushes a controller onto the stack of a navigation.
    public static func push(_ controller: ControllerNode, onto navigation: String) -> Self {
        Self(["type": "push", "navigation": .string(navigation), "controller": controller.document])
    }

    /// Pops the top of the stack of a navigation; nothing at its root.
    public static func pop(_ navigation: String) -> Self {
        Self(["type": "pop", "navigation": .string(navigation)])
    }

    /// Pops until a controller of the stack is at its top.
    public static func popTo(_ controller: String, of navigation: String) -> Self {
        Self(["type": "popTo", "navigation": .string(navigation), "controller": .string(controller)])
    }

    /// Pops until the root is at the top of the stack.
    public static func popToRoot(_ navigation: String) -> Self {
        Self(["type": "popToRoot", "navigation": .string(navigation)])
    }

    /// Replaces the stack of a navigation.
    public static func setStack(_ controllers: [ControllerNode], of navigation: String) -> Self {
        Self([
            "type": "setStack", "navigation": .string(navigation),
            "controllers": .array(controllers.map(\.document)),
        ])
    }

    /// Shows a controller as the detail of a split.
    public static func showDetail(_ controller: ControllerNode, of split: String) -> Self {
        Self(["type": "showDetail", "split": .string(split), "controller": controller.document])
    }

    /// A column of a split.
    public enum SplitColumn: String, Hashable, Sendable, CaseIterable {
        case primary
        case supplementary
        case secondary
    }

    /// Replaces a column of a split; `nil` empties it.
    public static func setColumn(_ column: SplitColumn, to controller: ControllerNode?, of split: String) -> Self {
        Self([
            "type": "setColumn", "split": .string(split), "column": .string(column.rawValue),
            "controller": controller?.document ?? .null,
        ])
    }

    /// Shows a column of a collapsed split.
    public static func showColumn(_ column: SplitColumn, of split: String) -> Self {
        Self(["type": "showColumn", "split": .string(split), "column": .string(column.rawValue)])
    }

    /// Collapses a split, so that only its primary column is shown.
    ///
    /// - Parameters:
    ///   - split: the split.
    ///   - topColumn: the last column that goes onto the stack of the primary one; without it, all do.
    /// - Returns: the operation.
    public static func collapse(_ split: String, topColumn: SplitColumn? = nil) -> Self {
        var members: [String: JSONValue] = ["type": "collapse", "split": .string(split)]
        members["topColumn"] = topColumn.map { .string($0.rawValue) }
        return Self(.object(members))
    }

    /// Expands a split that is collapsed.
    public static func expand(_ split: String) -> Self { Self(["type": "expand", "split": .string(split)]) }

    /// Replaces the tabs; `selected` is the index of the one that is selected then.
    public static func setTabs(_ controllers: [ControllerNode], of tabs: String, selected: Int? = nil) -> Self {
        var members: [String: JSONValue] = [
            "type": "setTabs", "tabs": .string(tabs), "controllers": .array(controllers.map(\.document)),
        ]
        members["selected"] = selected.map { .number(Double($0)) }
        return Self(.object(members))
    }

    /// Inserts a tab, without an index as the last one.
    public static func insertTab(_ controller: ControllerNode, of tabs: String, at index: Int? = nil) -> Self {
        var members: [String: JSONValue] = [
            "type": "insertTab", "tabs": .string(tabs), "controller": controller.document,
        ]
        members["index"] = index.map { .number(Double($0)) }
        return Self(.object(members))
    }

    /// Removes a tab.
    public static func removeTab(_ controller: String, of tabs: String) -> Self {
        Self(["type": "removeTab", "tabs": .string(tabs), "controller": .string(controller)])
    }

    /// Selects a tab by its index, from 0.
    public static func select(index: Int, of tabs: String) -> Self {
        Self(["type": "select", "tabs": .string(tabs), "index": .number(Double(index))])
    }

    /// Selects a tab by its controller.
    public static func select(_ controller: String, of tabs: String) -> Self {
        Self(["type": "select", "tabs": .string(tabs), "controller": .string(controller)])
    }

    /// Selects the tab so many places after the selected one, or before it if the offset is negative.
    public static func select(offset: Int, of tabs: String) -> Self {
        Self(["type": "select", "tabs": .string(tabs), "offset": .number(Double(offset))])
    }

    /// Performs a segue of the storyboard; `destination` stands in for the declared one.
    public static func segue(_ identifier: String, from source: String, to destination: ControllerNode? = nil) -> Self {
        var members: [String: JSONValue] = [
            "type": "segue", "source": .string(source), "identifier": .string(identifier),
        ]
        members["destination"] = destination?.document
        return Self(.object(members))
    }

    /// Replaces the whole hierarchy.
    public static func setRoot(_ controller: ControllerNode) -> Self {
        Self(["type": "setRoot", "controller": controller.document])
    }
}

/// A controller that comes into a hierarchy: its id, or a node with children.
public struct ControllerNode: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The id or the node, as the wire has it.
    public let document: JSONValue

    /// A node with children, as the wire has it.
    public init(_ document: JSONValue) { self.document = document }

    /// A view with this id.
    public init(_ id: String) { document = .string(id) }

    /// A view with this id.
    public init(stringLiteral id: String) { self.init(id) }
}

/// What may be asked of a transition; everything has a default.
public struct TransitionOptions: Hashable, Sendable {
    /// What it does to the hierarchy; without it, it only locks.
    public var operation: TransitionOperation?
    /// What is locked: the whole scene unless set.
    public var scope: Scope?
    /// Whether it conflicts with exclusive ones only; such a one has no operation, gesture and participants.
    public var isShared = false
    /// How urgent it is, from -1000 to 1000; a higher priority is served first.
    ///
    /// The scene's default unless set, which is mostly 0.
    public var priority: Int?
    /// Whether a turn ends what is in its way and consents, instead of waiting for it; a ``ArbiterScene/start(_:)`` never waits, and
    /// ignores it.
    public var interrupts = false
    /// Whether it may be interrupted itself; the scene's default unless set, by which mostly it may not.
    public var interruptible: Interruptible?
    /// The longest that the daemon lets the lock be held without a word of this client, more than zero; 10 seconds unless set.
    public var lease: Duration?
    /// The name of a transition type of the storyboard.
    public var transitionType: String?
    /// How long the animation takes, not negative, as data for those who draw it.
    public var duration: Duration?
    /// Whether a finger drives it.
    public var isInteractive = false
    /// The clients that have to be ready before it runs.
    public var participants: [Participant] = []
    /// Whether it removes what others guard without asking them; it needs the role `design`.
    public var ignoresGuards = false
    /// Why it is held, for people.
    public var note: String?
    /// Which other transitions have the same purpose, so that one of them is enough; a string stands for the key.
    public var coalescing: Coalescing?
    /// Whether it waits for its turn also in the body of a transition that is in its way, because this code is not what that body
    /// waits for.
    public var waitsForSelf = false
    /// Further members of the request, as the wire has them: for example `expect`, and with `queueSeconds` `unmet`.
    public var further: [String: JSONValue] = [:]

    /// Whether a transition may be ended for another one.
    public enum Interruptible: Hashable, Sendable {
        /// Nobody may interrupt it.
        case no
        /// Those may interrupt it; it goes on for the grace, half a second unless given and at most 10, and ends as cancelled unless it
        /// completes or its gesture was decided.
        case by(Interrupters, grace: Duration? = nil, completes: Bool = false)
    }

    /// Who may interrupt a transition.
    public enum Interrupters: String, Hashable, Sendable {
        /// Those of a higher priority.
        case higher
        /// Also those of its own priority that were asked for after its grant.
        case equal
    }

    /// What a transition locks.
    public enum Scope: Hashable, Sendable {
        /// The whole scene.
        case scene
        /// The controllers that the operation touches.
        case operation
        /// These controllers, with all below them; in a scene without a hierarchy, these names.
        case controllers([String])
        /// One of these names, in a scene without a hierarchy.
        case anyOf([String])
    }

    /// Options with an operation, and the defaults for everything else.
    public init(_ operation: TransitionOperation? = nil) {
        self.operation = operation
    }

    /// Refuses what no request can be made of.
    ///
    /// - Throws: `refused`: with `invalid-field`, a duration that is negative; with `malformed-json`, a number of `further` or of
    ///   the operation that is not finite.
    func check() throws(ClientError) {
        if let lease, lease <= .zero { throw .misuse("leaseSeconds", "The lease must be more than zero.") }
        if let duration, duration < .zero {
            throw .misuse("animation.duration", "The duration of an animation must not be negative.")
        }
        if case .by(_, let grace?, _) = interruptible, grace < .zero {
            throw .misuse("interruptible.graceSeconds", "The grace must not be negative.")
        }
        guard JSONValue.object(members).isFinite else { throw .infiniteNumber }
    }

    /// What only a request may say that waits for its turn.
    package static let turnMembers: Set = ["whenBusy", "unmet"]

    /// The members of a request.
    package var members: [String: JSONValue] {
        var members = further
        if let operation { members.merge(operation.members) { _, new in new } }
        switch scope {
        case .scene: members["scope"] = "scene"
        case .operation: members["scope"] = "operation"
        case .controllers(let ids): members["scope"] = .array(ids.map { .string($0) })
        case .anyOf(let names): members["scope"] = ["anyOf": .array(names.map { .string($0) })]
        case nil: break
        }
        if isShared { members["mode"] = "shared" }
        if let priority { members["priority"] = .number(Double(priority)) }
        if interrupts { members["whenBusy"] = "interrupt" }
        if let interruptible { members["interruptible"] = interruptible.document }
        if let lease { members["leaseSeconds"] = .number(lease.inSeconds) }
        if isInteractive { members["interactive"] = true }
        if !participants.isEmpty { members["participants"] = .array(participants.map(\.document)) }
        if let note { members["note"] = .string(note) }
        if ignoresGuards { members["ignoreGuards"] = true }
        if let coalescing { members["coalesce"] = coalescing.document }
        var animation = members["animation"]?.object ?? [:]
        if let transitionType { animation["type"] = .string(transitionType) }
        if let duration { animation["duration"] = .number(duration.inSeconds) }
        if !animation.isEmpty { members["animation"] = .object(animation) }
        return members
    }
}

extension TransitionOptions.Interruptible {
    fileprivate var document: JSONValue {
        guard case .by(let interrupters, let grace, let completes) = self else { return false }
        var members: [String: JSONValue] = ["by": .string(interrupters.rawValue)]
        members["graceSeconds"] = grace.map { .number($0.inSeconds) }
        if completes { members["as"] = "completed" }
        return .object(members)
    }
}

extension Duration {
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
