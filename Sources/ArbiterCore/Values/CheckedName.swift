/// A text that is validated when it is created, so that its users need not check it again.
package protocol CheckedName: Hashable, Sendable, CustomStringConvertible, BinaryCodable {
    /// What the text names, with an article, for error messages: `a scene's name`.
    static var kind: String { get }
    /// The texts that are allowed, for error messages: `1 to 64 of A-Z a-z 0-9 . _ and -`.
    static var rule: String { get }

    /// Whether a text follows the rule.
    static func isValid(_ text: String) -> Bool

    /// Creates a name from a text that is known to follow the rule.
    init(unchecked text: String)
}

extension CheckedName {
    /// - Returns: `nil` if the text does not follow the rule.
    package init?(_ text: String) {
        guard Self.isValid(text) else { return nil }
        self.init(unchecked: text)
    }

    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        guard let name = Self(try reader.readText()) else { throw reader.malformed(Self.kind) }
        self = name
    }
}

/// The name of one arbitrated interface: `[A-Za-z0-9._-]{1,64}`, but neither `.` nor `..`.
///
/// HTTP clients remove `.` and `..` from paths.
package struct SceneName: CheckedName {
    package static let main = SceneName(unchecked: "main")

    package static var kind: String { "a scene's name" }
    package static var rule: String { "1 to \(Limits.sceneNameBytes) of A-Z a-z 0-9 . _ and -, but not . or .." }
    package let description: String
    /// Computed once, because every request leads to its scene many times.
    private let hash: Int

    package init(unchecked text: String) {
        description = text
        hash = text.hashValue
    }

    package static func == (left: SceneName, right: SceneName) -> Bool {
        left.hash == right.hash && left.description == right.description
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    package func _rawHashValue(seed: Int) -> Int { hash.mixed(with: seed) }

    package static func isValid(_ text: String) -> Bool {
        text.isWord(upTo: Limits.sceneNameBytes) { $0.isNameByte } && text != "." && text != ".."
    }
}

/// The name of a node of a scene's hierarchy: `[A-Za-z0-9._:-]{1,128}`.
package struct ControllerID: CheckedName {
    package static var kind: String { "a controller's id" }
    package static var rule: String { "1 to \(Limits.controllerIDBytes) of A-Z a-z 0-9 . _ : and -" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isWord(upTo: Limits.controllerIDBytes) { $0.isNameByte || $0 == UInt8(ascii: ":") }
    }
}

/// The name that a process gives itself, for people to read: 1 to 128 bytes without control characters.
///
/// It proves nothing.
package struct ClientName: CheckedName {
    package static var kind: String { "a client's name" }
    package static var rule: String { "1 to \(Limits.clientNameBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.clientNameBytes)
    }
}

/// Why an administrator revokes a transition, or a participant vetoes it, for people to read: 1 to 256 bytes without control
/// characters.
package struct GivenReason: CheckedName {
    package static var kind: String { "a reason" }
    package static var rule: String { "1 to \(Limits.reasonBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.reasonBytes)
    }
}

/// Why a transition is held, for people: 1 to 512 bytes without control characters.
package struct Note: CheckedName {
    package static var kind: String { "a note" }
    package static var rule: String { "1 to \(Limits.noteBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool { text.isPlain(upTo: Limits.noteBytes) }
}

/// The name of a kind of animation: 1 to 128 bytes without control characters.
package struct TransitionTypeName: CheckedName {
    package static var kind: String { "a transition type's name" }
    package static var rule: String { "1 to \(Limits.transitionTypeBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.transitionTypeBytes)
    }
}

/// The name of a segue, unique among those of its source: 1 to 128 bytes without control characters.
package struct SegueIdentifier: CheckedName {
    package static var kind: String { "a segue's identifier" }
    package static var rule: String { "1 to \(Limits.segueIdentifierBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.segueIdentifierBytes)
    }
}

/// Identifies a request that a client may send again: 1 to 128 visible ASCII characters.
///
/// The repeated request gets the token of the first one. Clients are held to `Limits.idempotencyKeys`: a short one could be
/// guessed.
package struct IdempotencyKey: CheckedName {
    package static var kind: String { "an idempotency key" }
    package static var rule: String { "1 to \(Limits.idempotencyKeys.upperBound) visible ASCII characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isWord(upTo: Limits.idempotencyKeys.upperBound) { 0x21...0x7e ~= $0 }
    }
}

/// An idempotency key belongs to a principal and a scene: the same text of another principal, or in another scene, is
/// another key.
package struct OwnedKey: Hashable, Sendable {
    let principal: PrincipalName?
    let scene: SceneName
    let key: IdempotencyKey
}

/// Shared by transitions with the same purpose: 1 to 128 bytes without control characters.
package struct CoalescingKey: CheckedName {
    package static var kind: String { "a coalescing key" }
    package static var rule: String { "1 to \(Limits.coalescingKeyBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.coalescingKeyBytes)
    }
}

extension String {
    func isPlain(upTo limit: Int) -> Bool {
        isWord(upTo: limit) { _ in true }
            && unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    func isWord(upTo limit: Int, of isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8
        return !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy(isAllowed)
    }
}

extension UInt8 {
    /// `[A-Za-z0-9._-]`.
    var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
