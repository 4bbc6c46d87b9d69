import ArbiterEngine
import ArbiterTestKit
import Foundation
import Logging

/// A journal to be damaged: what is in its files, and what it says.
struct SoundJournal {
    let name: String
    /// The bytes of the database, and of the write-ahead log where its writer was killed.
    let files: [String: [UInt8]]
    let records: Int

    private static let database = "journal.sqlite"
    private static let log = "journal.sqlite-wal"
    private static let longest = 2000

    /// Journals of several sizes, closed and killed, with a snapshot and without.
    static func samples(seed: UInt64) throws -> [SoundJournal] {
        try [
            SoundJournal("few records", seed: seed, records: 3, inBatch: 1, isKilled: false),
            SoundJournal("few records, killed", seed: seed, records: 5, inBatch: 1, isKilled: true),
            SoundJournal("many batches", seed: seed, records: 400, inBatch: 4, isKilled: false),
            SoundJournal("many batches, killed", seed: seed, records: 150, inBatch: 1, isKilled: true),
            SoundJournal("large batches", seed: seed, records: longest, inBatch: 500, isKilled: false),
            SoundJournal("a snapshot", seed: seed, records: 330, inBatch: 10, snapshotAfter: 200, isKilled: false),
            SoundJournal(
                "a snapshot, killed", seed: seed, records: 330, inBatch: 10, snapshotAfter: 200, isKilled: true),
        ]
    }

    private init(
        _ name: String, seed: UInt64, records count: Int, inBatch size: Int, snapshotAfter: UInt64 = 200_000,
        isKilled: Bool
    ) throws {
        self.name = name
        self.records = count
        let directory = try TemporaryDirectory()
        let journal = try SQLiteJournal(
            directory: directory.path, durability: .crash,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            recordsBetweenSnapshots: snapshotAfter)
        _ = try journal.contents()
        let committed = Guarded(UInt64(0))
        journal.begin { result in committed.withLock { $0 = (try? result.get()) ?? $0 } }
        for record in RecordedLife(seed: seed, records: count).records {
            journal.commit(record)
            guard record.sequence.isMultiple(of: UInt64(size)) || record.sequence == count else { continue }
            guard eventually({ committed.withLock { $0 } == record.sequence }) else {
                throw ChildProcessError.timedOut("no commit of \(record.sequence)")
            }
        }
        if snapshotAfter < UInt64(count) {
            guard try eventually({ try JournalInspection(directory: directory.path).snapshot != nil }) else {
                throw ChildProcessError.timedOut("no snapshot")
            }
        }
        if !isKilled { journal.close() }
        var files: [String: [UInt8]] = [:]
        for name in [Self.database, Self.log] {
            files[name] = FileManager.default.contents(atPath: directory.path + "/" + name).map { [UInt8]($0) }
        }
        self.files = files
        if isKilled { journal.close() }
    }

    /// What `arbiterd journal export` prints of the life that all of them have the beginning of, from its first record on.
    static func history(seed: UInt64) throws -> [Substring] {
        let whole = try SoundJournal("the whole life", seed: seed, records: longest, inBatch: 500, isKilled: false)
        let copy = try TemporaryDirectory()
        try write(whole.files, to: copy)
        let process = try ChildProcess("arbiterd", ["journal", "export", "--data", copy.path])
        guard try process.waitForExit() == .exited(0) else { throw ChildProcessError.ended(process.standardError) }
        return process.restOfOutput.split(separator: "\n")
    }

    private static func write(_ files: [String: [UInt8]], to directory: TemporaryDirectory) throws {
        for (name, bytes) in files {
            let path = directory.path + "/" + name
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        }
    }

    /// A copy with one kind of damage somewhere in one of its files.
    func damaged(using random: inout SplitMix64) throws -> DamagedJournal {
        var files = files
        let name = files.keys.sorted().randomElement(using: &random) ?? Self.database
        var bytes = files[name] ?? []
        let kind = Damage.allCases.randomElement(using: &random) ?? .flip
        let place = kind.apply(to: &bytes, using: &random)
        files[name] = bytes
        let directory = try TemporaryDirectory()
        try Self.write(files, to: directory)
        return DamagedJournal(
            origin: self, directory: directory, isInLog: name == Self.log,
            text: "\(self.name): \(kind) at \(place) of \(name)")
    }
}

/// A journal with damage in it.
struct DamagedJournal {
    let origin: SoundJournal
    let directory: TemporaryDirectory
    let isInLog: Bool
    /// What was done to it.
    let text: String
}

/// What happens to files.
enum Damage: CaseIterable {
    case flip, invertedBytes, truncation, zeros, garbage, zeroedPage

    /// - Returns: where it is.
    func apply(to bytes: inout [UInt8], using random: inout SplitMix64) -> Range<Int> {
        guard !bytes.isEmpty else { return 0..<0 }
        let start = Int.random(in: bytes.indices, using: &random)
        let length: Int
        switch self {
        case .flip: length = 1
        case .invertedBytes: length = 16
        case .truncation: length = bytes.count
        case .zeros, .garbage: length = Int.random(in: 2...8192, using: &random)
        case .zeroedPage: length = 4096
        }
        let first = self == .zeroedPage ? start / 4096 * 4096 : start
        let range = first..<min(bytes.count, first + length)
        switch self {
        case .flip: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .invertedBytes: for index in range { bytes[index] = ~bytes[index] }
        case .truncation: bytes.removeSubrange(range)
        case .zeros, .zeroedPage: for index in range { bytes[index] = 0 }
        case .garbage: for index in range { bytes[index] = UInt8.random(in: .min ... .max, using: &random) }
        }
        return range
    }
}
