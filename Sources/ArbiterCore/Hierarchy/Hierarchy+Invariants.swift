extension Hierarchy {
    /// Describes how the tree is inconsistent; `nil` if it is consistent.
    package func brokenInvariant() -> String? {
        guard let root else {
            return controllers.isEmpty ? nil : "\(controllers.count) controllers have no root"
        }
        do throws(HierarchyFault) {
            // The tree is rebuilt from the references downwards; the references upwards must agree with it.
            let rebuilt = try Hierarchy(root: root, controllers: Array(controllers.values))
            guard rebuilt != self else { return nil }
            let strays = controllers.filter { rebuilt.controllers[$0.key] != $0.value }
            return "\(strays.keys.map(\.description).sorted()) are not where they say they are"
        } catch {
            return "\(error)"
        }
    }
}
