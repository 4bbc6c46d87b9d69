// Unwinding to a controller that exists already.

extension Planner {
    /// - Returns: `nil` if nothing in the destination's layer covers it.
    func unwind(to destination: ControllerID) throws(OperationRefusal) -> OperationPlan? {
        let destination = try controller(destination)
        let layer = Array(hierarchy.layer(upFrom: destination.id).reversed())
        var unwinding = Unwinding()
        for (depth, controller) in layer.enumerated() {
            if let presented = controller.presented {
                unwinding.dismiss(presented, by: controller.id, with: leavers(with: presented))
            }
            guard depth + 1 < layer.count else { break }
            show(layer[depth + 1].id, in: controller, by: &unwinding)
        }
        guard let topmost = layer.first, !unwinding.steps.isEmpty else { return nil }
        let isPlaced = hierarchy.isPlaced(topmost.id)
        let before = isPlaced ? hierarchy.visible(from: topmost.id) : []
        let after = isPlaced ? hierarchy.visible(from: topmost.id, after: unwinding.changes) : []
        let (visibleBefore, visibleAfter) = (Set(before), Set(after))
        return OperationPlan(
            steps: unwinding.steps, presenter: unwinding.presenter,
            removed: unwinding.dismissed + unwinding.popped,
            disappearing: before.filter { !visibleAfter.contains($0) },
            appearing: after.filter { !visibleBefore.contains($0) },
            appearanceOrder: unwinding.presenter == nil ? .goingFirst : .crossed,
            isBackward: true, leaving: unwinding.leaving.flatMap { hierarchy[$0] })
    }

    /// Makes a container show the child that is, or contains, the destination.
    private func show(_ branch: ControllerID, in container: Controller, by unwinding: inout Unwinding) {
        switch container.content {
        case .navigation(let stack):
            guard let index = stack.lastIndex(of: branch), index + 1 < stack.count else { return }
            unwinding.changes.showing[container.id] = branch
            let popped = stack[(index + 1)...].reversed()
            unwinding.pop(popped, by: popping(popped, of: container.id))
        case .tabs(let tabs, let selected):
            guard let index = tabs.firstIndex(of: branch), index != selected else { return }
            unwinding.changes.showing[container.id] = branch
            unwinding.steps.append(.select(tabs: container.id, index: index))
        case .view, .split:
            break
        }
    }

    /// The steps collected on the way down from the topmost controller of the layer to the destination.
    private struct Unwinding {
        var changes = Hierarchy.Changes()
        var steps: [OperationPlan.Edit] = []
        var dismissed: [ControllerID] = []
        var popped: [ControllerID] = []
        /// The outermost controller whose presentation ends.
        var presenter: ControllerID?
        /// The outermost controller that is removed.
        var leaving: ControllerID?

        mutating func dismiss(_ presented: ControllerID, by presenter: ControllerID, with leavers: [ControllerID]) {
            changes.dismissing.insert(presenter)
            steps.append(.remove(presented))
            dismissed += leavers
            self.presenter = self.presenter ?? presenter
            leaving = leaving ?? presented
        }

        mutating func pop(_ controllers: some Sequence<ControllerID>, by popping: Popping) {
            steps += popping.allSteps
            popped += popping.removed
            leaving = leaving ?? controllers.first { _ in true }
        }
    }
}
