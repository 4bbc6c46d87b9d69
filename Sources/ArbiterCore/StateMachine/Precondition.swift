/// A condition on a scene for replacing or deleting it (`If-Match`, RFC 9110, section 13.1.1).
package enum Precondition: Hashable, Sendable {
    case none
    /// The scene exists.
    case exists
    /// The scene has one of these revisions; an empty list is never met.
    case revision([Revision])

    /// Checks the condition.
    ///
    /// - Parameter actual: the scene's revision; `nil` if the scene does not exist.
    /// - Throws: `revisionMismatch`.
    func check(_ actual: Revision?) throws(ArbiterError) {
        let isMet =
            switch self {
            case .none: true
            case .exists: actual != nil
            case .revision(let revisions): actual.map { revisions.contains($0) } ?? false
            }
        guard isMet else { throw .revisionMismatch(expected: self, actual: actual) }
    }
}
