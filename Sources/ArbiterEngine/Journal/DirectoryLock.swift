internal import Glibc

/// Sees to it that one process at a time makes or opens the journal of a directory.
///
/// The operating system lets go of it when the process dies. `JournalFile` guards the journal itself.
struct DirectoryLock: ~Copyable, Sendable {
    private let descriptor: Guarded<Int32>

    /// - Throws: `JournalError` if another process has it, or if its file cannot be opened.
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
