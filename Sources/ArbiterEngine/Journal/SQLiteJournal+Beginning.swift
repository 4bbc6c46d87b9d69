internal import Foundation
internal import GRDB
internal import Glibc
internal import Logging

// Creates journals.

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

    /// Creates a directory, and those above it, for its owner only, unless it exists.
    static func makeDirectory(_ directory: String) throws(JournalError) {
        let parts = directory.split(separator: "/")
        for count in parts.indices {
            let path = (directory.hasPrefix("/") ? "/" : "") + parts[...count].joined(separator: "/")
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            // A directory above it may exist without being writable for us.
            var status = Glibc.stat()
            let code = errno
            guard unsafe stat(path, &status) == 0 else {
                throw JournalError(
                    reason: "cannot make the directory \(path): \(unsafe String(cString: strerror(code)))")
            }
        }
    }

    /// Logs a warning if other users can add files to a directory or remove them.
    static func checkWriters(of directory: String, logger: Logger) {
        // In a sticky directory such as /tmp, only its owner can delete a file.
        let sticky: mode_t = 0o1000
        var status = Glibc.stat()
        guard unsafe stat(directory, &status) == 0, status.st_mode & 0o022 != 0, status.st_mode & sticky == 0 else {
            return
        }
        logger.warning(
            "others can replace the journal: take away their right to write to its directory",
            metadata: ["directory": "\(directory)"])
    }

    /// Whether there is no journal yet.
    ///
    /// - Throws: `JournalError` if only a part of a journal is left.
    static func isMissing(_ path: String) throws(JournalError) -> Bool {
        var (status, log) = (Glibc.stat(), Glibc.stat())
        // A dangling link counts as existing: it points to a journal that is missing.
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

    /// Creates an empty journal under another name, and renames it when it is complete.
    static func make(_ path: String, boot: String, durability: Durability) throws(JournalError) {
        let unfinished = path + ".new"
        // The leftovers of a start that died here.
        for left in [unfinished, unfinished + "-journal"] { unsafe unlink(left) }
        // Only the owner may read it, because it will contain tokens. SQLite gives its companion files the same mode.
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

    /// Syncs the entries of a directory to the disk.
    static func synchronize(_ directory: String) throws(JournalError) {
        let descriptor = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalFile.inaccessible(directory) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw JournalFile.inaccessible(directory) }
    }
}
