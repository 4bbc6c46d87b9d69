internal import Glibc
internal import Logging

/// The file of a journal, held open and locked while this process writes it.
///
/// The database file itself is locked, so neither a link to it nor a deleted file beside it admits a second writer. The
/// lock is one of flock(2), which is independent of SQLite's record locks on the same file. Closing any descriptor of a
/// file drops all record locks of the process (fcntl(2)), so this descriptor must be closed after the database.
final class JournalFile: Sendable {
    /// Distinguishes a file from every other.
    private struct Identity: Hashable, Sendable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = Glibc.stat()
            guard unsafe path.withCString({ path in unsafe lstat(path, &status) }) == 0 else { return nil }
            self.init(status)
        }

        init(_ status: Glibc.stat) {
            device = status.st_dev
            number = status.st_ino
        }
    }

    private let path: String
    private let pathOfLog: String
    private let identity: Identity
    private let state: Guarded<State>

    private struct State {
        var descriptor: Int32
        /// The write-ahead log, once it exists.
        var log: Identity?
    }

    /// The files that SQLite may create beside a database.
    static func companions(of path: String) -> [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// Opens and locks a file that is not empty.
    ///
    /// - Throws: `JournalError` if another process has locked it, if it is empty, or if other users can read it and it
    ///   is not ours.
    init(_ path: String, logger: Logger) throws(JournalError) {
        self.path = path
        pathOfLog = path + "-wal"
        try TrustedPath.expectNoLinks(at: Self.companions(of: path))
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.inaccessible(path) }
        var status = Glibc.stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw JournalError(reason: "\(path) is not a regular file: move it away to begin anew")
        }
        identity = Identity(status)
        // From here on `deinit` closes the descriptor, also if an error is thrown.
        state = Guarded(State(descriptor: descriptor))
        guard status.st_size > 0 else { throw SQLiteJournal.emptied(path) }
        // SQLite names the write-ahead log after the path, so another hard link may have another log.
        guard status.st_nlink == 1 else {
            throw JournalError(reason: "\(path) has another name, a hard link: remove that, or copy the file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.inUse(path) }
        guard isInPlace else { throw Self.inUse(path) }
        try Self.makePrivate(descriptor, status, path, logger)
        for companion in Self.companions(of: path) { try Self.makePrivate(companion, logger) }
    }

    /// Whether the files at the paths of the database and its write-ahead log are still the ones that are written.
    var isInPlace: Bool { Identity(path) == identity && isLogInPlace }

    private var isLogInPlace: Bool {
        state.withLock { state in
            guard let log = state.log else { return true }
            return Identity(pathOfLog) == log
        }
    }

    /// Records the identity of the write-ahead log; from now on, `isInPlace` requires it.
    func noteLog() {
        let log = Identity(pathOfLog)
        state.withLock { $0.log = log }
    }

    /// Releases the file for other processes; to be called after the database has been closed.
    func release() {
        state.withLock { state in
            if state.descriptor >= 0 { Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }

    deinit {
        release()
    }

    // MARK: - File modes

    private static func makePrivate(_ path: String, _ logger: Logger) throws(JournalError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // If the file exists but cannot be opened, SQLite will report it.
        guard descriptor >= 0 else { return }
        defer { Glibc.close(descriptor) }
        var status = Glibc.stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw inaccessible(path) }
        try makePrivate(descriptor, status, path, logger)
    }

    /// Removes the permissions of everyone but the owner, because the journal contains tokens.
    private static func makePrivate(
        _ descriptor: Int32, _ status: Glibc.stat, _ path: String, _ logger: Logger
    ) throws(JournalError) {
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw JournalError(
                reason: "\(path) can be read by others, and will have tokens in it: let its owner run chmod 600 on it")
        }
        logger.warning("others could read the journal; now its owner only can", metadata: ["path": "\(path)"])
    }

    // MARK: - Inspection from outside

    /// Whether a process writes the journal, or may do so: if the file cannot be opened, this is unknown.
    ///
    /// Must not be called while this process has a connection to the database, whose locks the call would drop.
    static func isTaken(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno != ENOENT }
        // A shared lock, so that two inspections do not exclude each other.
        defer { Glibc.close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    private static func inUse(_ path: String) -> JournalError {
        JournalError(.inUse, reason: "another arbiterd uses \(path): end it, or choose another directory with --data")
    }

    static func inaccessible(_ path: String) -> JournalError {
        JournalError(reason: "cannot open \(path): \(unsafe String(cString: strerror(errno)))")
    }
}
