/// The access that a route needs, and that an entry of the access file gives.
package enum Role: String, Hashable, Sendable, CaseIterable {
    /// To see scenes and transitions, and to follow events.
    case observe
    /// To request transitions, to act on one's own, and to have sessions.
    case transition
    /// To declare scenes and to delete them, and to remove what others guard.
    case design
    /// To take transitions from their owners; a principal may take its own without it.
    case admin
}
