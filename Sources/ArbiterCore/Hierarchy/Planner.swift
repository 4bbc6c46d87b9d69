/// Finds out what operations come to in the hierarchy of a moment, and changes nothing.
///
/// It costs the depth of the place, what is in view below it and what comes and goes, whatever else there is.
struct Planner {
    let hierarchy: Hierarchy
    /// Whoever is about to come in by what was granted before: there may be no second one of the name.
    let reserved: Set<ControllerID>

    func controller(_ id: ControllerID) throws(OperationRefusal) -> Controller {
        guard let controller = hierarchy[id] else { throw .unknownController(id) }
        return controller
    }

    func stack(of navigation: ControllerID) throws(OperationRefusal) -> [ControllerID] {
        let controller = try controller(navigation)
        guard case .navigation(let stack) = controller.content else {
            throw .wrongKind(controller, needed: .navigation)
        }
        return stack
    }

    func columns(of split: ControllerID) throws(OperationRefusal) -> Controller.Columns {
        let controller = try controller(split)
        guard case .split(let columns) = controller.content else { throw .wrongKind(controller, needed: .split) }
        return columns
    }

    /// The topmost of those that are to come in.
    func top(of arrival: Hierarchy) throws(OperationRefusal) -> Controller {
        guard let top = arrival.root.flatMap({ arrival[$0] }) else { throw .nothingToBringIn }
        return top
    }

    /// The first of those that are to come in that is there already, or about to be.
    func firstKnown(of arrival: Hierarchy) -> ControllerID? {
        arrival.preorder.first { hierarchy[$0.id] != nil || reserved.contains($0.id) }?.id
    }

    /// - Parameters:
    ///   - arrivals: Those that are to come in.
    ///   - parent: Whoever will be right above them.
    ///   - departing: How many go at the same time.
    /// - Throws: `OperationRefusal` if there would be too many controllers, or too many levels.
    func checkSize(
        of arrivals: [Hierarchy], below parent: ControllerID, departing: Int = 0
    ) throws(OperationRefusal) {
        let count = arrivals.reduce(hierarchy.count + reserved.count - departing) { $0 + $1.count }
        guard count <= Limits.controllers else { throw .tooMany(count) }
        let height = arrivals.reduce(0) { max($0, $1.height) }
        let depth = hierarchy.depth(of: parent) + height
        guard depth <= Limits.hierarchyDepth else { throw .tooDeep(depth) }
    }

    /// How many go with a controller, it included.
    func size(of controller: ControllerID) -> Int {
        hierarchy.preorder(from: controller).count
    }

    /// What goes with a controller and is listed: it comes last, after what is presented above it.
    func leavers(with controller: ControllerID) -> [ControllerID] {
        var leavers = [controller]
        var above = hierarchy[controller]?.presented
        while let presented = above {
            leavers.append(presented)
            above = hierarchy[presented]?.presented
        }
        leavers.reverse()
        return leavers
    }
}
