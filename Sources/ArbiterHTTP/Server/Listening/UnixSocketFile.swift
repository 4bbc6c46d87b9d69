internal import CLinux
internal import Glibc

/// Who may connect to a Unix socket, by the permissions of its file.
package struct SocketPermissions: Hashable, Sendable {
    /// The permission bits; connecting needs write permission.
    package var mode: UInt32
    /// The name or the number of the group that the file belongs to; `nil` for the process's own.
    package var group: String?

    package init(mode: UInt32 = 0o660, group: String? = nil) {
        self.mode = mode
        self.group = group
    }
}

/// The file of a Unix socket, which is removed in the end, and the lock that keeps other daemons from taking it over.
final class UnixSocketFile: Sendable {
    private let path: String
    private let lock: Int32
    /// What identifies the file, so that a file which replaced it is not removed.
    private let identity: FileIdentity?

    /// Makes a socket that listens; takes over the file of a process that has ended.
    ///
    /// - Throws: `ListenError` if another process listens there, or if the file cannot be made.
    static func make(
        at path: String, permissions: SocketPermissions
    ) throws(ListenError) -> (descriptor: Int32, file: UnixSocketFile) {
        let group = try permissions.group.map { name throws(ListenError) in try groupNumber(name) }
        let lock = try takeLock(path)
        var listening: Int32 = -1
        do throws(ListenError) {
            try removeStale(path)
            listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            // Linux gives these bits to the file, so that nobody else can connect before its group is set.
            guard listening >= 0, fchmod(listening, 0o600) == 0,
                unsafe arbiter_bind_unix(listening, path) == 0,
                group.map({ unsafe chown(path, uid_t.max, $0) == 0 }) ?? true,
                unsafe chmod(path, mode_t(permissions.mode)) == 0,
                listen(listening, ListeningSocket.backlog) == 0
            else { throw failure(path) }
        } catch {
            if listening >= 0 { close(listening) }
            close(lock)
            throw error
        }
        return (listening, UnixSocketFile(path: path, lock: lock))
    }

    private init(path: String, lock: Int32) {
        self.path = path
        self.lock = lock
        identity = FileIdentity(path)
    }

    /// Removes the file, unless it has been replaced.
    func remove() {
        if let identity, FileIdentity(path) == identity { unsafe unlink(path) }
    }

    deinit { close(lock) }

    private static func failure(_ path: String) -> ListenError {
        let code = errno
        return ListenError(
            kind: code == EACCES || code == EPERM ? .notPermitted : .unavailable,
            reason: "cannot listen on unix:\(path): \(unsafe String(cString: strerror(code)))")
    }

    /// Locks a file beside the socket for as long as the process lives.
    ///
    /// Without it, two daemons that start together could each remove the other's socket.
    private static func takeLock(_ path: String) throws(ListenError) -> Int32 {
        let lock = unsafe arbiter_open_lock(path + ".lock")
        guard lock >= 0 else { throw failure(path) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw ListenError(kind: .unavailable, reason: "another process listens on unix:\(path)")
        }
        return lock
    }

    /// Removes a socket file on which no process listens.
    private static func removeStale(_ path: String) throws(ListenError) {
        guard let file = FileIdentity(path) else { return }
        guard file.isSocket else {
            throw ListenError(kind: .unavailable, reason: "cannot listen on unix:\(path): the file is not a socket")
        }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        defer { close(probe) }
        guard unsafe arbiter_connect_unix(probe, path) != 0, errno == ECONNREFUSED else {
            throw ListenError(kind: .unavailable, reason: "another process listens on unix:\(path)")
        }
        guard unsafe unlink(path) == 0 else { throw failure(path) }
    }
}

private struct FileIdentity: Equatable {
    let device: UInt64
    let inode: UInt64
    let isSocket: Bool

    init?(_ path: String) {
        var file = arbiter_file()
        guard unsafe arbiter_file_at(path, &file) == 1 else { return nil }
        device = file.device
        inode = file.inode
        isSocket = file.is_socket != 0
    }
}

/// - Throws: `ListenError` if there is no such group.
private func groupNumber(_ name: String) throws(ListenError) -> gid_t {
    guard let number = SystemGroup.number(of: name) else {
        throw ListenError(kind: .unknownGroup, reason: "there is no group \(name)")
    }
    return number
}
