/// What a transition locks.
package enum Scope: Hashable, Sendable {
    /// The whole scene.
    case scene
    /// The subtrees that its operation touches.
    case operation
    /// The subtrees under these controllers, and those that its operation touches, if it has one.
    ///
    /// In a scene without a hierarchy these are names: two of them conflict if they are the same.
    case controllers([ControllerID])
    /// One of these names: the first at which nothing is in the way; only in a scene without a hierarchy, and before the grant.
    case anyOf([ControllerID])
}

/// Which others a transition conflicts with.
package enum TransitionMode: String, Hashable, Sendable, CaseIterable {
    /// With all that lock something of the same.
    case exclusive
    /// With exclusive ones only.
    case shared
}
