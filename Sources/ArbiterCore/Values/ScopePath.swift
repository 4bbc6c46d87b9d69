/// The ids from the top of a scene's hierarchy down to one controller; empty for the whole scene.
///
/// Two transitions conflict if a path of one is equal to, or a prefix of, a path of the other: then the controller of
/// one is the same as, an ancestor of or a descendant of the other's.
package typealias ScopePath = [ControllerID]
