// Ways through the tree. It may be a thousand levels deep, so nothing here calls itself.

extension Hierarchy {
    /// All controllers, the topmost first and each before what is below it: its children in order, then what it presents.
    package var preorder: [Controller] {
        root.map { preorder(from: $0) } ?? []
    }

    /// A controller and all below it, in preorder; nothing if it is not there.
    package func preorder(from top: ControllerID) -> [Controller] {
        var visited: [Controller] = []
        var unvisited = [top]
        while let controller = unvisited.popLast().flatMap({ controllers[$0] }) {
            visited.append(controller)
            unvisited.append(contentsOf: controller.below.reversed())
        }
        return visited
    }

    /// The way from the top down to a controller, both included; `nil` if it is not there.
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

    /// How many controllers are on the way down to one, it included; 0 if it is not there.
    func depth(of controller: ControllerID) -> Int {
        var depth = 0
        var next = controllers[controller]
        while let controller = next {
            depth += 1
            next = controller.parent.flatMap { controllers[$0] }
        }
        return depth
    }

    /// How many controllers are on the longest way down.
    var height: Int {
        var height = 0
        var unvisited = root.map { [(id: $0, depth: 1)] } ?? []
        while let (id, depth) = unvisited.popLast() {
            height = max(height, depth)
            for child in controllers[id]?.below ?? [] { unvisited.append((child, depth + 1)) }
        }
        return height
    }

    /// Whoever really presents a controller; `nil` if nobody does, even if it is in one that is presented.
    package func presenter(of controller: ControllerID) -> ControllerID? {
        guard let parent = controllers[controller]?.parent, controllers[parent]?.presented == controller else {
            return nil
        }
        return parent
    }

    /// The container that a controller is in; `nil` if it is in none.
    package func container(of controller: ControllerID) -> ControllerID? {
        guard let parent = controllers[controller]?.parent, controllers[parent]?.presented != controller else {
            return nil
        }
        return parent
    }

    /// A controller and the containers above it, up to its layer's topmost; nothing if it is not there.
    ///
    /// A layer is what one presentation put up: a presented controller with its children, or the root with its own.
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
