// Which parts of the tree an operation needs for itself.

extension Storyboard {
    /// The controllers whose subtrees an operation locks with the scope `operation`, as far as they are there.
    ///
    /// They depend on nothing that changes while its named controllers stay where they are.
    func anchors(of operation: Operation) -> [ControllerID] {
        let anchors: [ControllerID?] =
            switch operation {
            case .present(let presenter, let controller): [presentationAnchor(of: controller, from: presenter)]
            case .dismiss(let controller): [dismissalAnchor(of: controller)]
            case .push(let navigation, _), .pop(let navigation), .popTo(let navigation, _),
                .popToRoot(let navigation), .setStack(let navigation, _):
                [hierarchy[navigation]?.id]
            case .select(let tabs, _): [hierarchy[tabs]?.id]
            case .showDetail(let split, let controller): [detailAnchor(of: controller, in: split)]
            case .segue(let source, let identifier): segueAnchors(of: identifier, from: source)
            }
        return anchors.compactMap(\.self)
    }

    private func presentationAnchor(of controller: Hierarchy, from presenter: ControllerID) -> ControllerID? {
        let style = controller.root.flatMap { controller[$0] }?.presentationStyle
        return hierarchy.presenter(for: style ?? .fullScreen, from: presenter)?.id
    }

    /// Whether the layer's topmost or something in it presents, it is at the anchor or below.
    private func dismissalAnchor(of controller: ControllerID) -> ControllerID? {
        guard let topmost = hierarchy.layer(upFrom: controller).last else { return nil }
        return hierarchy.presenter(of: topmost.id) ?? topmost.id
    }

    private func detailAnchor(of controller: Hierarchy, in split: ControllerID) -> ControllerID? {
        // Collapsed columns are never replaced, so it is always the same of both ways that is gone.
        guard case .split(let columns)? = hierarchy[split]?.content, columns.isCollapsed,
            hierarchy[columns.primary]?.kind != .navigation
        else { return hierarchy[split]?.id }
        return presentationAnchor(of: controller, from: split)
    }

    private func segueAnchors(of identifier: SegueIdentifier, from source: ControllerID) -> [ControllerID] {
        guard hierarchy[source] != nil, let segue = segue(identifier, from: source),
            let course = try? course(of: segue)
        else { return [] }
        switch course {
        // Of the operations that segues stand for, none is a segue.
        case .operation(let operation): return anchors(of: operation)
        case .replacePrimary(let split, _): return [split]
        case .unwind(let destination): return unwindingAnchors(of: destination, from: source)
        }
    }

    private func unwindingAnchors(of destination: ControllerID, from source: ControllerID) -> [ControllerID] {
        guard let topmost = hierarchy.layer(upFrom: destination).last?.id else { return [] }
        // A source that stands elsewhere must not go before the segue has been carried out.
        let isBelow = hierarchy.path(to: source)?.contains(topmost) ?? false
        return isBelow ? [topmost] : [topmost, source]
    }
}
