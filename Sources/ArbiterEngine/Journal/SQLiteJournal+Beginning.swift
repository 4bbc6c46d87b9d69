internal import Foundation
internal import GRDB
internal import Glibc
internal import Logging

// Making a journal where there was none.

extension SQLiteJournal {
    private static let tables = """
        CREATE TABLE batch (
            last INTEGER PRIMARY KEY, first INTEGER NOT NULL, records BLOB NOT NULL, checksum INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE snapshot (
            sequence INTEGER PRIMARY KEY, moment BLOB NOT NULL, state BLOB NOT NULL, checksum INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE life (
            one INTEGER PRIMARY KEY CHECK (one = 1), boot TEXT NOT NULL, durability TEXT NOT NULL,
            closed INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE torn (
            last INTEGER NOT NULL, first INTEGER NOT NULL, records BLOB NOT NULL, checksum INTEGER NOT NULL
        ) STRICT;
        """

    /// Makes a directory that only its owner may use, with those above it, unless it is there.
    static func makeDirectory(_ directory: String) throws(JournalError) {
        let parts = directory.split(separator: "/")
        for count in parts.indices {
            let path = (directory.hasPrefix("/") ? "/" : "") + parts[...count].joined(separator: "/")
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            // One above it may be there and not be ours to write to.
            var status = Glibc.stat()
            let code = errno
            guard unsafe stat(path, &status) == 0 else {
                throw JournalError(
                    reason: "cannot make the directory \(path): \(unsafe String(cString: strerror(code)))")
            }
        }
    }

    /// Says so if others can put files into a directory, or take them away.
    static func checkWriters(of directory: String, logger: Logger) {
        // Where only a file's owner can delete it, as in /tmp.
        let sticky: mode_t = 0o1000
        var status = Glibc.stat()
        guard unsafe stat(directory, &status) == 0, status.st_mode & 0o022 != 0, status.st_mode & sticky == 0 else {
            return
        }
        logger.warning(
            "others can replace the journal: take away their right to write to its directory",
            metadata: ["directory": "\(directory)"])
    }

    /// Whether no journal was ever begun.
    ///
    /// - Throws: `JournalError` if only a part of one is left.
    static func isMissing(_ path: String) throws(JournalError) -> Bool {
        var (status, log) = (Glibc.stat(), Glibc.stat())
        // A link that leads nowhere is one to a journal that ought to be there.
        guard unsafe lstat(path, &status) != 0, errno == ENOENT else { return false }
        guard unsafe stat(path + "-wal", &log) != 0 else {
            throw JournalError(
                .damaged,
                reason: "\(path) is missing, but not its write-ahead log: restore it, or move \(path)-wal away too to "
                    + "begin anew")
        }
        return true
    }

    static func emptied(_ path: String) -> JournalError {
        JournalError(damage: "it is empty", in: path)
    }

    /// Makes a journal that holds nothing, whole or not at all: until then it has another name.
    static func make(_ path: String, boot: String, durability: Durability) throws(JournalError) {
        let unfinished = path + ".new"
        // What a start leaves that died here.
        for left in [unfinished, unfinished + "-journal"] { unsafe unlink(left) }
        // Only its owner can read it, because tokens will be in it. What SQLite puts beside it gets the same mode.
        let descriptor = unsafe Glibc.open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw JournalFile.inaccessible(unfinished) }
        Glibc.close(descriptor)
        do {
            let database = try DatabaseQueue(path: unfinished, configuration: configuration(readOnly: false))
            try database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = EXTRA")
                try database.inTransaction(.immediate) {
                    try database.execute(sql: tables)
                    try database.execute(sql: "PRAGMA application_id = \(applicationID)")
                    try database.execute(sql: "PRAGMA user_version = \(form)")
                    try database.execute(
                        sql: "INSERT INTO life VALUES (1, ?, ?, 1)", arguments: [boot, durability.rawValue])
                    return .commit
                }
            }
            try database.close()
        } catch {
            throw JournalError(error, path: unfinished)
        }
        guard unsafe rename(unfinished, path) == 0 else { throw JournalFile.inaccessible(path) }
        try synchronize((path as NSString).deletingLastPathComponent)
    }

    /// Sees to it that the names in a directory are on the disk.
    private static func synchronize(_ directory: String) throws(JournalError) {
        let descriptor = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFile.inaccessible(directory) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw JournalFile.inaccessible(directory) }
    }
}
