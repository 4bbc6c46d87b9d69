internal import Glibc

/// Sees to it that one process at a time uses a directory; the operating system lets go of it when the process dies.
struct DirectoryLock: ~Copyable, Sendable {
    private let descriptor: Guarded<Int32>

    /// - Throws: `JournalError` if another process has it, or if its file cannot be opened.
    init(directory: String) throws(JournalError) {
        let path = directory + "/lock"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw JournalError(reason: "cannot open \(path): \(unsafe String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw JournalError(
                .inUse, reason: "another arbiterd uses \(directory): end it, or choose another directory with --data")
        }
        self.descriptor = Guarded(descriptor)
    }

    /// Whether a process has a directory now, or might have: a lock that cannot be looked at tells nothing.
    static func isTaken(_ directory: String) -> Bool {
        let descriptor = unsafe open(directory + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != ENOENT }
        // Shared, so that those who only look are not in each other's way.
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Lets go of the directory, for whoever comes next.
    func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    deinit {
        release()
    }
}
