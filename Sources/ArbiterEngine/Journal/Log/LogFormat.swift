internal import ArbiterCore

/// How a journal is kept in files.
///
/// A journal is the newest snapshot, and logs with the records after it. `snapshot-7` is the state after record 7;
/// `log-8` begins with record 8. Each process that writes begins a log of its own, and so does each compaction. `torn-9`
/// is what was cut off where record 9 would have begun; nothing reads it.
///
/// A log is a header, then groups of records, one for each commit. What is behind the last group is nothing, or zeros.
/// All numbers are little-endian; the checksums are CRC-32C.
enum LogFormat {
    /// The form of logs and snapshots; those of a newer form are refused.
    static let form: UInt16 = 1
    static let headerBytes = 64
    /// More than a journal ever has; so numbers can be counted on without an overflow.
    static let mostRecords = UInt64(Int64.max)
    static let groupHeaderBytes = 28
    /// The last byte of a group; no text has it, so no request can have a group within it.
    static let endOfGroup: UInt8 = 0xff
    /// The bytes of a group besides its records.
    static let groupFrameBytes = groupHeaderBytes + 1
    /// How much of a file is read or written at once.
    static let bytesAtOnce = 1 << 20

    static func log(_ first: UInt64) -> String { "log-\(first)" }
    static func snapshot(_ sequence: UInt64) -> String { "snapshot-\(sequence)" }
    static func torn(_ first: UInt64) -> String { "torn-\(first)" }
    /// The name of a file that is not complete yet.
    static func unfinished(_ name: String) -> String { name + suffixOfUnfinished }
    static let suffixOfUnfinished = ".new"
}

/// The numbers of a journal's files.
struct LogFiles {
    /// The last records in the snapshots, in ascending order.
    private(set) var snapshots: [UInt64] = []
    /// The first records of the logs, in ascending order.
    private(set) var logs: [UInt64] = []
    /// How many ends were cut off.
    private(set) var torn = 0
    /// The names of files that were not completed.
    private(set) var unfinished: (snapshots: [String], logs: [String]) = ([], [])

    /// - Throws: `JournalError` if the directory cannot be read.
    init(in storage: any JournalStorage) throws(JournalError) {
        for name in try storage.names() {
            if name.hasSuffix(LogFormat.suffixOfUnfinished) {
                if name.hasPrefix("snapshot-") { unfinished.snapshots.append(name) }
                if name.hasPrefix("log-") { unfinished.logs.append(name) }
            }
            let parts = name.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, let number = UInt64(parts[1]), "\(number)" == parts[1],
                1...LogFormat.mostRecords ~= number
            else { continue }
            switch parts[0] {
            case "snapshot": snapshots.append(number)
            case "log": logs.append(number)
            case "torn": torn += 1
            default: break
            }
        }
        snapshots.sort()
        logs.sort()
    }

    /// Whether there is no journal.
    var isEmpty: Bool { snapshots.isEmpty && logs.isEmpty }
}

/// What the head of a log says.
struct LogHeader: Hashable, Sendable {
    /// The newest rules that its writer knows.
    var rules = Rules.newest
    /// Drawn when the journal was begun; all of its files have it.
    let journal: UInt128
    /// The boot of the machine that it was written in.
    let boot: UInt128
    /// The first record that may follow.
    let first: UInt64
    let durability: LogJournal.Durability
    /// Whether it is a copy, behind which records may be missing.
    var isCopy = false
    /// Drawn for each log, so that the groups of two logs never continue each other.
    var life = UInt32.random(in: .min ... .max)

    private static let magic: [UInt8] = Array("arb-log\n".utf8)

    /// The checksum of the header, which the first group names.
    var checksum: UInt32 { encoded.checksum }

    /// The header as it is written, and its checksum.
    var encoded: (bytes: [UInt8], checksum: UInt32) {
        var writer = BinaryWriter(capacity: LogFormat.headerBytes)
        for byte in Self.magic { writer.write(byte) }
        writer.write(LogFormat.form)
        writer.write(UInt16(rules.rawValue))
        writer.write(UInt16(durability == .power ? 1 : 0))
        writer.write(UInt16(isCopy ? 1 : 0))
        writer.write(journal)
        writer.write(boot)
        writer.write(first)
        writer.write(life)
        let checksum = CRC32C.of(writer.bytes)
        writer.write(checksum)
        return (writer.bytes, checksum)
    }

    /// - Throws: `JournalError` if the bytes are no header, or one of a newer form.
    init(_ bytes: [UInt8], of path: String) throws(JournalError) {
        guard !bytes.isEmpty else { throw JournalError(damage: "it is empty", in: path) }
        guard bytes.count == LogFormat.headerBytes, bytes.starts(with: Self.magic) else {
            throw JournalError(damage: "it does not begin as a log", in: path)
        }
        var reader = BinaryReader(Array(bytes.dropFirst(Self.magic.count)))
        do {
            let form: UInt16 = try reader.read()
            // What a newer version writes may be anything from here on.
            guard form <= LogFormat.form else {
                throw JournalError(newer: "form \(form), known here is \(LogFormat.form)", in: path)
            }
            let number: UInt16 = try reader.read()
            let durability: UInt16 = try reader.read()
            let copy: UInt16 = try reader.read()
            journal = try reader.read()
            boot = try reader.read()
            first = try reader.read()
            life = try reader.read()
            let checksum: UInt32 = try reader.read()
            self.durability = durability == 1 ? .power : .crash
            isCopy = copy == 1
            guard CRC32C.of(bytes.dropLast(MemoryLayout<UInt32>.size)) == checksum, form > 0, first > 0 else {
                throw JournalError(damage: "its header is not what was written", in: path)
            }
            guard number <= UInt8.max, let rules = Rules(rawValue: UInt8(number)) else {
                throw JournalError(newer: "rules \(number)", in: path)
            }
            self.rules = rules
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalError(damage: "its header is not what was written", in: path)
        }
    }

    init(journal: UInt128, boot: UInt128, first: UInt64, durability: LogJournal.Durability, isCopy: Bool = false) {
        (self.journal, self.boot, self.first, self.durability) = (journal, boot, first, durability)
        self.isCopy = isCopy
    }
}

/// What the head of a group says.
///
/// A group without records, whose last record is the one before its first, says that the journal was closed.
struct GroupHeader: Hashable {
    /// Of everything in the group that follows it.
    let checksum: UInt32
    /// The bytes of its records.
    let length: Int
    let first: UInt64
    let last: UInt64
    /// The checksum of the group before, or of the log's header.
    let before: UInt32

    private static let placeOfLength = 4

    /// - Returns: `nil` if the bytes are no head of a group.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= LogFormat.groupHeaderBytes else { return nil }
        (checksum, length, first, last, before) = unsafe bytes.withUnsafeBytes { bytes in
            unsafe (
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)),
                Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
            )
        }
        guard first > 0, last < LogFormat.mostRecords, last + 1 >= first else { return nil }
        guard length > 0 ? last >= first : last + 1 == first else { return nil }
    }

    /// Whether it says that the journal was closed.
    var isClosing: Bool { length == 0 }
    /// The bytes of the whole group.
    var size: Int { LogFormat.groupFrameBytes + length }

    /// Whether the bytes from this header on are the group that was written.
    func isWhole(_ bytes: ArraySlice<UInt8>) -> Bool { isWhole(bytes, size: size) }

    /// Whether the bytes from this header on are a group of a size that has the header's checksum.
    func isWhole(_ bytes: ArraySlice<UInt8>, size: Int) -> Bool {
        guard bytes.count >= size else { return false }
        let group = bytes.prefix(size)
        return group.last == LogFormat.endOfGroup && CRC32C.of(group.dropFirst(MemoryLayout<UInt32>.size)) == checksum
    }

    /// Makes the length in a group that of a group of this size.
    static func setLength(of group: inout [UInt8], size: Int) {
        let length = UInt32(clamping: size - LogFormat.groupFrameBytes)
        for index in 0..<4 { group[placeOfLength + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    }

    /// Encodes a group.
    ///
    /// - Parameters:
    ///   - records: made under the same rules, without a gap between them; none to close the journal.
    ///   - first: the first record, or the one that would be next.
    ///   - before: the checksum of the group before.
    ///   - writer: empty; takes the group.
    /// - Returns: the checksum of the group.
    static func encode(
        _ records: [JournalEntry], first: UInt64, before: UInt32, to writer: inout BinaryWriter
    ) -> UInt32 {
        writer.write(UInt32(0))
        writer.write(UInt32(0))
        writer.write(first)
        writer.write(records.last?.sequence ?? first - 1)
        writer.write(before)
        if !records.isEmpty { RecordBatch.encode(records, to: &writer) }
        writer.write(LogFormat.endOfGroup)
        writer.replace(UInt32(writer.bytes.count - LogFormat.groupFrameBytes), at: placeOfLength)
        let checksum = CRC32C.of(writer.bytes.dropFirst(MemoryLayout<UInt32>.size))
        writer.replace(checksum, at: 0)
        return checksum
    }
}
