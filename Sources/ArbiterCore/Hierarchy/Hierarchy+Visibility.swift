// Which controllers are visible.

extension Hierarchy {
    /// Whether a controller is visible: every container above shows it, and no presentation covers it.
    package func isVisible(_ controller: ControllerID) -> Bool {
        isPlaced(controller) && !isCovered(controller)
    }

    /// Whether a controller would be visible if it presented nothing.
    func isPlaced(_ controller: ControllerID) -> Bool {
        guard var below = controllers[controller] else { return false }
        while let above = below.parent.flatMap({ controllers[$0] }) {
            // A presented controller is placed if its presenter is; a child is placed if its container is visible and
            // shows it.
            if above.presented != below.id {
                guard above.shows(below.id), !isCovered(above.id) else { return false }
            }
            below = above
        }
        return true
    }

    /// Whether the controller that it presents hides it and its children.
    private func isCovered(_ controller: ControllerID) -> Bool {
        guard let presented = controllers[controller]?.presented else { return false }
        return controllers[presented]?.presentationStyle.coversPresenter ?? false
    }

    /// The controller in front: from the root, what its layer presents, and so on; `nil` if there is none.
    ///
    /// What the topmost controller of a layer presents comes first, and then what a child presents that it shows.
    package var front: ControllerID? {
        guard var front = root else { return nil }
        while let next = presented(inLayerOf: front) { front = next }
        return front
    }

    private func presented(inLayerOf topmost: ControllerID) -> ControllerID? {
        var unvisited = [topmost]
        while let controller = unvisited.popLast().flatMap({ controllers[$0] }) {
            if let presented = controller.presented { return presented }
            unvisited.append(contentsOf: controller.shown.reversed())
        }
        return nil
    }

    /// The visible controllers: each before those that it shows, and before what it presents.
    var visible: [ControllerID] { root.map { visible(from: $0) } ?? [] }

    /// The visible controllers from a placed one downwards: each container, then the children that it shows, then the
    /// controller that it presents.
    func visible(from placed: ControllerID, after changes: Changes = Changes()) -> [ControllerID] {
        var visible: [ControllerID] = []
        var unvisited = [placed]
        while let controller = unvisited.popLast().flatMap({ controllers[$0] }) {
            let isAlone = changes.dismissing.contains(controller.id)
            if !isAlone, let presented = controller.presented { unvisited.append(presented) }
            guard isAlone || !isCovered(controller.id) else { continue }
            visible.append(controller.id)
            let shown = changes.showing[controller.id].map { [$0] } ?? controller.shown
            unvisited.append(contentsOf: shown.reversed())
        }
        return visible
    }

    /// Changes to assume when the visible controllers are computed.
    struct Changes {
        /// The presenters whose presented controllers are dismissed.
        var dismissing: Set<ControllerID> = []
        /// The child that a container will show.
        var showing: [ControllerID: ControllerID] = [:]
    }
}
