/// A version of the rules by which records change the state: what a request means, who is granted, what is remembered.
///
/// Records and snapshots name the rules that they were made under. A replay needs those, since other rules may give
/// another state; a version that knows no such rules refuses the journal.
package enum Rules: UInt8, Hashable, Comparable, Sendable, CaseIterable {
    case first = 1
    /// Requests have priorities, interrupt others and wait for a state, and what is granted comes before all that waits. No version has made records with the number 2.
    case second = 3

    /// What this version adds to a journal is made under these, unless a cluster holds it to earlier ones.
    package static let newest = Rules.second

    /// The rules under which this version can add to a journal.
    package static let supported = Rules.first...newest

    package static func < (left: Rules, right: Rules) -> Bool { left.rawValue < right.rawValue }
}

extension Rules: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let number = try reader.read(UInt8.self)
        guard number > 0 else { throw reader.malformed("rules") }
        guard let rules = Rules(rawValue: number) else { throw reader.unknownVersion("rules \(number)") }
        self = rules
    }
}
