/// The way from the top of a scene down to one place of its hierarchy; empty for the scene itself.
///
/// Two transitions conflict if a path of one is the same as, or the beginning of, a path of the other: that is what
/// "the same as, an ancestor of or a descendant of" says of trees.
package typealias ScopePath = [ControllerID]
