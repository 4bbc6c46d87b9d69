// What segues do.

extension Storyboard {
    /// The effect of a segue, given the containers of its source.
    enum Course {
        case operation(Operation)
        /// `show` in a split that is not collapsed; under the first rules it is always the primary column.
        case replaceColumn(SplitColumn, ofSplit: ControllerID, Hierarchy, under: Rules)
        case unwind(to: ControllerID)
    }

    /// The effect of an operation that is a segue; `nil` for another operation.
    ///
    /// - Throws: `OperationRefusal` if its source does not exist, or has no such segue.
    func course(of operation: Operation, under rules: Rules) throws(OperationRefusal) -> Course? {
        guard case .segue(let source, let identifier, let destination) = operation else { return nil }
        guard hierarchy[source] != nil else { throw .unknownController(source) }
        guard let declared = segue(identifier, from: source) else { throw .unknownSegue(identifier, of: source) }
        return try course(of: destination.map { declared.leading(to: $0) } ?? declared, under: rules)
    }

    /// Depends only on the segue and on the containers above its source, up to the topmost of the layer.
    ///
    /// See UIKit's documentation of `show(_:sender:)` and `showDetailViewController(_:sender:)`.
    private func course(of segue: Segue, under rules: Rules) throws(OperationRefusal) -> Course {
        let layer = hierarchy.layer(upFrom: segue.source)
        switch segue.kind {
        case .present:
            return .operation(.present(presenter: segue.source, controller: segue.destination))
        case .unwind:
            guard let destination = segue.destination.root else { throw .nothingToBringIn }
            return .unwind(to: destination)
        case .show:
            return show(segue, in: layer.first { $0.kind == .navigation || $0.kind == .split }, layer, under: rules)
        case .showDetail:
            return showDetail(segue, in: layer.first { $0.kind == .split })
        }
    }

    private func show(
        _ segue: Segue, in container: Controller?, _ layer: [Controller], under rules: Rules
    ) -> Course {
        if case .navigation? = container?.content, let container {
            return .operation(.push(navigation: container.id, controller: segue.destination))
        }
        if case .split(let columns)? = container?.content, let container, !columns.isCollapsed {
            let column = rules == .first ? nil : layer.lazy.compactMap { columns.column(of: $0.id) }.first
            return .replaceColumn(column ?? .primary, ofSplit: container.id, segue.destination, under: rules)
        }
        return showDetail(segue, in: container)
    }

    private func showDetail(_ segue: Segue, in split: Controller?) -> Course {
        guard let split else {
            return .operation(.present(presenter: segue.source, controller: segue.destination))
        }
        return .operation(.showDetail(split: split.id, controller: segue.destination))
    }
}
