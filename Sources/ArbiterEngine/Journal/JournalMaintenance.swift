package import ArbiterCore
internal import CLinux
internal import Foundation
internal import Glibc

/// Copies of a journal, and what is done with it while no daemon uses it.
package enum JournalMaintenance {
    /// Where the files of a journal are before they all have their names.
    private static let unfinished = "unfinished"

    /// Copies the journal of a directory into another one, also while a daemon writes it.
    ///
    /// A copy that is there already is replaced in one step, if it is an earlier one of the same journal. A daemon that starts
    /// with the copy takes it for a journal whose last records may be missing: numbers jump, and nothing is granted until
    /// every lease that was given since has run out.
    ///
    /// - Parameters:
    ///   - directory: the directory of the journal.
    ///   - target: the path of the copy.
    /// - Returns: the last record of the copy, which has been read and replayed.
    /// - Throws: `JournalError` if there is no journal, if there is something else already, or if the copy cannot be written.
    package static func backUp(_ directory: String, to target: String) throws(JournalError) -> UInt64 {
        let journal = try JournalInspection(directory: directory)
        _ = try journal.replayed()
        let target = try TrustedPath.resolve(target)
        let isThere = FileManager.default.fileExists(atPath: target)
        if isThere { try checkReplaces(journal, target) }
        let part = try BackupPart(of: target)
        do throws(JournalError) {
            let backup = try JournalBackup(of: journal, to: DirectoryStorage(part.path))
            _ = try backup.contents(of: part.path)
            try put(part, at: target, isThere: isThere)
            return backup.sequence
        } catch {
            part.remove()
            throw error
        }
    }

    /// - Throws: `JournalError` if there is something else than an earlier copy of the journal.
    private static func checkReplaces(_ journal: JournalInspection, _ target: String) throws(JournalError) {
        let earlier = try? JournalBackup(in: target)
        // Whatever else is there, such as the lock of a daemon that uses it, is not ours to remove.
        let names = Set((try? DirectoryStorage(target).names()) ?? [])
        guard let earlier, names == Set(earlier.files.map(\.name) + [JournalBackup.manifest]),
            earlier.journal == String(journal.journal, radix: 16), earlier.sequence <= journal.last
        else {
            throw JournalError(
                reason: "there is \(target) already, and it is no earlier backup of this journal: move it away first")
        }
    }

    /// Gives a directory its name, in the place of another one.
    private static func put(_ part: borrowing BackupPart, at target: String, isThere: Bool) throws(JournalError) {
        if isThere {
            guard unsafe arbiter_exchange(part.path, target) == 0 else { throw JournalError("write", target, errno) }
            part.remove()
        } else {
            guard unsafe rename(part.path, target) == 0 else { throw JournalError("write", target, errno) }
        }
        try DirectoryStorage((target as NSString).deletingLastPathComponent).synchronize()
    }

    private static func emptyDirectory(_ path: String) throws(JournalError) -> String {
        try? FileManager.default.removeItem(atPath: path)
        guard unsafe mkdir(path, 0o700) == 0 else { throw JournalError("create", path, errno) }
        return path
    }

    /// Puts a copy in the place of a journal.
    ///
    /// - Parameters:
    ///   - backup: the directory of the copy.
    ///   - directory: the directory of the journal, in which there must be none.
    /// - Returns: the last record of the journal, which has been read and replayed.
    /// - Throws: `JournalError` if the copy is damaged, if a daemon uses the directory, or if there is a journal already.
    package static func restore(_ backup: String, to directory: String) throws(JournalError) -> UInt64 {
        guard FileManager.default.fileExists(atPath: backup) else {
            throw JournalError(reason: "there is no directory \(backup)")
        }
        let backup = try TrustedPath.resolve(backup)
        return try begin(in: directory) { storage throws(JournalError) in
            let copy = try JournalBackup(in: backup).contents(of: backup)
            _ = try copy.replayed()
            // Another one: what happens in it is not what follows in the journal that was copied.
            let id = UInt128.random(in: 1 ... .max)
            return try JournalBackup(of: copy, as: id, to: storage).contents(of: storage.path).last
        }
    }

    /// - Throws: `JournalError` if there is no journal, but the beginning of one that was being put there.
    static func checkIsNotUnfinished(_ storage: DirectoryStorage) throws(JournalError) {
        guard try storage.names().contains(unfinished), try LogFiles(in: storage).isEmpty else { return }
        throw JournalError(
            .damaged,
            reason: "a restore into \(storage.path) was cut short: run it again, or remove \(unfinished) to begin anew")
    }

    /// Makes a journal in a directory, and keeps daemons away from it meanwhile.
    ///
    /// Its files get their names when all of them are whole. A start refuses to go on with a part of them.
    ///
    /// - Parameters:
    ///   - directory: the directory, in which there must be no journal.
    ///   - content: writes the files to the storage that it is called with.
    /// - Returns: what the closure returns.
    /// - Throws: `JournalError` if a daemon uses the directory, if there is a journal, or if it cannot be written; and what the
    ///   closure throws.
    private static func begin<Value>(
        in directory: String, _ content: (DirectoryStorage) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        try DirectoryStorage.makeDirectory(directory)
        let storage = DirectoryStorage(try TrustedPath.resolve(directory))
        let lock = try DirectoryLock(directory: storage.path)
        defer { lock.release() }
        guard try LogFiles(in: storage).isEmpty else {
            throw JournalError(reason: "there is a journal in \(storage.path) already: move it away first")
        }
        let part = DirectoryStorage(try emptyDirectory("\(storage.path)/\(unfinished)"))
        defer { try? FileManager.default.removeItem(atPath: part.path) }
        let value = try content(part)
        let files = try LogFiles(in: part)
        // The log first: without the snapshot, a start misses the records before it.
        for name in files.logs.map(LogFormat.log) + files.snapshots.map(LogFormat.snapshot) {
            try storage.rename("\(unfinished)/\(name)", to: name)
        }
        try storage.synchronize()
        return value
    }

    /// Replaces the records of a journal by a snapshot, if that makes its files smaller.
    ///
    /// - Parameter directory: the directory of the journal, which no daemon uses.
    /// - Returns: the size of its files before and afterwards, in bytes.
    /// - Throws: `JournalError` if a daemon uses it, or if it is damaged.
    package static func compact(_ directory: String) throws(JournalError) -> (before: Int, after: Int) {
        try withClosed(directory) { journal, storage throws(JournalError) in
            guard let snapshot = try journal.state().snapshot, snapshot.sequence > journal.snapshot?.sequence ?? 0,
                snapshot.state.count < journal.size
            else { return (journal.size, journal.size) }
            let header = LogHeader(
                journal: journal.journal, boot: MachineBoot.current() ?? 0, first: snapshot.sequence + 1,
                durability: LogJournal.Durability(rawValue: journal.durability) ?? .crash)
            try LogWriter(header, [], in: storage).close()
            try SnapshotFile.write(snapshot, of: journal.journal, to: storage)
            let files = try LogFiles(in: storage)
            for sequence in files.snapshots where sequence < snapshot.sequence {
                try storage.remove(LogFormat.snapshot(sequence))
            }
            for first in files.logs where first <= snapshot.sequence { try storage.remove(LogFormat.log(first)) }
            return (journal.size, try JournalInspection(locked: storage.path).size)
        }
    }

    /// Reads a journal that no daemon uses, and keeps daemons away from it until something is done with it.
    ///
    /// - Throws: `JournalError` if a daemon uses it, if its last one did not close it, or if it is damaged; and what the
    ///   closure throws.
    private static func withClosed<Value>(
        _ directory: String, _ body: (JournalInspection, DirectoryStorage) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        let path = try TrustedPath.resolve(directory)
        // Before the lock, which would leave a file where there is no journal.
        guard FileManager.default.fileExists(atPath: path), try !LogFiles(in: DirectoryStorage(path)).isEmpty else {
            throw JournalInspection.missing(path)
        }
        let lock = try DirectoryLock(directory: path)
        defer { lock.release() }
        let journal = try JournalInspection(locked: path)
        guard journal.isClosed else {
            throw JournalError(
                .damaged, reason: "the journal in \(path) was not closed: start arbiterd with it, and stop it, first")
        }
        return try body(journal, DirectoryStorage(path))
    }
}

// MARK: - Between a directory and a cluster

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
        try withClosed(directory) { journal, _ throws(JournalError) in try body(try journal.state()) }
    }

    /// Makes a journal with a state in a directory, and keeps daemons away from it meanwhile.
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
        try begin(in: directory) { storage throws(JournalError) in
            guard let snapshot = try content().snapshot else {
                throw JournalError(reason: "there is nothing to copy: start arbiterd without it")
            }
            let header = LogHeader(
                journal: .random(in: 1 ... .max), boot: MachineBoot.current() ?? 0, first: snapshot.sequence + 1,
                durability: .power)
            try LogWriter(header, [], in: storage).close()
            try SnapshotFile.write(snapshot, of: header.journal, to: storage)
            try check(try JournalInspection(directory: storage.path).state())
        }
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
        case .known(let id):
            self.init(.damaged, reason: "several shards know \(id): restore a copy of the cluster")
        case .contradiction(let subject):
            self.init(.damaged, reason: "the copy contradicts itself (\(subject)), and is not kept")
        }
    }
}
