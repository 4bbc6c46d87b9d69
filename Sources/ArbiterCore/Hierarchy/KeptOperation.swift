/// The operation of a request; the controllers that it inserts are packed if there are many.
package struct KeptOperation: Hashable, Sendable {
    /// The most controllers that are stored unpacked.
    private static let unpackedControllers = 4

    private enum Form: Sendable {
        case plain(Operation)
        /// The operation's outline, and the controllers that it inserts.
        case packed(Operation, PackedHierarchies, ArrivalCounts)
        case list([KeptOperation])
    }

    private let form: Form

    init(_ operation: Operation) {
        form =
            if case .list(let operations) = operation {
                .list(operations.map { KeptOperation($0) })
            } else {
                .plain(operation)
            }
    }

    private init(form: Form) {
        self.form = form
    }

    var operation: Operation {
        switch form {
        case .plain(let operation): operation
        case .packed(let operation, let packed, _): operation.bringing(packed.hierarchies)
        case .list(let parts): .list(parts.map(\.operation))
        }
    }

    /// The operations of a list, or the operation itself.
    package var parts: [KeptOperation] {
        if case .list(let parts) = form { parts } else { [self] }
    }

    package var isList: Bool { if case .list = form { true } else { false } }

    /// The oldest rules that know it.
    var neededRules: Rules {
        if case .list = form { .second } else { operation.neededRules }
    }

    /// See `TransitionRequest.operationOutline`.
    package var outline: Operation {
        switch form {
        case .plain(let operation), .packed(let operation, _, _): operation
        // What its later operations touch may be inside what the earlier ones bring in.
        case .list: operation
        }
    }

    /// The same operation, packed if it inserts more than `unpackedControllers`.
    var packed: KeptOperation {
        if case .list(let parts) = form { return KeptOperation(form: .list(parts.map(\.packed))) }
        guard case .plain(let operation) = form, arrivalCounts.controllers > Self.unpackedControllers else {
            return self
        }
        return KeptOperation(
            form: .packed(operation.outlined, PackedHierarchies(operation.arrivals), arrivalCounts))
    }

    package var arrivalCounts: ArrivalCounts {
        switch form {
        case .plain(let operation): ArrivalCounts(operation)
        case .packed(_, _, let counts): counts
        case .list(let parts): parts.reduce(.none) { $0 + $1.arrivalCounts }
        }
    }

    /// An estimate of the bytes that it takes.
    var byteCount: Int {
        switch form {
        case .plain: Limits.bytesPerOperation + arrivalCounts.controllers * Limits.bytesPerController
        case .packed(_, let packed, _): Limits.bytesPerOperation + packed.bytes.count
        case .list(let parts): parts.reduce(0) { $0 + $1.byteCount }
        }
    }

    package static func == (left: KeptOperation, right: KeptOperation) -> Bool {
        switch (left.form, right.form) {
        case (.packed(let left, let leftPacked, _), .packed(let right, let rightPacked, _)):
            left == right && leftPacked == rightPacked
        case (.list(let left), .list(let right)): left == right
        case (.plain, _), (_, .plain), (.list, _), (_, .list):
            left.operation == right.operation
        }
    }

    /// Hashes only what is the same in both forms.
    package func hash(into hasher: inout Hasher) {
        for part in parts { hasher.combine(part.outline.type) }
        hasher.combine(arrivalCounts)
    }
}

/// How many controllers an operation inserts.
package struct ArrivalCounts: Hashable, Sendable {
    /// Hierarchies, each with a root.
    package let hierarchies: Int
    /// The controllers in them, the roots included.
    package let controllers: Int

    package init(_ operation: Operation) {
        hierarchies = operation.arrivals.count
        controllers = operation.arrivals.reduce(0) { $0 + $1.count }
    }

    private init(hierarchies: Int, controllers: Int) {
        self.hierarchies = hierarchies
        self.controllers = controllers
    }

    static let none = ArrivalCounts(hierarchies: 0, controllers: 0)

    static func + (left: ArrivalCounts, right: ArrivalCounts) -> ArrivalCounts {
        ArrivalCounts(
            hierarchies: left.hierarchies + right.hierarchies, controllers: left.controllers + right.controllers)
    }
}

extension Operation {
    /// See `KeptOperation.outline`.
    fileprivate var outlined: Operation {
        bringing(bringsList ? [] : arrivals.map(\.outlined))
    }
}

extension Hierarchy {
    /// A hierarchy with only the root, as a view.
    fileprivate var outlined: Hierarchy {
        guard let root = root.flatMap({ self[$0] }) else { return self }
        let outline = Controller(
            id: root.id, presentationStyle: root.presentationStyle,
            definesPresentationContext: root.definesPresentationContext,
            introTransitionType: root.introTransitionType)
        guard let hierarchy = try? Hierarchy(root: root.id, controllers: [outline]) else {
            preconditionFailure("a single view is always a valid hierarchy")
        }
        return hierarchy
    }
}
