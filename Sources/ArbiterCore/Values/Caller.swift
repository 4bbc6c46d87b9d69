/// The name of what a client has been authenticated as, such as `token:kiosk` or `uid:1000`: 1 to 128 bytes without
/// control characters.
package struct PrincipalName: CheckedName {
    package static var kind: String { "a principal's name" }
    package static var rule: String { "1 to \(Limits.principalNameBytes) bytes without control characters" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        text.isPlain(upTo: Limits.principalNameBytes)
    }
}

/// Who makes a request: what its sessions and idempotency keys belong to, and the scenes that exist for it.
package struct Caller: Hashable, Sendable {
    /// `nil` if nothing is known about the client, because nothing has to be.
    package let principal: PrincipalName?
    package let scenes: SceneSelection

    package init(principal: PrincipalName?, scenes: SceneSelection = .all) {
        self.principal = principal
        self.scenes = scenes
    }

    /// A client about which nothing has to be known.
    package static let anyone = Caller(principal: nil)
}

/// The scenes that a caller may use.
package enum SceneSelection: Hashable, Sendable {
    case all
    /// Those that match one of the patterns.
    case matching([ScenePattern])

    package func contains(_ scene: SceneName) -> Bool {
        switch self {
        case .all: true
        case .matching(let patterns): patterns.contains { $0.matches(scene) }
        }
    }
}

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

/// The place of a request in a trace of several processes (https://www.w3.org/TR/trace-context/): the text of
/// `traceparent`, of version 00.
package struct TraceParent: CheckedName {
    package static var kind: String { "a traceparent" }
    package static var rule: String { "00-, 32 hexadecimal digits, -, 16 of them, - and 2 of them" }
    package let description: String

    package init(unchecked text: String) { description = text }

    package static func isValid(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [2, 32, 16, 2], parts[0].elementsEqual("00".utf8) else { return false }
        let areDigits = parts.dropFirst().allSatisfy { $0.allSatisfy(\.isLowerHexadecimal) }
        let zero = UInt8(ascii: "0")
        // An id of zeros only is invalid.
        return areDigits && parts[1].contains { $0 != zero } && parts[2].contains { $0 != zero }
    }

    /// The id of the whole trace: 32 hexadecimal digits.
    package var traceID: String { String(description.dropFirst(3).prefix(32)) }
}

extension UInt8 {
    fileprivate var isLowerHexadecimal: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}

/// An idempotency key belongs to a principal: the same text of another principal is another key.
package struct OwnedKey: Hashable, Sendable {
    let principal: PrincipalName?
    let key: IdempotencyKey
}

/// How an administrator took a transition from its owner.
package struct Revocation: Hashable, Sendable {
    package let reason: RevocationReason
    /// The administrator; `nil` if nothing is known about the client.
    package let principal: PrincipalName?

    package init(_ reason: RevocationReason, by principal: PrincipalName? = nil) {
        self.reason = reason
        self.principal = principal
    }
}

extension Revocation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(reason)
        writer.write(principal)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        reason = try reader.read()
        principal = reader.layout >= .second ? try reader.readOptional() : nil
    }
}
