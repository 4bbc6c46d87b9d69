/// A pattern for names of scenes: characters of names, and `*` for any characters, also none.
package struct ScenePattern: CheckedName {
    package static var kind: String { "a pattern for scenes" }
    package static var rule: String { "1 to \(Limits.scenePatternBytes) of A-Z a-z 0-9 . _ - and *" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isWord(upTo: Limits.scenePatternBytes) { $0.isNameByte || $0 == Self.star }
    }

    private static let star = UInt8(ascii: "*")

    /// Whether it matches every name.
    package var matchesAll: Bool { description.utf8.allSatisfy { $0 == Self.star } }

    /// Whether it matches a name; takes time proportional to the product of the lengths at most.
    package func matches(_ scene: SceneName) -> Bool {
        let (pattern, name) = (Array(description.utf8), Array(scene.description.utf8))
        var (place, index) = (0, 0)
        // Where to continue if the characters after the last star do not match: with one more character for the star.
        var retry: (place: Int, index: Int)?
        while index < name.count {
            if place < pattern.count, pattern[place] == Self.star {
                retry = (place + 1, index)
                place += 1
            } else if place < pattern.count, pattern[place] == name[index] {
                place += 1
                index += 1
            } else if let last = retry {
                retry = (last.place, last.index + 1)
                (place, index) = (last.place, last.index + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == Self.star }
    }
}
