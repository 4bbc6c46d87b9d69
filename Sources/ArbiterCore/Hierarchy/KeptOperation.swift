/// The operation of a request; the controllers that it inserts are packed if there are many.
struct KeptOperation: Hashable, Sendable {
    /// The most controllers that are stored unpacked.
    private static let unpackedControllers = 4

    private enum Form: Sendable {
        case plain(Operation)
        /// The operation's outline, and the controllers that it inserts.
        case packed(Operation, PackedHierarchies, ArrivalCounts)
    }

    private let form: Form

    init(_ operation: Operation) {
        form = .plain(operation)
    }

    private init(form: Form) {
        self.form = form
    }

    var operation: Operation {
        switch form {
        case .plain(let operation): operation
        case .packed(let operation, let packed, _): operation.bringing(packed.hierarchies)
        }
    }

    /// See `TransitionRequest.operationOutline`.
    var outline: Operation {
        switch form {
        case .plain(let operation), .packed(let operation, _, _): operation
        }
    }

    /// The same operation, packed if it inserts more than `unpackedControllers`.
    var packed: KeptOperation {
        guard case .plain(let operation) = form, arrivalCounts.controllers > Self.unpackedControllers else {
            return self
        }
        return KeptOperation(
            form: .packed(operation.outlined, PackedHierarchies(operation.arrivals), arrivalCounts))
    }

    var arrivalCounts: ArrivalCounts {
        switch form {
        case .plain(let operation): ArrivalCounts(operation)
        case .packed(_, _, let counts): counts
        }
    }

    /// An estimate of the bytes that it takes.
    var byteCount: Int {
        switch form {
        case .plain: Limits.bytesPerOperation + arrivalCounts.controllers * Limits.bytesPerController
        case .packed(_, let packed, _): Limits.bytesPerOperation + packed.bytes.count
        }
    }

    static func == (left: KeptOperation, right: KeptOperation) -> Bool {
        switch (left.form, right.form) {
        case (.packed(let left, let leftPacked, _), .packed(let right, let rightPacked, _)):
            left == right && leftPacked == rightPacked
        case (.plain, _), (_, .plain):
            left.operation == right.operation
        }
    }

    /// Hashes only what is the same in both forms.
    func hash(into hasher: inout Hasher) {
        switch form {
        case .plain(let operation), .packed(let operation, _, _): hasher.combine(operation.type)
        }
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
