/// A version of the rules by which records change the state: what a request means, who is granted, what is remembered.
///
/// Records and snapshots name the rules that they were made under. A replay needs those, since other rules may give
/// another state; a version that knows no such rules refuses the journal. The first rules are those of journals that name
/// none.
package enum Rules: UInt8, Hashable, Comparable, Sendable, CaseIterable {
    case first = 0

    /// What this version adds to a journal is made under these.
    package static let newest = Rules.first

    package static func < (left: Rules, right: Rules) -> Bool { left.rawValue < right.rawValue }
}

extension Rules: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let number = try reader.read(UInt8.self)
        guard let rules = Rules(rawValue: number) else { throw reader.unknownVersion("rules \(number)") }
        self = rules
    }
}
