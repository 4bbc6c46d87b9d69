/// A condition on a scene's storyboard for changing it or deleting the scene (`If-Match` and `If-None-Match`, RFC 9110,
/// section 13.1).
package enum Precondition: Hashable, Sendable {
    case none
    /// A client has declared the scene.
    case declared
    /// The storyboard has one of these versions; an empty list is never met.
    case version([StoryboardVersion])
    /// No client has declared the scene.
    case undeclared

    /// Checks the condition.
    ///
    /// - Parameters:
    ///   - scene: the scene; `nil` if it does not exist.
    ///   - name: its name.
    /// - Throws: `versionMismatch`, `alreadyDeclared`.
    func check(_ scene: Scene?, named name: SceneName) throws(ArbiterError) {
        let actual = scene?.version
        let isMet =
            switch self {
            case .none: true
            case .undeclared: actual == nil
            case .declared: actual != nil
            case .version(let versions): actual.map { versions.contains($0) } ?? false
            }
        guard !isMet else { return }
        throw self == .undeclared ? .alreadyDeclared(name) : .versionMismatch(expected: self, actual: actual)
    }
}
