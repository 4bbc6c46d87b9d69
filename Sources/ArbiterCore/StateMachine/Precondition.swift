/// A condition on a scene for replacing or deleting it (`If-Match` and `If-None-Match`, RFC 9110, section 13.1).
package enum Precondition: Hashable, Sendable {
    case none
    /// The scene exists.
    case exists
    /// The scene has one of these revisions; an empty list is never met.
    case revision([Revision])
    /// No client has declared the scene.
    case undeclared

    /// Checks the condition.
    ///
    /// - Parameters:
    ///   - scene: the scene; `nil` if it does not exist.
    ///   - name: its name.
    /// - Throws: `revisionMismatch`, `alreadyDeclared`.
    func check(_ scene: Scene?, named name: SceneName) throws(ArbiterError) {
        let actual = scene?.numbers.revision
        let isMet =
            switch self {
            case .none: true
            case .undeclared: scene?.isDeclared != true
            case .exists: actual != nil
            case .revision(let revisions): actual.map { revisions.contains($0) } ?? false
            }
        guard !isMet else { return }
        throw self == .undeclared ? .alreadyDeclared(name) : .revisionMismatch(expected: self, actual: actual)
    }
}
