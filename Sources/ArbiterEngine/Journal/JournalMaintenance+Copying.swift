package import ArbiterCore
internal import Foundation
internal import GRDB
internal import Glibc

// Copies between the journal of a directory and one that is kept elsewhere.

extension JournalMaintenance {
    /// Reads the state of a journal, and keeps daemons away from it until something is done with it.
    ///
    /// - Parameters:
    ///   - directory: the directory of the journal.
    ///   - body: called with the state.
    /// - Returns: what the closure returns.
    /// - Throws: `JournalError` if a daemon uses the journal, if its last one did not close it, or if it is damaged; and what
    ///   the closure throws.
    package static func read<Value>(
        _ directory: String, _ body: (ShardState) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        let directory = try TrustedPath.resolve(directory)
        let path = SQLiteJournal.path(in: directory)
        // Before the lock, which would leave a file where there is no journal.
        guard FileManager.default.fileExists(atPath: path) else {
            throw JournalError(reason: "there is no journal at \(path): name its directory with --data")
        }
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        let journal = try JournalInspection(directory: directory)
        guard journal.isClosed, !journal.isTorn, !journal.lacksLog else {
            throw JournalError(
                .damaged, reason: "\(journal.path) was not closed: start arbiterd with it, and stop it, first")
        }
        return try body(try journal.state())
    }

    /// Makes a journal with a state in a directory, and keeps daemons away from it meanwhile.
    ///
    /// The journal gets its name last, so that no daemon ever starts with a part of it.
    ///
    /// - Parameters:
    ///   - directory: the directory, in which there must be no journal.
    ///   - content: called for the state, when the directory is free.
    ///   - check: called with the state as it was read back, before the journal gets its name.
    /// - Throws: `JournalError` if a daemon uses the directory, if there is a journal already, or if it cannot be written; and
    ///   what the closures throw.
    package static func make(
        in directory: String, _ content: () throws(JournalError) -> ShardState,
        check: (ShardState) throws(JournalError) -> Void
    ) throws(JournalError) {
        try SQLiteJournal.makeDirectory(directory)
        let directory = try TrustedPath.resolve(directory)
        let lock = try DirectoryLock(directory: directory)
        defer { lock.release() }
        let path = SQLiteJournal.path(in: directory)
        try checkIsAbsent(path)
        let part = "\(path).\(getpid()).part"
        do throws(JournalError) {
            guard let snapshot = try content().snapshot else {
                throw JournalError(reason: "there is nothing to copy: start arbiterd without it")
            }
            try write(snapshot, to: part)
            try check(try JournalInspection(path: part).state())
        } catch {
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
        guard unsafe rename(part, path) == 0 else {
            throw JournalError(reason: "cannot write \(path): \(unsafe String(cString: strerror(errno)))")
        }
        try SQLiteJournal.synchronize(directory)
    }

    /// Writes a journal of nothing but a snapshot, as its last daemon would have left it.
    private static func write(_ snapshot: JournalSnapshot, to path: String) throws(JournalError) {
        try? FileManager.default.removeItem(atPath: path)
        try SQLiteJournal.make(path, boot: SQLiteJournal.currentBoot() ?? "unknown", durability: .power)
        do {
            let database = try DatabaseQueue(path: path, configuration: SQLiteJournal.configuration(readOnly: false))
            try database.write { try SQLiteJournal.insert(snapshot, into: $0) }
            try database.close()
        } catch {
            throw JournalError(error, path: path)
        }
    }

    /// - Throws: `JournalError` if there is a journal, or what SQLite would take for a part of it.
    static func checkIsAbsent(_ path: String) throws(JournalError) {
        for path in [path, path + "-wal", path + "-shm", path + "-journal"] {
            guard !FileManager.default.fileExists(atPath: path) else {
                throw JournalError(reason: "there is a file \(path) already: move it away first")
            }
        }
    }
}

extension JournalInspection {
    /// The state after a replay, with its place in the journal.
    ///
    /// - Throws: `JournalError` if the journal contradicts itself.
    package func state() throws(JournalError) -> ShardState {
        var replay = JournalReplay()
        try replay.begin(snapshot)
        try replay.take(records)
        return replay.state()
    }
}

extension JournalReplay {
    /// The state after the replay, with its place in the journal.
    package consuming func state() -> ShardState {
        let (sequence, moment) = (sequence, moment)
        return ShardState(machine: finished(), sequence: sequence, moment: moment)
    }
}

extension ShardState {
    /// The snapshot with which a journal goes on from it; `nil` if no journal has had a record.
    package var snapshot: JournalSnapshot? {
        moment.map { JournalSnapshot(sequence: sequence, moment: $0, state: machine.snapshot()) }
    }
}

extension JournalError {
    /// What a copy that was refused says to an operator.
    package init(_ refusal: CopyRefusal) {
        switch refusal {
        case .lacksSlots(let transitions, let sessions):
            let names = transitions.prefix(3).map(\.description) + sessions.prefix(3).map(\.description)
            self.init(
                .unknownForm,
                reason: """
                    \(transitions.count) unfinished transitions and \(sessions.count) sessions have ids that lead to no shard, \
                    such as \(names.joined(separator: ", ")): start arbiterd with the journal, let them end, stop it, and \
                    copy again
                    """)
        case .known(let id):
            self.init(.damaged, reason: "several shards know \(id): restore a copy of the cluster")
        case .contradiction(let subject):
            self.init(.damaged, reason: "the copy contradicts itself (\(subject)), and is not kept")
        }
    }
}
