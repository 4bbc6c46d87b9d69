internal import Glibc

/// Ensures that only one process at a time creates or opens the journal in a directory.
///
/// Locked is a file for this, and the newest log too: every process that writes has locked the newest one. So a journal
/// stays in use when the file for the lock is deleted. The operating system releases the locks when the process dies.
package struct DirectoryLock: ~Copyable, Sendable {
    private let descriptors: Guarded<[Int32]>

    /// - Throws: `JournalError` if another process holds a lock, or if its file cannot be opened.
    init(directory: String) throws(JournalError) {
        let path = directory + "/lock"
        let own = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard own >= 0 else { throw JournalError("open", path, errno) }
        guard let log = Self.newestLog(in: directory) else {
            guard Self.areLocked([own]) else { throw Self.inUse(directory) }
            descriptors = Guarded([own])
            return
        }
        guard Self.areLocked([own, log]) else { throw Self.inUse(directory) }
        descriptors = Guarded([own, log])
    }

    /// Opens the newest log, if that is possible; its reader says what is wrong with it.
    private static func newestLog(in directory: String) -> Int32? {
        guard let newest = (try? LogFiles(in: DirectoryStorage(directory)))?.logs.last else { return nil }
        let log = unsafe open("\(directory)/\(LogFormat.log(newest))", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        return log >= 0 ? log : nil
    }

    /// Locks files; if one of them is locked, closes all of them.
    private static func areLocked(_ descriptors: [Int32]) -> Bool {
        if descriptors.allSatisfy({ flock($0, LOCK_EX | LOCK_NB) == 0 }) { return true }
        for descriptor in descriptors { release(descriptor) }
        return false
    }

    private static func inUse(_ directory: String) -> JournalError {
        JournalError(
            .inUse, reason: "another arbiterd uses \(directory): end it, or choose another directory with --data")
    }

    /// Releases the locks, so that another process can take them.
    func release() {
        descriptors.withLock { descriptors in
            for descriptor in descriptors { Self.release(descriptor) }
            descriptors = []
        }
    }

    /// Closes a file that may be locked.
    ///
    /// A child that has not executed its program yet has the descriptor too, and with it the lock.
    static func release(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether a process holds the lock, or may: if its file cannot be opened, that is unknown.
    static func isTaken(in directory: String) -> Bool {
        let descriptor = unsafe open(directory + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        // A shared lock, so that two inspections do not exclude each other.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    deinit {
        release()
    }
}
