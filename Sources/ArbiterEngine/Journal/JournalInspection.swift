package import ArbiterCore
internal import Foundation

/// A journal as shown to a person; reading it changes nothing and works while a daemon writes it.
package struct JournalInspection: Sendable {
    /// How often a journal is read again because a daemon has replaced its files meanwhile.
    private static let attempts = 10

    /// The directory.
    package let path: String
    /// The size of its files, in bytes.
    package let size: Int
    package let form: UInt16
    package let durability: String
    /// Whether its last writer closed it.
    package let isClosed: Bool
    package let snapshot: JournalSnapshot?
    /// All records after the snapshot that can be read.
    package let records: [JournalEntry]
    /// How many logs have them.
    package let logs: Int
    /// Whether the last group is not what was written; a start would cut it off.
    package let isTorn: Bool
    /// The number of groups that earlier starts have cut off.
    package let tornBefore: Int
    /// Whether the newest log is gone, with the records in it.
    package let lacksLog: Bool
    /// Which journal it is; its copies have the same.
    let journal: UInt128

    /// Reads the journal in a directory.
    ///
    /// - Throws: `JournalError` if there is no journal, or if it is damaged.
    package init(directory: String) throws(JournalError) {
        let path = try TrustedPath.resolve(directory)
        guard FileManager.default.fileExists(atPath: path) else { throw Self.missing(path) }
        for _ in 1..<Self.attempts {
            do throws(JournalError) {
                try self.init(once: path, isTaken: DirectoryLock.isTaken(in: path))
                return
            } catch {
                guard error.kind == .vanished, DirectoryLock.isTaken(in: path) else { throw error }
            }
        }
        try self.init(once: path, isTaken: DirectoryLock.isTaken(in: path))
    }

    /// Reads the journal in a directory that this process has locked.
    ///
    /// - Throws: `JournalError` if it is damaged.
    init(locked path: String) throws(JournalError) {
        try self.init(once: path, isTaken: false)
    }

    /// Reads the journal once; what a process writes now, if it is taken, cannot be checked from outside.
    private init(once path: String, isTaken: Bool) throws(JournalError) {
        let storage = DirectoryStorage(path)
        let boot = MachineBoot.current() ?? 0
        let reader = try LogReader(storage, boot: boot, isWritten: isTaken)
        guard !reader.files.isEmpty else { throw Self.missing(path) }
        var (snapshot, records): (JournalSnapshot?, [JournalEntry]) = (nil, [])
        let found = try reader.read { newest throws(JournalError) in
            snapshot = try newest?.read()
        } _: { more throws(JournalError) in
            records += more
        }
        self.path = path
        self.snapshot = snapshot
        self.records = records
        size = try Self.size(of: reader.files, in: storage)
        form = LogFormat.form
        durability = found.header?.durability.rawValue ?? "unknown"
        isClosed = found.ending(in: boot) == .closed && !isTaken
        logs = reader.files.logs.filter { $0 > found.snapshot }.count
        isTorn = found.tail != .nothing && !isTaken
        tornBefore = reader.files.torn
        lacksLog = found.header == nil
        journal = found.journal ?? 0
    }

    /// The last record; 0 if there is none.
    package var last: UInt64 { records.last?.sequence ?? snapshot?.sequence ?? 0 }

    /// The state machine after a replay of the journal.
    ///
    /// - Throws: `JournalError` if the journal contradicts itself.
    package func replayed() throws(JournalError) -> ArbiterStateMachine { try replay().finished() }

    /// The state after a replay, with its place in the journal.
    ///
    /// - Throws: `JournalError` if the journal contradicts itself.
    package func state() throws(JournalError) -> ShardState { try replay().state() }

    private func replay() throws(JournalError) -> JournalReplay {
        var replay = JournalReplay()
        try replay.begin(snapshot)
        try replay.take(records)
        return replay
    }

    private static func size(of files: LogFiles, in storage: DirectoryStorage) throws(JournalError) -> Int {
        var size = 0
        for name in files.snapshots.map(LogFormat.snapshot) + files.logs.map(LogFormat.log) {
            size += try storage.open(name)?.size() ?? 0
        }
        return size
    }

    static func missing(_ path: String) -> JournalError {
        JournalError(reason: "there is no journal in \(path): name its directory with --data")
    }
}

extension JournalReplay {
    /// The state after the replay, with its place in the journal.
    package consuming func state() -> ShardState {
        let (sequence, moment) = (sequence, moment)
        return ShardState(machine: finished(), sequence: sequence, moment: moment)
    }
}
