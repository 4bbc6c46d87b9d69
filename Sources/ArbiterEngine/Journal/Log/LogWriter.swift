internal import ArbiterCore

/// Appends groups of records to a log that this process has begun; used by one thread at a time.
///
/// With durability `crash`, the file grows with each group. With `power`, zeros are written ahead, so that a commit changes
/// no metadata of the file; if there is no room for zeros, the file grows too.
struct LogWriter {
    /// The most bytes of memory that are kept for the next group.
    private static let bytesKept = 64 << 10

    let name: String
    private let storage: any JournalStorage
    private let file: any StoredFile
    private let writesAhead: Bool
    /// Where the next group goes.
    private(set) var end: Int
    /// The size of the file.
    private var size: Int
    /// The last record.
    private(set) var last: UInt64
    private var before: UInt32
    private var group = BinaryWriter(capacity: 1024)
    /// Nothing can be appended any more, because a write has failed, for instance.
    private(set) var isBroken = false

    /// Begins a log, and has it on the disk when it has its name.
    ///
    /// - Parameters:
    ///   - header: what it begins with.
    ///   - records: the first group, none to close the journal at once, or `nil` for no group.
    ///   - storage: the directory of the journal.
    /// - Throws: `JournalError` if it cannot be written; then there is no such log.
    init(_ header: LogHeader, _ records: [JournalEntry]?, in storage: any JournalStorage) throws(JournalError) {
        name = LogFormat.log(header.first)
        self.storage = storage
        writesAhead = header.durability == .power
        let unfinished = LogFormat.unfinished(name)
        file = try storage.create(unfinished, appends: header.durability == .crash)
        (end, size, last) = (0, 0, header.first - 1)
        let (bytes, checksum) = header.encoded
        before = checksum
        do throws(JournalError) {
            try file.write(bytes, at: 0)
            (end, size) = (bytes.count, bytes.count)
            if let records { _ = try append(records) }
            try file.synchronize()
            try storage.rename(unfinished, to: name)
            try storage.synchronize()
        } catch {
            file.close()
            try? storage.remove(unfinished)
            throw error
        }
    }

    /// Appends a group; after an error, nothing more can be appended.
    ///
    /// - Parameters:
    ///   - records: made under the same rules, the first of them right behind the last of the group before; none to close the
    ///     journal.
    ///   - synchronizing: whether to have them on the disk.
    /// - Returns: the bytes of the records.
    /// - Throws: `JournalError` if the group cannot be written, or if the disk refuses it.
    mutating func append(_ records: [JournalEntry], synchronizing: Bool = false) throws(JournalError) -> Int {
        precondition(!isBroken, "a log that could not be written is written further")
        try checkLastGroup()
        if group.bytes.count > Self.bytesKept { group = BinaryWriter(capacity: 1024) } else { group.restart() }
        let checksum = GroupHeader.encode(records, first: last + 1, before: before, to: &group)
        let count = group.bytes.count
        do throws(JournalError) {
            if writesAhead, !records.isEmpty, end + count > size { try writeAhead(count) }
            try file.write(group.bytes, at: end)
            if synchronizing { try file.synchronize() }
        } catch {
            isBroken = true
            // What the disk has refused can be read until the machine dies, and nobody may rely on it.
            try? file.truncate(to: end)
            throw error
        }
        (end, before, last) = (end + count, checksum, records.last?.sequence ?? last)
        size = max(size, end)
        return count - LogFormat.groupFrameBytes
    }

    /// Writes zeros for this many bytes and more, and has them on the disk.
    private mutating func writeAhead(_ count: Int) throws(JournalError) {
        let zeros = [UInt8](repeating: 0, count: max(count, LogFormat.bytesAtOnce))
        do throws(JournalError) {
            try file.write(zeros, at: size)
            try file.synchronize()
            size += zeros.count
        } catch {
            // There may be room for the group alone.
            try file.truncate(to: size)
        }
    }

    /// Checks that the file still has the last group.
    ///
    /// Its size does not tell that an earlier copy of the file was put in its place: with zeros written ahead, both
    /// have the same size.
    ///
    /// - Throws: `JournalError` if the head of the last group is not there.
    private func checkLastGroup() throws(JournalError) {
        guard end > LogFormat.headerBytes, !group.bytes.isEmpty else { return }
        guard try file.holds(group.bytes.prefix(LogFormat.groupHeaderBytes), at: end - group.bytes.count) else {
            throw LogJournal.vanished(storage)
        }
    }

    /// Whether the file with the log's name is still this one, and nobody else has made it shorter or longer.
    var isInPlace: Bool { file.isInPlace(as: name, size: size) }

    /// Whether the log is in place, and its header and last group are still there.
    func isUnchanged(_ header: LogHeader) -> Bool {
        guard isInPlace, let bytes = try? file.read(LogFormat.headerBytes, at: 0) else { return false }
        guard bytes == header.encoded.bytes, end > LogFormat.headerBytes, !group.bytes.isEmpty else {
            return bytes == header.encoded.bytes
        }
        return (try? file.read(group.bytes.count, at: end - group.bytes.count)) == group.bytes
    }

    /// Gives the room back that was written ahead, and has everything on the disk.
    ///
    /// - Throws: `JournalError` if the disk refuses; nothing more can be appended then.
    mutating func finish() throws(JournalError) {
        isBroken = true
        if size > end { try file.truncate(to: end) }
        size = end
        try file.synchronize()
        isBroken = false
    }

    /// Appends nothing more.
    mutating func giveUp() { isBroken = true }

    /// Lets go of the file.
    func close() { file.close() }
}
