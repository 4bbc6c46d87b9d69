internal import ArbiterCore

/// Reads the newest snapshot of a journal, and the records in the logs after it.
///
/// It changes nothing, and has no more in memory than a snapshot, or a group and a part of a log.
struct LogReader {
    private let storage: any JournalStorage
    /// The current boot of the machine.
    private let boot: UInt128
    /// Whether a process may be writing the journal, so that its last group may look torn.
    private let isWritten: Bool
    let files: LogFiles

    /// - Parameters:
    ///   - storage: the directory of the journal.
    ///   - boot: the current boot of the machine.
    ///   - isWritten: whether a process may be writing the journal.
    /// - Throws: `JournalError` if the directory cannot be read.
    init(_ storage: any JournalStorage, boot: UInt128, isWritten: Bool = false) throws(JournalError) {
        (self.storage, self.boot, self.isWritten) = (storage, boot, isWritten)
        files = try LogFiles(in: storage)
    }

    /// What is in a journal besides its records.
    struct Found {
        /// The last record, or the last in the snapshot if there are no records after it.
        var last: UInt64 = 0
        /// The bytes of the records after the snapshot.
        var bytes = 0
        /// Which journal it is; `nil` if there is none.
        var journal: UInt128?
        /// The last record in the snapshot; 0 if there is none.
        var snapshot: UInt64 = 0
        /// The bytes of the snapshot's state.
        var snapshotBytes = 0
        /// The header of the newest log; `nil` if that is missing.
        var header: LogHeader?
        /// The newest log, as long as it was when it was read; `nil` if it is missing.
        var newest: (file: any StoredFile, name: String, size: Int)?
        /// Where the last group of the newest log ends.
        var end = 0
        /// Where the log says that the journal was closed; `nil` if it does not.
        var closing: Int?
        /// What is behind the last group of the newest log.
        var tail = Tail.nothing
    }

    /// What is behind the last whole group of a log, besides zeros.
    enum Tail: Hashable {
        case nothing
        /// A group that was not written to its end.
        case incomplete(Range<Int>)
        /// Bytes that are not the group that was written.
        case different(Range<Int>)

        /// The bytes that are cut off.
        var range: Range<Int>? {
            switch self {
            case .nothing: nil
            case .incomplete(let range), .different(let range): range
            }
        }
    }

    /// Reads the journal up to a record.
    ///
    /// - Parameters:
    ///   - limit: the last record to read; it is the last of a log.
    ///   - begin: called once, with the newest snapshot.
    ///   - take: called with the records of each group.
    /// - Returns: what else was found.
    /// - Throws: `JournalError` if the journal cannot be read, if something is missing, or if anything but what a dead writer
    ///   may have left differs from what was written; and the errors of the closures.
    func read(
        through limit: UInt64 = .max, _ begin: (SnapshotFile?) throws(JournalError) -> Void,
        _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> Found {
        var found = Found()
        if let newest = files.snapshots.last {
            let snapshot = try SnapshotFile(newest, in: storage)
            (found.journal, found.last) = (snapshot.journal, newest)
            (found.snapshot, found.snapshotBytes) = (newest, snapshot.byteCount)
            try snapshot.check()
            try begin(snapshot)
        } else {
            try begin(nil)
        }
        // Older logs, which the snapshot has replaced, may not have been removed yet. The one behind the snapshot was begun
        // before the snapshot was made.
        let logs = files.logs.drop { $0 <= found.last }
        guard logs.first == found.last + 1 else {
            guard let first = logs.first else { return found }
            throw missing(before: first, after: found.last)
        }
        for first in logs where first <= limit {
            var log = try LogCursor(first, in: storage)
            guard log.header.journal == found.journal ?? log.header.journal else {
                throw JournalError(damage: "it is of another journal", in: log.path)
            }
            found.journal = log.header.journal
            guard first == found.last + 1 else { throw missing(before: first, after: found.last) }
            (found.header, found.closing) = (log.header, nil)
            // What is in an earlier log from there on was cut off by the writer of the next one.
            let next = logs.first { $0 > first } ?? .max
            while found.last + 1 < next, let group = try log.next(after: found.last) {
                guard found.closing == nil else {
                    throw JournalError(damage: "records follow its end at byte \(group.offset)", in: log.path)
                }
                guard !group.header.isClosing else {
                    found.closing = group.offset
                    continue
                }
                try take(group.records)
                found.last = group.header.last
                found.bytes += group.header.length
            }
            found.newest = (log.file, LogFormat.log(first), log.size)
            found.end = log.offset
            if first == logs.last { found.tail = try tail(of: &log, after: found.last) }
            if found.tail != .nothing { found.closing = nil }
        }
        return found
    }

    /// What is behind the last group of the newest log.
    ///
    /// - Throws: `JournalError` if it is something that a dead writer cannot have left.
    private func tail(of log: inout LogCursor, after last: UInt64) throws(JournalError) -> Tail {
        let tail = try log.tail(after: last)
        // The disk of a machine that died may have got what was not synchronized in any order.
        let isInAnyOrder = log.header.boot != boot && log.header.durability == .crash
        guard !isWritten, !isInAnyOrder, let range = tail.range, let whole = try log.wholeGroup(in: range) else {
            return tail
        }
        throw JournalError(
            .damaged,
            reason:
                "\(log.path) is damaged at byte \(range.lowerBound), after record \(last), and there is more behind it "
                + "at byte \(whole): restore a copy of it, or move \(storage.path) away to begin anew")
    }

    private func missing(before first: UInt64, after last: UInt64) -> JournalError {
        JournalError(
            damage: "the records after \(last) are missing, or damaged, and there is more from record \(first) on",
            in: storage.path)
    }
}

extension LogReader.Found {
    /// How the last writer stopped, as seen in a boot of the machine.
    func ending(in boot: UInt128) -> JournalContents.Ending {
        // Without its log, a writer seems to have written nothing. A copy is behind what was copied.
        guard let header, !header.isCopy else { return .incomplete }
        if closing != nil { return .closed }
        if header.boot != boot {
            if header.durability == .crash { return .machineDied }
            return tail == .nothing ? .killed : .commitCutShort
        }
        // The bytes may have been right once, and answered.
        if case .different = tail { return .incomplete }
        return .killed
    }
}

/// Reads a log, group by group.
struct LogCursor {
    /// A group whose checksum is right, and which follows the one before.
    struct Group {
        let header: GroupHeader
        /// Where it begins.
        let offset: Int
        let records: [JournalEntry]
    }

    /// How many places are tried where a group of another length may end; records have few of that byte.
    private static let mostEnds = 1_000

    let path: String
    let header: LogHeader
    let file: any StoredFile
    let size: Int
    /// A part of the file.
    private var window: [UInt8] = []
    private var windowStart = 0
    /// Where the next group begins.
    private(set) var offset = LogFormat.headerBytes
    private var before: UInt32

    /// - Throws: `JournalError` if there is no such log, or if its header is wrong.
    init(_ first: UInt64, in storage: any JournalStorage) throws(JournalError) {
        let name = LogFormat.log(first)
        path = "\(storage.path)/\(name)"
        guard let file = try storage.open(name) else {
            throw JournalError(.vanished, reason: "\(path) has been moved or deleted")
        }
        self.file = file
        size = try file.size()
        let bytes = try file.read(LogFormat.headerBytes, at: 0)
        header = try LogHeader(bytes, of: path)
        guard header.first == first else { throw JournalError(damage: "it has the name of another log", in: path) }
        before = header.checksum
    }

    /// The next group; `nil` if what follows is none that continues the one before.
    ///
    /// - Throws: `JournalError` if the log cannot be read, or if the group was made by a newer version.
    mutating func next(after last: UInt64) throws(JournalError) -> Group? {
        guard let header = try header(at: offset), header.before == before, header.first == last + 1,
            offset + header.size <= size
        else { return nil }
        let bytes = try bytes(header.size, at: offset)
        guard header.isWhole(bytes) else { return nil }
        var records: [JournalEntry] = []
        if !header.isClosing {
            let payload = Array(bytes.dropFirst(LogFormat.groupHeaderBytes).dropLast())
            guard let decoded = try RecordBatch.records(header.first...header.last, in: payload, of: path) else {
                throw JournalError(damage: "the group at byte \(offset) is none of records", in: path)
            }
            records = decoded
        }
        defer { (offset, before) = (offset + header.size, header.checksum) }
        return Group(header: header, offset: offset, records: records)
    }

    /// What is behind the last group that was read.
    ///
    /// - Throws: `JournalError` if the log cannot be read.
    mutating func tail(after last: UInt64) throws(JournalError) -> LogReader.Tail {
        let end = try endOfContent()
        guard end > offset else { return .nothing }
        guard end - offset >= LogFormat.groupHeaderBytes else { return .incomplete(offset..<end) }
        guard let header = try header(at: offset), header.before == before, header.first == last + 1,
            offset + header.size > end
        else { return .different(offset..<end) }
        // If only its length differs, it was written to its end, which is somewhere before that of a group behind it.
        var group = try contents(of: offset..<end)
        let ends = (LogFormat.groupHeaderBytes..<group.count).lazy.filter { group[$0] == LogFormat.endOfGroup }
        for last in Array(ends.prefix(Self.mostEnds)) {
            GroupHeader.setLength(of: &group, size: last + 1)
            if header.isWhole(group[...], size: last + 1) { return .different(offset..<end) }
        }
        return .incomplete(offset..<end)
    }

    /// Where a whole group begins within a range, one that was written once; `nil` if there is none.
    ///
    /// - Throws: `JournalError` if the log cannot be read.
    mutating func wholeGroup(in range: Range<Int>) throws(JournalError) -> Int? {
        for place in range {
            guard let header = try header(at: place), place + header.size <= size else { continue }
            if header.isWhole(try bytes(header.size, at: place)) { return place }
        }
        return nil
    }

    /// Some bytes of the log.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    mutating func contents(of range: Range<Int>) throws(JournalError) -> [UInt8] {
        Array(try bytes(range.count, at: range.lowerBound))
    }

    /// Where the zeros begin that the log ends with.
    private mutating func endOfContent() throws(JournalError) -> Int {
        var end = size
        while end > offset {
            let start = max(offset, end - LogFormat.bytesAtOnce)
            if let last = try bytes(end - start, at: start).lastIndex(where: { $0 != 0 }) {
                return windowStart + last + 1
            }
            end = start
        }
        return offset
    }

    private mutating func header(at offset: Int) throws(JournalError) -> GroupHeader? {
        GroupHeader(try bytes(LogFormat.groupHeaderBytes, at: offset))
    }

    /// Bytes at an offset, fewer if the log ends; their indices count from the beginning of the window.
    private mutating func bytes(_ count: Int, at offset: Int) throws(JournalError) -> ArraySlice<UInt8> {
        if offset < windowStart || offset + count > windowStart + window.count {
            windowStart = offset
            window = try file.read(min(max(count, LogFormat.bytesAtOnce), max(0, size - offset)), at: offset)
        }
        let start = offset - windowStart
        return window[min(start, window.count)..<min(start + count, window.count)]
    }
}
