// Walks through the tree. It may be a thousand levels deep, so nothing here is recursive.

extension Hierarchy {
    /// All controllers from the root: each one, then its children in order, then the controller that it presents.
    package var preorder: [Controller] {
        root.map { preorder(from: $0) } ?? []
    }

    /// A controller and all below it, in preorder; empty if it does not exist.
    package func preorder(from top: ControllerID) -> [Controller] {
        var visited: [Controller] = []
        var unvisited = [top]
        while let controller = unvisited.popLast().flatMap({ controllers[$0] }) {
            visited.append(controller)
            unvisited.append(contentsOf: controller.below.reversed())
        }
        return visited
    }

    /// The ids from the root down to a controller, both included; `nil` if it does not exist.
    package func path(to controller: ControllerID) -> ScopePath? {
        guard let controller = controllers[controller] else { return nil }
        var path = [controller.id]
        var above = controller.parent
        while let id = above {
            path.append(id)
            above = controllers[id]?.parent
        }
        path.reverse()
        return path
    }

    /// The number of controllers from the root down to this one, both included; 0 if it does not exist.
    func depth(of controller: ControllerID) -> Int {
        var depth = 0
        var next = controllers[controller]
        while let controller = next {
            depth += 1
            next = controller.parent.flatMap { controllers[$0] }
        }
        return depth
    }

    /// The number of levels.
    var height: Int { root.map { height(from: $0) } ?? 0 }

    /// The number of levels from a controller downwards, its own included.
    func height(from top: ControllerID) -> Int {
        var height = 0
        var unvisited = [(id: top, depth: 1)]
        while let (id, depth) = unvisited.popLast() {
            height = max(height, depth)
            for child in controllers[id]?.below ?? [] { unvisited.append((child, depth + 1)) }
        }
        return height
    }

    /// The controller that presents this one; `nil` if none does, even if its container is presented.
    package func presenter(of controller: ControllerID) -> ControllerID? {
        guard let parent = controllers[controller]?.parent, controllers[parent]?.presented == controller else {
            return nil
        }
        return parent
    }

    /// The container that holds a controller; `nil` if none does.
    package func container(of controller: ControllerID) -> ControllerID? {
        guard let parent = controllers[controller]?.parent, controllers[parent]?.presented != controller else {
            return nil
        }
        return parent
    }

    /// A controller and the containers above it, up to the topmost of its layer; empty if it does not exist.
    ///
    /// A layer is a presented controller or the root, with everything that it contains.
    func layer(upFrom controller: ControllerID) -> [Controller] {
        var layer: [Controller] = []
        var next = controllers[controller]
        while let controller = next {
            layer.append(controller)
            next = container(of: controller.id).flatMap { controllers[$0] }
        }
        return layer
    }
}
