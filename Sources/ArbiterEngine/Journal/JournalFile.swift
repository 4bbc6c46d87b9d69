internal import Glibc
internal import Logging

/// The file of a journal, open and locked for as long as somebody writes it.
///
/// The lock is on the database itself: neither a link to it nor a deleted file beside it lets a second writer in. It is
/// one of flock(2), which knows nothing of the record locks that SQLite takes on the same file. Closing any descriptor of
/// a file drops those of the whole process (fcntl(2)), so this one has to be closed after the database.
final class JournalFile: Sendable {
    /// What tells one file from another.
    private struct Identity: Hashable, Sendable {
        let device: dev_t
        let number: ino_t

        init?(_ path: String) {
            var status = Glibc.stat()
            guard unsafe lstat(path, &status) == 0 else { return nil }
            self.init(status)
        }

        init(_ status: Glibc.stat) {
            device = status.st_dev
            number = status.st_ino
        }
    }

    private let path: String
    private let identity: Identity
    private let state: Guarded<State>

    private struct State {
        var descriptor: Int32
        /// The write-ahead log, once there is one.
        var log: Identity?
    }

    /// What SQLite may put beside a database.
    static func companions(of path: String) -> [String] { ["-wal", "-shm", "-journal"].map { path + $0 } }

    /// Takes a file that has something in it.
    ///
    /// - Throws: `JournalError` if another process has it, if it is empty, or if others can read it and it is not ours.
    init(_ path: String, logger: Logger) throws(JournalError) {
        self.path = path
        try TrustedPath.expectNoLinks(at: Self.companions(of: path))
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw Self.inaccessible(path) }
        var status = Glibc.stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw JournalError(reason: "\(path) is no file: move it away to begin anew")
        }
        identity = Identity(status)
        // From here on the descriptor is closed with the value, also where an error is thrown.
        state = Guarded(State(descriptor: descriptor))
        guard status.st_size > 0 else { throw SQLiteJournal.emptied(path) }
        // Beside another name there may be another write-ahead log.
        guard status.st_nlink == 1 else {
            throw JournalError(reason: "\(path) has another name, a hard link: remove that, or copy the file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.inUse(path) }
        guard isInPlace else { throw Self.inUse(path) }
        try Self.makePrivate(descriptor, status, path, logger)
        for companion in Self.companions(of: path) { try Self.makePrivate(companion, logger) }
    }

    /// Whether the file at the path, and the write-ahead log beside it, are still those that are written.
    var isInPlace: Bool { Identity(path) == identity && isLogInPlace }

    private var isLogInPlace: Bool {
        state.withLock { state in
            guard let log = state.log else { return true }
            return Identity(path + "-wal") == log
        }
    }

    /// From now on the write-ahead log has to stay where it is.
    func noteLog() {
        let log = Identity(path + "-wal")
        state.withLock { $0.log = log }
    }

    /// Lets go of the file, for those who come next; to be called after the database has been closed.
    func release() {
        state.withLock { state in
            if state.descriptor >= 0 { Glibc.close(state.descriptor) }
            state.descriptor = -1
        }
    }

    deinit {
        release()
    }

    // MARK: - Whether others can read it

    private static func makePrivate(_ path: String, _ logger: Logger) throws(JournalError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // Where there is something that cannot be opened, SQLite will say so.
        guard descriptor >= 0 else { return }
        defer { Glibc.close(descriptor) }
        var status = Glibc.stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw inaccessible(path) }
        try makePrivate(descriptor, status, path, logger)
    }

    /// Takes from everybody but the owner the right to read tokens.
    private static func makePrivate(
        _ descriptor: Int32, _ status: Glibc.stat, _ path: String, _ logger: Logger
    ) throws(JournalError) {
        guard status.st_mode & 0o077 != 0 else { return }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw JournalError(
                reason: "\(path) can be read by others, and will have tokens in it: have its owner say chmod 600")
        }
        logger.warning("others could read the journal; now its owner only can", metadata: ["path": "\(path)"])
    }

    // MARK: - Asked by others

    /// Whether a process writes a journal now, or might: a lock that cannot be looked at tells nothing.
    ///
    /// To be asked only where this process has no connection to it.
    static func isTaken(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno != ENOENT }
        // Shared, so that those who only look are not in each other's way.
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
