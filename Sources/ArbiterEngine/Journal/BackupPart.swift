internal import Foundation
internal import Glibc

/// The directory in which a backup is made, before it gets its name.
///
/// It is locked while it is written. The operating system releases the lock when the process dies, so that the next backup of
/// the name knows that it was left behind, and removes it.
struct BackupPart: ~Copyable {
    let path: String
    private let descriptor: Int32

    /// How often it is made again, if others take it for one that was left behind before it is locked.
    private static let attempts = 10

    /// Makes an empty one, and removes those that killed backups have left behind.
    ///
    /// - Parameter target: the path that the backup will have.
    /// - Throws: `JournalError` if it cannot be made.
    init(of target: String) throws(JournalError) {
        Self.removeAbandoned(of: target)
        path = "\(target).\(getpid())\(Self.suffix)"
        for _ in 0..<Self.attempts {
            guard unsafe mkdir(path, 0o700) == 0 else { throw JournalError("create", path, errno) }
            let descriptor = Self.open(path)
            guard descriptor >= 0 || errno == ENOENT else { throw JournalError("open", path, errno) }
            guard descriptor >= 0 else { continue }
            // Where the file system has no locks, nothing is removed either.
            flock(descriptor, LOCK_EX)
            if Self.isStillThere(path, descriptor) {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
        throw JournalError("create", path, ENOENT)
    }

    deinit { close(descriptor) }

    /// Removes what is there, which is an earlier backup if the two were exchanged.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    private static let suffix = ".part"

    private static func open(_ path: String) -> Int32 {
        unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    private static func isStillThere(_ path: String, _ descriptor: Int32) -> Bool {
        var (opened, named) = (Glibc.stat(), Glibc.stat())
        guard unsafe fstat(descriptor, &opened) == 0, unsafe stat(path, &named) == 0 else { return false }
        return (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino)
    }

    private static func removeAbandoned(of target: String) {
        let directory = (target as NSString).deletingLastPathComponent
        let prefix = (target as NSString).lastPathComponent + "."
        for name in (try? DirectoryStorage(directory).names()) ?? [] {
            guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { continue }
            let number = name.dropFirst(prefix.count).dropLast(suffix.count)
            guard let process = pid_t(number), "\(process)" == number else { continue }
            removeAbandoned(at: directory + "/" + name)
        }
    }

    /// Removes one, unless a process has locked it, or there is something in it that no backup has.
    private static func removeAbandoned(at path: String) {
        let descriptor = open(path)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        let storage = DirectoryStorage(path)
        guard let names = try? storage.names(), let files = try? LogFiles(in: storage) else { return }
        let known =
            files.logs.map(LogFormat.log) + files.snapshots.map(LogFormat.snapshot) + files.unfinished.logs
            + files.unfinished.snapshots + [JournalBackup.manifest]
        guard Set(names).isSubset(of: known) else { return }
        for name in names { try? storage.remove(name) }
        unsafe rmdir(path)
    }
}
