/// What a transition locks.
package enum Scope: Hashable, Sendable {
    /// The whole scene.
    case scene
    /// The subtrees that its operation touches.
    case operation
    /// The subtrees under these controllers, and those that its operation touches, if it has one.
    case controllers([ControllerID])
}
