internal import Glibc

/// Whether SQLite will find everything that was committed to a database's write-ahead log.
///
/// SQLite takes the first frame with a wrong checksum for the end of the log, and says nothing of what stands behind it.
/// The log is read here by SQLite's file format, section 4, "The Write-Ahead Log"
/// (https://sqlite.org/fileformat2.html#the_write_ahead_log).
enum WriteAheadLog {
    enum State: Hashable {
        /// It ends where its writer ended, as far as anybody can tell.
        case sound
        /// There is none, or nothing in it.
        case missing
        /// So many commits stand behind the place where SQLite ends reading.
        case broken(commits: Int)
    }

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// Reads the log beside a database, while nobody writes it.
    ///
    /// A writer that is killed leaves frames of a transaction without its commit, the last of them perhaps in part; and
    /// as its successor writes over them, any of them may stand behind newer ones and continue nothing. A commit that
    /// continues the frame before it was whole once, though, and whatever comes later is written behind it. (Only where
    /// a disk refused to sync a commit is it written over.)
    ///
    /// What cannot be told from a kill: that the last commit is damaged, or that the end of the file is missing.
    ///
    /// - Throws: `JournalError` if a file cannot be read.
    static func state(beside database: String) throws(JournalError) -> State {
        guard let file = try OpenFile(database + "-wal") else { return .missing }
        var bytes = [UInt8](repeating: 0, count: headerBytes)
        guard try file.read(&bytes, at: 0) else { return .missing }
        guard let header = Header(bytes) else { return try stateWithoutHeader(of: file, beside: database) }
        var frames = Frames(file: file, pageBytes: header.pageBytes, isBigEndian: header.isBigEndian)
        var before = header.checksum
        var (isWhole, commits) = (true, 0)
        while let frame = try frames.next() {
            isWhole = isWhole && frame.salts == header.salts && frames.continues(before)
            if !isWhole, frame.isCommit, frame.salts == header.salts, frames.continues(before) { commits += 1 }
            before = frame.checksum
        }
        return commits == 0 ? .sound : .broken(commits: commits)
    }

    /// Looks for commits that are in a log only, where SQLite ignores all of it because its header is not valid.
    ///
    /// The header is written anew once all that the frames hold is in the database. Should that be cut short, nothing is
    /// lost: the frames of the generation before then say what the database says. Otherwise the header is damaged.
    private static func stateWithoutHeader(
        of file: OpenFile, beside database: String
    ) throws(JournalError) -> State {
        guard let database = try OpenFile(database) else { return .sound }
        var bytes = [UInt8](repeating: 0, count: 100)
        guard try database.read(&bytes, at: 0) else { return .sound }
        let stored = Int(bytes.number(at: 16) >> 16)
        let pageBytes = stored == 1 ? 65_536 : stored
        guard Header.pageBytes.contains(pageBytes) else { return .sound }

        var frames = Frames(file: file, pageBytes: pageBytes, isBigEndian: UInt32(1).bigEndian == 1)
        guard let first = try frames.next() else { return .sound }
        var (frame, commits) = (first, 0)
        /// Where the newest content of each page is, of all commits and of the one that is being read.
        var (committed, pending): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
        while true {
            pending[frame.page] = frames.contentOffset
            if frame.isCommit {
                committed.merge(pending) { $1 }
                pending = [:]
                commits += 1
            }
            guard let next = try frames.next(), next.salts == first.salts, frames.continues(frame.checksum) else {
                break
            }
            frame = next
        }
        var (content, kept) = ([UInt8](repeating: 0, count: pageBytes), [UInt8](repeating: 0, count: pageBytes))
        for (page, offset) in committed where page > 0 {
            guard try file.read(&content, at: offset), try database.read(&kept, at: (Int(page) - 1) * pageBytes),
                content == kept
            else { return .broken(commits: commits) }
        }
        return .sound
    }
}

// MARK: - The form of the file

extension WriteAheadLog {
    private struct Header {
        static let pageBytes = Set((9...16).map { 1 << $0 })

        let isBigEndian: Bool
        let pageBytes: Int
        let salts: UInt64
        let checksum: CumulativeChecksum

        /// - Returns: `nil` where SQLite would not believe it.
        init?(_ bytes: [UInt8]) {
            let magic = bytes.number(at: 0)
            guard magic & ~1 == 0x377f_0682 else { return nil }
            isBigEndian = magic & 1 == 1
            pageBytes = Int(bytes.number(at: 8))
            salts = UInt64(bytes.number(at: 16)) << 32 | UInt64(bytes.number(at: 20))
            checksum = CumulativeChecksum(first: bytes.number(at: 24), second: bytes.number(at: 28))
            guard bytes.number(at: 4) == 3_007_000, Self.pageBytes.contains(pageBytes),
                CumulativeChecksum().adding(bytes, 0..<24, isBigEndian: isBigEndian) == checksum
            else { return nil }
        }
    }

    private struct Frame {
        let page: UInt32
        let isCommit: Bool
        let salts: UInt64
        let checksum: CumulativeChecksum

        init(_ bytes: [UInt8]) {
            page = bytes.number(at: 0)
            isCommit = bytes.number(at: 4) != 0
            salts = UInt64(bytes.number(at: 8)) << 32 | UInt64(bytes.number(at: 12))
            checksum = CumulativeChecksum(first: bytes.number(at: 16), second: bytes.number(at: 20))
        }
    }

    /// The frames of a log, one in memory at a time.
    private struct Frames {
        let file: OpenFile
        let isBigEndian: Bool
        private var bytes: [UInt8]
        private var offset = headerBytes

        init(file: OpenFile, pageBytes: Int, isBigEndian: Bool) {
            self.file = file
            self.isBigEndian = isBigEndian
            bytes = [UInt8](repeating: 0, count: frameHeaderBytes + pageBytes)
        }

        /// Where the page of the last frame is in the file.
        var contentOffset: Int { offset - bytes.count + frameHeaderBytes }

        /// The next frame, unless the file ends before its end does.
        mutating func next() throws(JournalError) -> Frame? {
            guard try file.read(&bytes, at: offset) else { return nil }
            offset += bytes.count
            return Frame(bytes)
        }

        /// Whether the last frame is as it was written behind everything with this checksum.
        func continues(_ before: CumulativeChecksum) -> Bool {
            let frame = Frame(bytes)
            return frame.page != 0
                && frame.checksum
                    == before.adding(bytes, 0..<8, isBigEndian: isBigEndian)
                    .adding(bytes, frameHeaderBytes..<bytes.count, isBigEndian: isBigEndian)
        }
    }

    /// The checksum of everything up to a place, as the format defines it.
    private struct CumulativeChecksum: Hashable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// Takes in bytes, a multiple of eight of them.
        func adding(_ bytes: [UInt8], _ range: Range<Int>, isBigEndian: Bool) -> CumulativeChecksum {
            var (first, second) = (first, second)
            unsafe bytes.withUnsafeBytes { bytes in
                for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                    let one = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                    let two = unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                    first &+= (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
                    second &+= (isBigEndian ? two.bigEndian : two.littleEndian) &+ first
                }
            }
            return CumulativeChecksum(first: first, second: second)
        }
    }
}

extension [UInt8] {
    /// The number in four bytes, the most significant of them first.
    fileprivate func number(at offset: Int) -> UInt32 {
        self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A file that is read in places.
private final class OpenFile {
    private let path: String
    private let descriptor: Int32

    /// - Returns: `nil` if there is none.
    init?(_ path: String) throws(JournalError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else { return }
        guard errno != ENOENT else { return nil }
        throw JournalError(reason: "cannot open \(path): \(unsafe String(cString: strerror(errno)))")
    }

    /// Fills a buffer.
    ///
    /// - Returns: whether there was enough in the file.
    func read(_ bytes: inout [UInt8], at offset: Int) throws(JournalError) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done, offset + done)
            }
            if count == 0 { return false }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw JournalError(reason: "cannot read \(path): \(unsafe String(cString: strerror(errno)))")
            }
        }
        return true
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}
