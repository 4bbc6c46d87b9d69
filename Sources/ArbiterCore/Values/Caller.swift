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

/// A byte of flags, then what they say there is.
extension Caller: BinaryCodable {
    private enum Flag {
        static let principal: UInt8 = 1
        static let patterns: UInt8 = 2
        static let all = principal | patterns
    }

    package func encode(to writer: inout BinaryWriter) {
        var flags: UInt8 = principal == nil ? 0 : Flag.principal
        if case .matching = scenes { flags |= Flag.patterns }
        writer.write(flags)
        if let principal { writer.write(principal) }
        if case .matching(let patterns) = scenes { writer.write(patterns) }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let flags: UInt8 = try reader.read()
        guard flags <= Flag.all else { throw reader.malformed("a caller") }
        principal = flags & Flag.principal == 0 ? nil : try reader.read()
        scenes = flags & Flag.patterns == 0 ? .all : .matching(try reader.readArray())
    }
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
