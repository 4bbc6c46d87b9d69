internal import ArbiterEngine

/// A mistake that a journal in files could make, planted between it and its disk.
package enum DiskFault: String, Sendable, CaseIterable {
    /// There is none.
    case none
    /// A commit is reported before its group is written.
    case answersBeforeTheWrite
    /// The logs that a snapshot replaces are removed before its name is on the disk.
    case snapshotUsedBeforeItsDirectoryIsSynchronized
    /// The logs that a snapshot replaces are removed before it is written.
    case logDeletedTooEarly
    /// A group counts although its checksum is wrong.
    case tornGroupIsBelieved
    /// A commit does not wait for the disk although it should.
    case syncIsSkipped
    /// The log of the process before is not on the disk when another one goes on behind it.
    case oldLogIsNotSynchronized
}

/// A disk with something wrong about how it is used.
final class PlantedStorage: JournalStorage {
    private let disk: SimulatedDisk
    private let fault: DiskFault
    /// Whether the name of a snapshot is new.
    private let hasNewSnapshot = Guarded(false)

    init(_ disk: SimulatedDisk, _ fault: DiskFault) { (self.disk, self.fault) = (disk, fault) }

    var path: String { disk.path }

    func names() throws(JournalError) -> [String] { try disk.names() }

    func open(_ name: String) throws(JournalError) -> (any StoredFile)? {
        guard let file = try disk.open(name) else { return nil }
        return name.hasPrefix("log-") ? PlantedFile(file, fault, isOld: true) : file
    }

    func create(_ name: String, appends: Bool) throws(JournalError) -> any StoredFile {
        if fault == .logDeletedTooEarly, let last = Self.number(of: name, "snapshot-") {
            for log in try disk.names() where Self.number(of: log, "log-").map({ $0 <= last }) ?? false {
                try disk.remove(log)
            }
        }
        let file = try disk.create(name, appends: appends)
        return name.hasPrefix("log-") ? PlantedFile(file, fault, isOld: false) : file
    }

    private static func number(of name: String, _ prefix: String) -> UInt64? {
        guard name.hasPrefix(prefix) else { return nil }
        return UInt64(name.dropFirst(prefix.count).prefix(while: \.isNumber))
    }

    func rename(_ name: String, to other: String) throws(JournalError) {
        try disk.rename(name, to: other)
        hasNewSnapshot.withLock { $0 = other.hasPrefix("snapshot-") }
    }

    func remove(_ name: String) throws(JournalError) { try disk.remove(name) }

    func synchronize() throws(JournalError) {
        let isSkipped = hasNewSnapshot.withLock { isNew in
            defer { isNew = false }
            return isNew && fault == .snapshotUsedBeforeItsDirectoryIsSynchronized
        }
        if !isSkipped { try disk.synchronize() }
    }
}

/// A log with something wrong about how it is used.
private final class PlantedFile: StoredFile {
    private let file: any StoredFile
    private let fault: DiskFault
    /// Whether an earlier process has begun it.
    private let isOld: Bool
    /// What is not written yet, although that was said.
    private let late = Guarded<(bytes: [UInt8], offset: Int)?>(nil)

    init(_ file: any StoredFile, _ fault: DiskFault, isOld: Bool) {
        (self.file, self.fault, self.isOld) = (file, fault, isOld)
    }

    private func catchUp() throws(JournalError) {
        guard let (bytes, offset) = late.withLock({ $0 }) else { return }
        late.withLock { $0 = nil }
        try file.write(bytes, at: offset)
    }

    func size() throws(JournalError) -> Int {
        try catchUp()
        return try file.size()
    }

    func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8] {
        try catchUp()
        guard fault == .tornGroupIsBelieved else { return try file.read(count, at: offset) }
        let bytes = BelievedLog(try file.read(try file.size(), at: 0)).bytes
        guard offset < bytes.count else { return [] }
        return Array(bytes[offset..<min(offset + count, bytes.count)])
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(JournalError) {
        try catchUp()
        guard fault == .answersBeforeTheWrite else { return try file.write(bytes, at: offset) }
        late.withLock { $0 = (bytes, offset) }
    }

    func truncate(to size: Int) throws(JournalError) {
        try catchUp()
        try file.truncate(to: size)
    }

    func synchronize() throws(JournalError) {
        try catchUp()
        switch fault {
        case .syncIsSkipped: if isOld { try file.synchronize() }
        case .oldLogIsNotSynchronized: if !isOld { try file.synchronize() }
        case .none, .answersBeforeTheWrite, .snapshotUsedBeforeItsDirectoryIsSynchronized, .logDeletedTooEarly,
            .tornGroupIsBelieved:
            try file.synchronize()
        }
    }

    func isInPlace(as name: String, size: Int) -> Bool {
        guard let (bytes, offset) = late.withLock({ $0 }) else { return file.isInPlace(as: name, size: size) }
        // Nobody knows what it is without the write.
        return offset + bytes.count == size ? file.isInPlace(as: name, size: offset) : true
    }

    func close() {
        try? catchUp()
        file.close()
    }
}

/// A log whose last group seems to be the one that was written, whatever it is.
private struct BelievedLog {
    private static let headerBytes = 64
    private static let groupHeaderBytes = 28

    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= Self.headerBytes else { return }
        var (start, before) = (Self.headerBytes, number(at: Self.headerBytes - 4))
        while start + Self.groupHeaderBytes < bytes.count {
            let end = start + Self.groupHeaderBytes + number(at: start + 4) + 1
            guard end <= bytes.count, number(at: start + 24) == before else { return }
            if CRC32C.of(Array(bytes[(start + 4)..<end])) != number(at: start) || bytes[end - 1] != 0xff {
                self.bytes[end - 1] = 0xff
                let sum = CRC32C.of(Array(self.bytes[(start + 4)..<end]))
                for index in 0..<4 { self.bytes[start + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            }
            (start, before) = (end, number(at: start))
        }
    }

    /// A little-endian number of four bytes.
    private func number(at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
