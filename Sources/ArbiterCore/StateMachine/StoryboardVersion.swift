/// A version of a scene's storyboard: another one after each declaration, each patch and each change of the hierarchy.
package struct StoryboardVersion: Hashable, Sendable {
    package let revision: Revision
    /// How often it was changed by a patch since it was declared.
    package let patches: UInt64

    package init(revision: Revision, patches: UInt64 = 0) {
        self.revision = revision
        self.patches = patches
    }
}
