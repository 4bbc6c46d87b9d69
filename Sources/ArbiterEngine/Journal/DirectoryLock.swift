internal import Glibc

/// Ensures that only one process at a time creates or opens the journal in a directory.
///
/// The operating system releases the lock when the process dies. `JournalFile` guards the journal itself.
struct DirectoryLock: ~Copyable, Sendable {
    private let descriptor: Guarded<Int32>

    /// - Throws: `JournalError` if another process holds the lock, or if its file cannot be opened.
    init(directory: String) throws(JournalError) {
        let path = directory + "/lock"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
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

    /// Releases the lock, so that another process can take it.
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
