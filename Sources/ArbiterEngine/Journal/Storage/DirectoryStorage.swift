internal import CLinux
internal import Foundation
internal import Glibc
internal import Logging

/// A directory of the system.
struct DirectoryStorage: JournalStorage {
    let path: String
    /// Where is reported that a file was readable by others; `nil` leaves the modes of files as they are.
    private let logger: Logger?

    /// - Parameters:
    ///   - path: the directory, with all symbolic links resolved.
    ///   - logger: where is reported that others could read a file, which is then made private; `nil` to change nothing.
    init(_ path: String, logger: Logger? = nil) {
        self.path = path
        self.logger = logger
    }

    func names() throws(JournalError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw JournalError(reason: "cannot read the directory \(path): \(error.localizedDescription)")
        }
    }

    func open(_ name: String) throws(JournalError) -> (any StoredFile)? {
        let path = place(of: name)
        var descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        // A journal that is only read may belong to somebody else, or to a file system without writing.
        if descriptor < 0, logger == nil { descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            case ELOOP:
                throw JournalError(reason: "\(path) is a symbolic link, and no journal has one there: remove it")
            default: throw JournalError("open", path, errno)
            }
        }
        let file = SystemFile(descriptor, of: path, in: self.path)
        try check(file)
        return file
    }

    func create(_ name: String, appends: Bool) throws(JournalError) -> any StoredFile {
        try remove(name)
        let path = place(of: name)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | (appends ? O_APPEND : 0)
        let descriptor = unsafe Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw JournalError("create", path, errno) }
        // Nobody else knows the file yet. See `DirectoryLock`.
        flock(descriptor, LOCK_EX | LOCK_NB)
        // People know the file by the name that it gets when it is complete.
        let known =
            name.hasSuffix(LogFormat.suffixOfUnfinished)
            ? path.dropLast(LogFormat.suffixOfUnfinished.count) : path[...]
        return SystemFile(descriptor, of: String(known), in: self.path)
    }

    func rename(_ name: String, to other: String) throws(JournalError) {
        guard unsafe Glibc.rename(place(of: name), place(of: other)) == 0 else {
            throw JournalError("write", place(of: other), errno)
        }
    }

    func remove(_ name: String) throws(JournalError) {
        guard unsafe unlink(place(of: name)) != 0, errno != ENOENT else { return }
        throw JournalError("remove", place(of: name), errno)
    }

    func synchronize() throws(JournalError) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw JournalError("open", path, errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw JournalError("write", path, errno) }
    }

    private func place(of name: String) -> String { path + "/" + name }

    /// Makes a file private, because the journal contains tokens.
    ///
    /// - Throws: `JournalError` if the file is not one of a journal, or if it stays readable by others.
    private func check(_ file: SystemFile) throws(JournalError) {
        guard let status = file.status(), status.st_mode & S_IFMT == S_IFREG else {
            throw JournalError(reason: "\(file.path) is not a regular file: move it away to begin anew")
        }
        guard let logger else { return }
        guard status.st_nlink == 1 else {
            throw JournalError(reason: "\(file.path) has another name, a hard link: remove that, or copy the file")
        }
        guard status.st_mode & 0o077 != 0 else { return }
        guard file.makePrivate() else {
            throw JournalError(
                reason: "\(file.path) can be read by others, and has tokens in it: let its owner run chmod 600 on it")
        }
        logger.warning(
            "others could read the journal; now its owner only can", metadata: ["path": "\(file.path)"])
    }
}

extension DirectoryStorage {
    /// Creates a directory, and those above it, for its owner only, unless it exists.
    ///
    /// - Throws: `JournalError` if it cannot be created.
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
}

/// A file of the system.
final class SystemFile: StoredFile {
    let path: String
    private let directory: String
    private let descriptor: Guarded<Int32>
    /// What no other file has while this one is open; `nil` if it cannot be told.
    private let identity: (device: dev_t, number: ino_t)?

    fileprivate init(_ descriptor: Int32, of path: String, in directory: String) {
        self.path = path
        self.directory = directory
        self.descriptor = Guarded(descriptor)
        var status = Glibc.stat()
        identity = unsafe fstat(descriptor, &status) == 0 ? (status.st_dev, status.st_ino) : nil
    }

    private var number: Int32 { descriptor.withLock { $0 } }

    fileprivate func status() -> Glibc.stat? {
        var status = Glibc.stat()
        return unsafe fstat(number, &status) == 0 ? status : nil
    }

    fileprivate func makePrivate() -> Bool { fchmod(number, 0o600) == 0 }

    func size() throws(JournalError) -> Int {
        guard let status = status() else { throw JournalError("read", path, errno) }
        return status.st_size
    }

    func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
        var (code, done): (Int32, Int) = (0, 0)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            while done < count {
                let more = unsafe pread(number, buffer.baseAddress?.advanced(by: done), count - done, offset + done)
                if more > 0 { done += more }
                if more == 0 { break }
                if more < 0, errno != EINTR {
                    code = errno
                    break
                }
            }
            written = done
        }
        guard code == 0 else { throw JournalError("read", path, code) }
        return bytes
    }

    func holds(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(JournalError) -> Bool {
        let number = number
        // Without an array, because this is a part of every commit.
        let (isSame, code) = unsafe withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { found in
            let count = unsafe pread(number, found.baseAddress, bytes.count, offset)
            let code = count < 0 ? errno : 0
            return unsafe (count == bytes.count && found.elementsEqual(bytes), code)
        }
        guard code == 0 else { throw JournalError("read", path, code) }
        return isSame
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
        let number = number
        let code = unsafe bytes.withUnsafeBytes { bytes -> Int32 in
            var done = 0
            while done < bytes.count {
                let more = unsafe pwrite(
                    number, bytes.baseAddress?.advanced(by: done), bytes.count - done, offset + done)
                if more > 0 { done += more } else if more == 0 || errno != EINTR { return more == 0 ? ENOSPC : errno }
            }
            return 0
        }
        guard code == 0 else { throw JournalError("write", path, code) }
    }

    func truncate(to size: Int) throws(JournalError) {
        guard ftruncate(number, size) == 0 else { throw JournalError("write", path, errno) }
    }

    func synchronize() throws(JournalError) {
        guard fdatasync(number) == 0 else { throw JournalError("write", path, errno) }
    }

    func isInPlace(as name: String, size: Int) -> Bool {
        var named = Glibc.stat()
        guard unsafe lstat(directory + "/" + name, &named) == 0, let identity else { return false }
        return named.st_dev == identity.device && named.st_ino == identity.number && named.st_size == size
    }

    func close() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { DirectoryLock.release(descriptor) }
            descriptor = -1
        }
    }

    deinit {
        close()
    }
}

extension JournalError {
    /// What the system refuses to do with a file, and what to do about it.
    init(_ action: String, _ path: String, _ code: Int32) {
        let said = unsafe String(cString: strerror(code))
        switch code {
        case ENOSPC, EDQUOT, EFBIG: self.init(reason: "\(path) cannot grow (\(said)): make room on its disk")
        case EROFS, EACCES, EPERM:
            self.init(
                reason: "\(path) cannot be opened or written (\(said)): check its owner, its mode and how its disk is "
                    + "mounted")
        default: self.init(reason: "cannot \(action) \(path): \(said)")
        }
    }

    /// The contents of a journal are not what was written.
    init(damage: String, in path: String) {
        self.init(
            .damaged, reason: "\(path) is damaged (\(damage)): restore a copy of it, or move it away to begin anew")
    }
}
