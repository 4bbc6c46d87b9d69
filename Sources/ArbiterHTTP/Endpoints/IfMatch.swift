internal import ArbiterCore

/// What `If-Match` says (RFC 9110, section 13.1.1): a scene is to be changed only if it still has a revision that is
/// known.
struct IfMatch: Hashable, Sendable {
    /// As it was sent.
    let text: String
    private let wanted: Wanted

    private enum Wanted: Hashable, Sendable {
        /// `*`: the scene is there.
        case any
        /// Of the entity tags, those that a scene can have. Weak ones never match.
        case revisions([Revision])
    }

    /// - Throws: `invalid-field` if it is neither `*` nor a list of entity tags.
    init(_ text: String) throws(Problem) {
        self.text = text
        var reader = EntityTagReader(text)
        if reader.isStar {
            wanted = .any
        } else {
            guard let revisions = reader.revisions() else {
                throw Problem(
                    .invalidField, "If-Match must be * or a list of entity tags, such as \"41\", \"42\".",
                    field: HeaderName.ifMatch.rawValue)
            }
            wanted = .revisions(revisions)
        }
    }

    func isMet(by revision: Revision) -> Bool {
        switch wanted {
        case .any: true
        case .revisions(let revisions): revisions.contains(revision)
        }
    }

    /// A revision to try first; where none will do for certain, one that no scene ever has.
    var likeliest: Revision {
        switch wanted {
        case .any: Revision(rawValue: .max)
        case .revisions(let revisions): revisions.last ?? Revision(rawValue: .max)
        }
    }
}

/// Reads `#entity-tag` (RFC 9110, sections 5.6.1 and 8.8.3).
private struct EntityTagReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// Whether the text is `*` and nothing else.
    var isStar: Bool {
        rest.lazy.filter { !Self.isSpace($0) }.elementsEqual("*".utf8)
    }

    /// - Returns: `nil` if the text is no list of entity tags with at least one in it.
    mutating func revisions() -> [Revision]? {
        var revisions: [Revision] = []
        var count = 0
        while true {
            // Empty elements count as none.
            while let byte = rest.first, byte == UInt8(ascii: ",") || Self.isSpace(byte) { rest.removeFirst() }
            guard !rest.isEmpty else { return count > 0 ? revisions : nil }
            guard let (isWeak, tag) = tag() else { return nil }
            count += 1
            if !isWeak, let revision = Revision(tag: tag) { revisions.append(revision) }
            rest = rest.drop(while: Self.isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
    }

    private mutating func tag() -> (isWeak: Bool, tag: Substring.UTF8View)? {
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        let tag = rest.prefix { $0 == 0x21 || 0x23...0x7e ~= $0 || $0 >= 0x80 }
        rest = rest[tag.endIndex...]
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        return (isWeak, tag)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

extension Revision {
    /// The revision of an entity tag, which is written in one way only.
    fileprivate init?(tag: Substring.UTF8View) {
        guard let value = UInt64(String(Substring(tag))), String(value).utf8.elementsEqual(tag) else { return nil }
        self.init(rawValue: value)
    }
}
