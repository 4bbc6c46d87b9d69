internal import Glibc

/// Checks whether SQLite will find everything that was committed to a write-ahead log.
///
/// SQLite takes the first frame with a wrong checksum for the end of the log, and does not report what follows. This
/// reads the log according to SQLite's file format, section 4, "The Write-Ahead Log"
/// (https://sqlite.org/fileformat2.html#the_write_ahead_log).
enum WriteAheadLog {
    enum State: Hashable {
        /// As far as can be seen, it ends where its writer stopped.
        case sound
        /// The file does not exist, or has no complete header.
        case missing
        /// This many commits follow the place where SQLite stops reading.
        case broken(commits: Int)
    }

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// Reads the log of a database that no process is writing.
    ///
    /// A writer that is killed leaves frames of a transaction without its commit, and the last frame may be incomplete.
    /// The next writer overwrites these frames, so some of them may follow newer frames whose checksums they do not
    /// continue. But a commit frame whose checksum continues the frame before it was written completely, and all later
    /// frames were written after it. (It is overwritten only if a disk refused to sync it.)
    ///
    /// Two kinds of damage look the same as a kill: a damaged last commit, and a file whose end is missing.
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

    /// Checks a log that SQLite ignores because its header is invalid, for commits that are not in the database.
    ///
    /// SQLite rewrites the header once the content of all frames is in the database. If that write was interrupted,
    /// nothing is lost: the frames of the previous generation agree with the database. If they do not agree, the header
    /// is damaged.
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
        /// The offsets of each page's newest content: in all commits, and in the commit that is being read.
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

// MARK: - The file format

extension WriteAheadLog {
    private struct Header {
        static let pageBytes = Set((9...16).map { 1 << $0 })

        let isBigEndian: Bool
        let pageBytes: Int
        let salts: UInt64
        let checksum: CumulativeChecksum

        /// - Returns: `nil` if SQLite would reject the header.
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

    /// Reads the frames of a log, one at a time.
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

        /// The offset of the last frame's page in the file.
        var contentOffset: Int { offset - bytes.count + frameHeaderBytes }

        /// The next frame; `nil` if the file ends before a complete one.
        mutating func next() throws(JournalError) -> Frame? {
            guard try file.read(&bytes, at: offset) else { return nil }
            offset += bytes.count
            return Frame(bytes)
        }

        /// Whether the last frame is valid as the successor of everything with this checksum.
        func continues(_ before: CumulativeChecksum) -> Bool {
            let frame = Frame(bytes)
            return frame.page != 0
                && frame.checksum
                    == before.adding(bytes, 0..<8, isBigEndian: isBigEndian)
                    .adding(bytes, frameHeaderBytes..<bytes.count, isBigEndian: isBigEndian)
        }
    }

    /// The checksum of everything up to a position, as the format defines it.
    private struct CumulativeChecksum: Hashable {
        var first: UInt32 = 0
        var second: UInt32 = 0

        /// Adds bytes, whose number must be a multiple of eight.
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
    /// The big-endian number in four bytes.
    fileprivate func number(at offset: Int) -> UInt32 {
        self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A file that is read at given offsets.
private final class OpenFile {
    private let path: String
    private let descriptor: Int32

    /// - Returns: `nil` if the file does not exist.
    init?(_ path: String) throws(JournalError) {
        self.path = path
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor < 0 else { return }
        guard errno != ENOENT else { return nil }
        throw JournalError(reason: "cannot open \(path): \(unsafe String(cString: strerror(errno)))")
    }

    /// Fills a buffer from the file.
    ///
    /// - Returns: whether the file had enough bytes.
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
