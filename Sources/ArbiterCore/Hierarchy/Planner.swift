/// Computes the effect of operations on a hierarchy, without changing it.
///
/// The cost depends on the depth of the place and on the controllers that are inserted, removed or visible below it,
/// not on the size of the hierarchy.
struct Planner {
    let hierarchy: Hierarchy
    /// The ids that granted operations will insert; no other operation may insert them.
    let reserved: Set<ControllerID>
    /// Those that say what an operation on a split does.
    let rules: Rules

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

    /// The root of the hierarchy to insert.
    func top(of arrival: Hierarchy) throws(OperationRefusal) -> Controller {
        guard let top = arrival.root.flatMap({ arrival[$0] }) else { throw .nothingToBringIn }
        return top
    }

    /// The first controller to insert that exists already, and is not removed at the same time, or that is reserved.
    func firstKnown(of arrival: Hierarchy, leaving: Set<ControllerID> = []) -> ControllerID? {
        arrival.preorder.first {
            hierarchy[$0.id] != nil && !leaving.contains($0.id) || reserved.contains($0.id)
        }?.id
    }

    /// The ids that become free when these controllers are removed with everything below them.
    func freed(by removed: some Sequence<ControllerID>) -> Set<ControllerID> {
        removed.reduce(into: []) { freed, id in
            for gone in hierarchy.preorder(from: id) { freed.insert(gone.id) }
        }
    }

    /// - Parameters:
    ///   - arrivals: The hierarchies to insert.
    ///   - parent: The controller right above them; `nil` for the root.
    ///   - departing: How many controllers are removed at the same time.
    /// - Throws: `OperationRefusal` if the hierarchy would have too many controllers or too many levels.
    func checkSize(
        of arrivals: [Hierarchy], below parent: ControllerID?, departing: Int = 0
    ) throws(OperationRefusal) {
        let count = arrivals.reduce(hierarchy.count + reserved.count - departing) { $0 + $1.count }
        guard count <= Limits.controllers else { throw .tooMany(count) }
        let height = arrivals.reduce(0) { max($0, $1.height) }
        let depth = (parent.map { hierarchy.depth(of: $0) } ?? 0) + height
        guard depth <= Limits.hierarchyDepth else { throw .tooDeep(depth) }
    }

    /// How many controllers a removal removes, this one included.
    func size(of controller: ControllerID) -> Int {
        hierarchy.preorder(from: controller).count
    }

    /// The removed controllers to report: those presented above it, the last one first, and then the controller itself.
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
