internal import ArbiterCore

/// The records of a group, encoded, with a checksum.
///
/// The encoding is the number of records, then the moment and command of each. Sequence numbers are not encoded: they
/// follow from `first`.
struct RecordBatch: Hashable, Sendable {
    let first: UInt64
    let last: UInt64
    let bytes: [UInt8]
    /// CRC-32 of the bytes.
    let checksum: UInt32

    /// Encodes records with consecutive sequence numbers.
    init(_ records: [JournalRecord]) {
        guard let first = records.first, let last = records.last else { preconditionFailure("a batch without records") }
        self.first = first.sequence
        self.last = last.sequence
        var writer = BinaryWriter()
        writer.write(UInt32(records.count))
        for record in records {
            writer.write(record.moment)
            writer.write(record.command)
        }
        bytes = writer.bytes
        checksum = Checksum.crc32(bytes)
    }

    /// A batch as read from the database.
    init(first: UInt64, last: UInt64, bytes: [UInt8], checksum: UInt32) {
        self.first = first
        self.last = last
        self.bytes = bytes
        self.checksum = checksum
    }

    /// The decoded records; `nil` if the bytes are not those that were written.
    var records: [JournalRecord]? {
        guard Checksum.crc32(bytes) == checksum else { return nil }
        return try? decoded()
    }

    private func decoded() throws(BinaryDecodingError) -> [JournalRecord] {
        var reader = BinaryReader(bytes)
        let count = UInt64(try reader.read(UInt32.self))
        guard last >= first, count == last - first + 1 else { throw reader.malformed("the number of records") }
        var records: [JournalRecord] = []
        for sequence in first...last {
            records.append(
                JournalRecord(sequence: sequence, moment: try reader.read(), command: try reader.read()))
        }
        guard reader.isAtEnd else { throw reader.malformed("the end of a batch") }
        return records
    }
}

/// CRC-32 as in ISO 3309 and PNG (W3C, "Portable Network Graphics", annex D).
enum Checksum {
    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
    }
}
