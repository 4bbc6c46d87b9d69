extension Hierarchy {
    /// What of the tree is not as it must be, in words; `nil` if all is well.
    package func brokenInvariant() -> String? {
        guard let root else {
            return controllers.isEmpty ? nil : "\(controllers.count) controllers have no root"
        }
        do throws(HierarchyFault) {
            // Whatever the controllers say of those below them decides; what they say of those above must agree.
            let rebuilt = try Hierarchy(root: root, controllers: Array(controllers.values))
            guard rebuilt != self else { return nil }
            let strays = controllers.filter { rebuilt.controllers[$0.key] != $0.value }
            return "\(strays.keys.map(\.description).sorted()) are not where they say they are"
        } catch {
            return "\(error)"
        }
    }
}
