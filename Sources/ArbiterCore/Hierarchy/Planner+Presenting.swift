// Presentations and dismissals.

extension Planner {
    /// - Parameters:
    ///   - arrival: the controller to present.
    ///   - source: who is asked to present it; without one, the controller in front.
    /// - Returns: the plan.
    /// - Throws: `OperationRefusal` if it cannot be presented.
    func present(
        _ arrival: Hierarchy, from source: ControllerID?
    ) throws(OperationRefusal) -> OperationPlan {
        guard let asked = source ?? hierarchy.front else { throw .nobodyInFront }
        let source = try controller(asked)
        let top = try top(of: arrival)
        guard let presenter = hierarchy.presenter(for: top.presentationStyle, from: source.id) else {
            throw .unknownController(source.id)
        }
        if let known = firstKnown(of: arrival) { throw .activeController(known) }
        let attempt = PresentationAttempt(controller: top.id, presenter: presenter.id, source: source.id)
        if let presented = presenter.presented { throw .alreadyPresenting(presented, attempt) }
        guard hierarchy.isVisible(source.id) else { throw .notVisible(attempt) }
        try checkSize(of: [arrival], below: presenter.id)
        return OperationPlan(
            steps: [.insert(arrival, at: .presented(by: presenter.id))], presenter: presenter.id,
            inserted: [top.id],
            disappearing: top.presentationStyle.coversPresenter ? hierarchy.visible(from: presenter.id) : [],
            appearing: arrival.visible(from: top.id), appearanceOrder: .crossed)
    }

    /// - Returns: `nil` if the controller neither presents nor is presented.
    func dismiss(_ id: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let controller = try controller(id)
        let layer = hierarchy.layer(upFrom: controller.id)
        let above = layer.last.flatMap { hierarchy.presenter(of: $0.id) }.flatMap { hierarchy[$0] }
        guard let presenter = layer.first(where: { $0.presented != nil }) ?? above, let presented = presenter.presented
        else { return nil }
        let isPlaced = hierarchy.isPlaced(presenter.id)
        let isUncovering = hierarchy[presented]?.presentationStyle.coversPresenter ?? false
        let alone = Hierarchy.Changes(dismissing: [presenter.id])
        return OperationPlan(
            steps: [.remove(presented)], presenter: presenter.id, removed: leavers(with: presented),
            disappearing: isPlaced ? hierarchy.visible(from: presented) : [],
            appearing: isPlaced && isUncovering ? hierarchy.visible(from: presenter.id, after: alone) : [],
            appearanceOrder: .crossed, isBackward: true, leaving: hierarchy[presented])
    }
}

extension Hierarchy {
    /// The controller that presents when `source` is asked to; like UIKit, it looks upwards within the layer.
    ///
    /// See UIKit's documentation of `UIModalPresentationStyle` and of `definesPresentationContext`.
    func presenter(for style: PresentationStyle, from source: ControllerID) -> Controller? {
        let layer = layer(upFrom: source)
        let context = style.seeksContext ? layer.first(where: \.definesPresentationContext) : nil
        return context ?? layer.last
    }
}
