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
        precondition(records.count < 1 << 24, "a batch of \(records.count) records")
        writer.write(UInt32(records.count) | UInt32(first.rules.rawValue) << 24)
        for record in records {
            precondition(record.rules == first.rules, "record \(record.sequence) was made under other rules")
            writer.write(record.moment)
            writer.write(record.record)
        }
        bytes = writer.bytes
        checksum = Checksum.crc32(bytes)
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
        guard Checksum.crc32(bytes) == checksum else { return nil }
        do {
            return try decoded()
        } catch {
            if error.isUnknownVersion { throw JournalError(newer: error.subject, in: path) }
            return nil
        }
    }

    private func decoded() throws(BinaryDecodingError) -> [JournalEntry] {
        var reader = BinaryReader(bytes)
        let count = UInt64(try reader.read(UInt16.self)) | UInt64(try reader.read(UInt8.self)) << 16
        let rules: Rules = try reader.read()
        guard last >= first, count == last - first + 1 else { throw reader.malformed("the number of records") }
        var records: [JournalEntry] = []
        for sequence in first...last {
            records.append(
                JournalEntry(
                    sequence: sequence, moment: try reader.read(), record: try reader.read(), rules: rules))
        }
        guard reader.isAtEnd else { throw reader.malformed("the end of a batch") }
        return records
    }
}
