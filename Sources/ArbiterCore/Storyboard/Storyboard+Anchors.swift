// Which subtrees an operation needs for itself.

extension Storyboard {
    /// The existing controllers whose subtrees an operation locks with the scope `operation`.
    ///
    /// They do not change as long as the controllers that the operation names keep their places.
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

    /// The presenter may be any controller of the layer or the one above it; each is at or below this anchor.
    private func dismissalAnchor(of controller: ControllerID) -> ControllerID? {
        guard let topmost = hierarchy.layer(upFrom: controller).last else { return nil }
        return hierarchy.presenter(of: topmost.id) ?? topmost.id
    }

    private func detailAnchor(of controller: Hierarchy, in split: ControllerID) -> ControllerID? {
        // A collapsed split's primary column is never replaced, so the condition gives the same result at the grant.
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
        // A segue never stands for another segue, so this does not recurse further.
        case .operation(let operation): return anchors(of: operation)
        case .replacePrimary(let split, _): return [split]
        case .unwind(let destination): return unwindingAnchors(of: destination, from: source)
        }
    }

    private func unwindingAnchors(of destination: ControllerID, from source: ControllerID) -> [ControllerID] {
        guard let topmost = hierarchy.layer(upFrom: destination).last?.id else { return [] }
        // A source outside that subtree is locked too, so that it exists until the segue has been performed.
        let isBelow = hierarchy.path(to: source)?.contains(topmost) ?? false
        return isBelow ? [topmost] : [topmost, source]
    }
}
