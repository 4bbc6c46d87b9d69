// One controller of a scene: what can be asked about it without a lock.

/// A controller with its place in the hierarchy and what locks it.
package struct ControllerView: Hashable, Sendable {
    package let controller: Controller
    /// The ids from the root down to the controller, both included.
    package let path: ScopePath
    /// The container that holds it; `nil` if none does.
    package let container: ControllerID?
    /// The controller that presents it; `nil` if none does.
    package let presenter: ControllerID?
    package let isVisible: Bool
    /// Whether it is the top of its navigation stack.
    package let isTop: Bool
    /// Whether it is the selected tab.
    package let isSelected: Bool
    /// Who presents it, or what it stands in; `nil` if nobody does.
    package let presentedBy: ControllerID?
    /// What it presents, or the nearest ancestor in its layer; `nil` if neither presents anything.
    package let presented: ControllerID?
    /// The revision of the hierarchy.
    package let revision: Revision
    /// The granted transitions whose scope contains it.
    package let lockedBy: [TransitionID]
}

extension ArbiterStateMachine {
    /// A controller of a scene.
    ///
    /// - Returns: `nil` if the hierarchy does not have it.
    /// - Throws: `ArbiterError.unknownScene`.
    package func controller(_ id: ControllerID, of name: SceneName) throws(ArbiterError) -> ControllerView? {
        guard let scene = durable.scenes[name] else { throw .unknownScene(name) }
        let hierarchy = scene.storyboard.hierarchy
        guard let controller = hierarchy[id], let path = hierarchy.path(to: id) else { return nil }
        let container = hierarchy.container(of: id)
        let layer = hierarchy.layer(upFrom: id)
        let showing = container.flatMap { hierarchy[$0] }.flatMap { $0.shown.first == id ? $0.kind : nil }
        return ControllerView(
            controller: controller, path: path, container: container, presenter: hierarchy.presenter(of: id),
            isVisible: hierarchy.isVisible(id), isTop: showing == .navigation, isSelected: showing == .tabs,
            presentedBy: layer.last.flatMap { hierarchy.presenter(of: $0.id) },
            presented: layer.lazy.compactMap(\.presented).first, revision: scene.numbers.revision,
            lockedBy: scene.queue.holders(along: path))
    }
}

extension ScopeQueue {
    /// The granted transitions whose scope contains the end of a path, from the top down.
    fileprivate func holders(along path: ScopePath) -> [TransitionID] {
        var place: Int? = PlaceTree.top
        var holders: [LinePlace] = []
        for name in path {
            guard let above = place else { break }
            holders += places.holders(of: above, conflictingWithShared: false)
            place = places[above].children[name]
        }
        if let place { holders += places.holders(of: place, conflictingWithShared: false) }
        return holders.compactMap { self[$0]?.id }
    }
}
