// Who is in view.

extension Hierarchy {
    /// Whether it is in view: every container above shows it, and no presentation covers it.
    package func isVisible(_ controller: ControllerID) -> Bool {
        isPlaced(controller) && !isCovered(controller)
    }

    /// Whether it would be in view if it presented nothing.
    func isPlaced(_ controller: ControllerID) -> Bool {
        guard var below = controllers[controller] else { return false }
        while let above = below.parent.flatMap({ controllers[$0] }) {
            // Whoever is presented needs the place of its presenter; whoever is contained needs its container in view.
            if above.presented != below.id {
                guard above.shows(below.id), !isCovered(above.id) else { return false }
            }
            below = above
        }
        return true
    }

    /// Whether what it presents hides it, and everything that it contains.
    private func isCovered(_ controller: ControllerID) -> Bool {
        guard let presented = controllers[controller]?.presented else { return false }
        return controllers[presented]?.presentationStyle.coversPresenter ?? false
    }

    /// The controllers in view at a placed one and below, each container before what it shows, and that before what is
    /// presented.
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

    /// What is about to change in what is shown.
    struct Changes {
        /// Those whose presentation goes.
        var dismissing: Set<ControllerID> = []
        /// Which child a container will show.
        var showing: [ControllerID: ControllerID] = [:]
    }
}
