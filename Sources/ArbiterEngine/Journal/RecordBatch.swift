internal import ArbiterCore

/// The records of a group, encoded, with a checksum.
///
/// The encoding is the number of records in three bytes, the rules that they were made under in one, then the moment and
/// record of each. Sequence numbers are not encoded: they follow from `first`.
package struct RecordBatch: Hashable, Sendable {
    /// What most records fit into.
    private static let bytesOfMostRecords = 256

    package let first: UInt64
    package let last: UInt64
    package let bytes: [UInt8]
    /// CRC-32 of the bytes.
    package let checksum: UInt32

    /// How many of the first records can be in one batch, because they were made under the same rules.
    package static func lengthUnderSameRules(_ records: some BidirectionalCollection<JournalEntry>) -> Int {
        guard let first = records.first, let last = records.last, first.rules != last.rules else {
            return records.count
        }
        return records.prefix { $0.rules == first.rules }.count
    }

    /// A batch of records made under the same rules, without a gap between them.
    package init(_ records: [JournalEntry]) {
        guard let first = records.first, let last = records.last else { preconditionFailure("a batch of no records") }
        self.first = first.sequence
        self.last = last.sequence
        var writer = BinaryWriter(capacity: Self.bytesOfMostRecords * records.count)
        Self.encode(records, to: &writer)
        bytes = writer.bytes
        checksum = Checksum.crc32(bytes)
    }

    /// Encodes records made under the same rules.
    static func encode(_ records: [JournalEntry], to writer: inout BinaryWriter) {
        guard let rules = records.first?.rules else { preconditionFailure("a batch of no records") }
        precondition(records.count < 1 << 24, "a batch of \(records.count) records")
        writer.write(UInt32(records.count) | UInt32(rules.rawValue) << 24)
        for record in records {
            precondition(record.rules == rules, "record \(record.sequence) was made under other rules")
            writer.write(record.moment)
            writer.write(record.record)
        }
    }

    /// A batch as it was read.
    package init(first: UInt64, last: UInt64, bytes: [UInt8], checksum: UInt32) {
        self.first = first
        self.last = last
        self.bytes = bytes
        self.checksum = checksum
    }

    /// The decoded records; `nil` if the bytes are not those that were written.
    ///
    /// - Throws: `JournalError` if they were made under rules that are not known here.
    package func records(of path: String) throws(JournalError) -> [JournalEntry]? {
        guard last >= first, Checksum.crc32(bytes) == checksum else { return nil }
        return try Self.records(first...last, in: bytes, of: path)
    }

    /// The records that bytes encode; `nil` if they do not encode these.
    ///
    /// - Throws: `JournalError` if they were made under rules that are not known here.
    static func records(
        _ sequences: ClosedRange<UInt64>, in bytes: [UInt8], of path: String
    ) throws(JournalError) -> [JournalEntry]? {
        do {
            return try decoded(sequences, in: bytes)
        } catch {
            if error.isUnknownVersion { throw JournalError(newer: error.subject, in: path) }
            return nil
        }
    }

    private static func decoded(
        _ sequences: ClosedRange<UInt64>, in bytes: [UInt8]
    ) throws(BinaryDecodingError) -> [JournalEntry] {
        var reader = BinaryReader(bytes)
        let count = UInt64(try reader.read(UInt16.self)) | UInt64(try reader.read(UInt8.self)) << 16
        let rules: Rules = try reader.read()
        guard count == sequences.upperBound - sequences.lowerBound + 1 else {
            throw reader.malformed("the number of records")
        }
        var records: [JournalEntry] = []
        for sequence in sequences {
            records.append(
                JournalEntry(
                    sequence: sequence, moment: try reader.read(), record: try reader.read(), rules: rules))
        }
        guard reader.isAtEnd else { throw reader.malformed("the end of a batch") }
        return records
    }
}
