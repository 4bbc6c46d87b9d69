/// An operation as a request has it: as it is, or with the controllers that it brings in packed, where they are many.
struct KeptOperation: Hashable, Sendable {
    /// Up to so many controllers an operation is kept as it is.
    private static let unpackedControllers = 4

    private enum Form: Sendable {
        case plain(Operation)
        /// The operation without what it brings in, and that.
        case packed(Operation, PackedHierarchies, controllers: Int)
    }

    private let form: Form

    init(_ operation: Operation) {
        form = .plain(operation)
    }

    private init(form: Form) {
        self.form = form
    }

    /// The operation, unpacked where it was packed.
    var operation: Operation {
        switch form {
        case .plain(let operation): operation
        case .packed(let operation, let packed, _): operation.bringing(packed.hierarchies)
        }
    }

    /// The same, packed if it brings in more than a few controllers.
    var packed: KeptOperation {
        guard case .plain(let operation) = form, controllerCount > Self.unpackedControllers else { return self }
        let arrivals = operation.arrivals
        return KeptOperation(
            form: .packed(
                operation.bringing(arrivals.map { _ in Hierarchy() }), PackedHierarchies(arrivals),
                controllers: controllerCount))
    }

    /// How many controllers it brings in.
    var controllerCount: Int {
        switch form {
        case .plain(let operation): operation.arrivals.reduce(0) { $0 + $1.count }
        case .packed(_, _, let count): count
        }
    }

    /// About how many bytes it takes.
    var byteCount: Int {
        switch form {
        case .plain: Limits.bytesPerOperation + controllerCount * Limits.bytesPerController
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

    /// By what is the same for both forms.
    func hash(into hasher: inout Hasher) {
        switch form {
        case .plain(let operation), .packed(let operation, _, _): hasher.combine(operation.type)
        }
        hasher.combine(controllerCount)
    }
}

extension Operation {
    /// The same with others coming in, as many as it has arrivals.
    fileprivate func bringing(_ arrivals: [Hierarchy]) -> Operation {
        switch self {
        case .present(let presenter, _): .present(presenter: presenter, controller: arrivals[0])
        case .push(let navigation, _): .push(navigation: navigation, controller: arrivals[0])
        case .setStack(let navigation, _): .setStack(navigation: navigation, controllers: arrivals)
        case .showDetail(let split, _): .showDetail(split: split, controller: arrivals[0])
        case .dismiss, .pop, .popTo, .popToRoot, .select, .segue: self
        }
    }
}
