internal import ArbiterCore
internal import ArbiterEngine

/// The header `If-Match` (RFC 9110, section 13.1.1): change the scene only if its storyboard has a tag that is listed.
struct IfMatch: Hashable, Sendable {
    /// The value as it was sent; `*` if the request has no such header.
    let text: String
    let precondition: Precondition

    /// Reads the condition of a request; without the header, there is none.
    ///
    /// - Throws: `invalid-field` if it is neither `*` nor a list of entity tags.
    init(_ call: Call) throws(Problem) {
        guard let text = call.request.headers.value(of: .ifMatch) else {
            self.init(text: "*", precondition: .none)
            return
        }
        try self.init(text)
    }

    /// Reads the condition of a declaration or a patch: `If-Match`, or `If-None-Match: *`, which an undeclared scene meets.
    ///
    /// - Throws: `invalid-field` if one of them is malformed, or if both are given.
    init(declaring call: Call) throws(Problem) {
        let field = HeaderName.ifNoneMatch.text
        guard let text = call.request.headers.value(of: .ifNoneMatch) else {
            try self.init(call)
            return
        }
        guard EntityTagReader(text).isStar else {
            throw Problem(.invalidField, "If-None-Match must be * where a storyboard is declared.", field: field)
        }
        guard call.request.headers.value(of: .ifMatch) == nil else {
            throw Problem(.invalidField, "If-None-Match cannot be given together with If-Match.", field: field)
        }
        self.init(text: "*", precondition: .undeclared)
    }

    private init(text: String, precondition: Precondition) {
        self.text = text
        self.precondition = precondition
    }

    /// - Throws: `invalid-field` if it is neither `*` nor a list of entity tags.
    init(_ text: String) throws(Problem) {
        self.text = text
        var reader = EntityTagReader(text)
        if reader.isStar {
            precondition = .declared
        } else {
            // Weak tags never match, and neither do tags that no storyboard has. So the list may be empty.
            guard let versions = reader.versions() else {
                throw Problem(
                    .invalidField, "If-Match must be * or a list of entity tags, such as \"41\", \"42\".",
                    field: HeaderName.ifMatch.text)
            }
            precondition = .version(versions)
        }
    }
}

extension Problem {
    /// Why a scene was not replaced or deleted.
    init(changing error: EngineError, if condition: IfMatch) {
        switch error {
        case .refused(.versionMismatch(_, let actual)): self.init(expectedTags: condition.text, actual: actual)
        case .refused(.busy(let busy)): self.init(unfinished: busy)
        case .refused, .journalUnavailable, .notOwner: self.init(error)
        }
    }
}

/// Reads `#entity-tag` (RFC 9110, sections 5.6.1 and 8.8.3).
struct EntityTagReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// Whether the text is `*` and nothing else.
    var isStar: Bool {
        rest.lazy.filter { !Self.isSpace($0) }.elementsEqual("*".utf8)
    }

    /// The versions among the entity tags; a weak tag is none.
    ///
    /// - Returns: `nil` if the text is not a list with at least one entity tag.
    fileprivate mutating func versions() -> [StoryboardVersion]? {
        tags()?.compactMap { tag in tag.isWeak ? nil : StoryboardVersion(tag: tag.text) }
    }

    /// The entity tags, without quotes.
    ///
    /// - Returns: `nil` if the text is not a list with at least one entity tag.
    mutating func tags() -> [(isWeak: Bool, text: Substring.UTF8View)]? {
        var tags: [(isWeak: Bool, text: Substring.UTF8View)] = []
        while true {
            // Empty elements are allowed and ignored.
            while let byte = rest.first, byte == UInt8(ascii: ",") || Self.isSpace(byte) { rest.removeFirst() }
            guard !rest.isEmpty else { return tags.isEmpty ? nil : tags }
            guard let tag = tag() else { return nil }
            tags.append(tag)
            rest = rest.drop(while: Self.isSpace)
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return nil }
        }
    }

    private mutating func tag() -> (isWeak: Bool, text: Substring.UTF8View)? {
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

// MARK: - Entity tags

extension StoryboardVersion {
    /// Its tag with quotes: `"41"`, or `"41.2"` after two patches.
    var entityTag: String { "\"\(tag)\"" }

    private var tag: String { patches == 0 ? "\(revision.rawValue)" : "\(revision.rawValue).\(patches)" }

    /// The version of an entity tag; `nil` if the tag is not exactly as the daemon writes it.
    fileprivate init?(tag: Substring.UTF8View) {
        let numbers = Substring(tag).split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
        guard 1...2 ~= numbers.count, let revision = numbers[0], let patches = numbers.count == 2 ? numbers[1] : 0
        else { return nil }
        self.init(revision: Revision(rawValue: revision), patches: patches)
        guard self.tag.utf8.elementsEqual(tag) else { return nil }
    }
}
