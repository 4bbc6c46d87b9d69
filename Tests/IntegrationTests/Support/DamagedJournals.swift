import ArbiterEngine
import ArbiterTestKit
import Foundation
import Logging

/// A journal to be damaged: what is in its files, and what it says.
struct SoundJournal {
    let name: String
    /// The bytes of its files.
    let files: [String: [UInt8]]
    let records: Int

    private static let longest = 2000

    /// Journals of several sizes, closed and killed, with a snapshot and without.
    static func samples(seed: UInt64) throws -> [SoundJournal] {
        try [
            SoundJournal("few records", seed: seed, records: 3, inGroup: 1, isKilled: false),
            SoundJournal("few records, killed", seed: seed, records: 5, inGroup: 1, isKilled: true),
            SoundJournal("many groups", seed: seed, records: 400, inGroup: 4, isKilled: false),
            SoundJournal("many groups, killed", seed: seed, records: 150, inGroup: 1, isKilled: true),
            SoundJournal("large groups", seed: seed, records: longest, inGroup: 500, isKilled: false),
            SoundJournal("zeros ahead", seed: seed, .power, records: 50, inGroup: 5, isKilled: true),
            SoundJournal("a snapshot", seed: seed, records: 330, inGroup: 10, snapshotAfter: 200, isKilled: false),
            SoundJournal(
                "a snapshot, killed", seed: seed, .power, records: 330, inGroup: 10, snapshotAfter: 200, isKilled: true),
        ]
    }

    private init(
        _ name: String, seed: UInt64, _ durability: LogJournal.Durability = .crash, records count: Int,
        inGroup size: Int, snapshotAfter: UInt64 = 200_000, isKilled: Bool
    ) throws {
        self.name = name
        self.records = count
        let directory = try TemporaryDirectory()
        let journal = try LogJournal(
            directory: directory.path, durability: durability,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            recordsBetweenSnapshots: snapshotAfter)
        _ = try journal.contents()
        let committed = Guarded(UInt64(0))
        journal.begin { result in committed.withLock { $0 = (try? result.get()) ?? $0 } }
        for record in RecordedLife(seed: seed, records: count).records {
            _ = journal.append(record)
            guard record.sequence.isMultiple(of: UInt64(size)) || record.sequence == count else { continue }
            journal.flush()
            guard eventually({ committed.withLock { $0 } == record.sequence }) else {
                throw ChildProcessError.timedOut("no commit of \(record.sequence)")
            }
        }
        if snapshotAfter < UInt64(count) {
            guard
                try eventually({
                    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
                    return try JournalInspection(directory: directory.path).snapshot != nil && names.count == 3
                })
            else { throw ChildProcessError.timedOut("no snapshot") }
        }
        if !isKilled { journal.close() }
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != "lock" {
            files[name] = FileManager.default.contents(atPath: directory.path + "/" + name).map { [UInt8]($0) }
        }
        self.files = files
        if isKilled { journal.close() }
    }

    /// What `arbiterd journal export` prints of the life that all of them have the beginning of, from its first record on.
    static func history(seed: UInt64) throws -> [Substring] {
        let whole = try SoundJournal("the whole life", seed: seed, records: longest, inGroup: 500, isKilled: false)
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
    ///
    /// - Parameters:
    ///   - other: a journal from which a group may come.
    ///   - random: draws where the damage is.
    /// - Returns: the copy.
    /// - Throws: an error if it cannot be written.
    func damaged(with other: SoundJournal, using random: inout SplitMix64) throws -> DamagedJournal {
        var files = files
        let name = files.keys.sorted().randomElement(using: &random) ?? ""
        var bytes = files[name] ?? []
        let kind = Damage.allCases.randomElement(using: &random) ?? .flip
        let foreign = other.files.filter { $0.key.hasPrefix("log") }.max { $0.value.count < $1.value.count }?.value
        let place = kind.apply(to: &bytes, isLog: name.hasPrefix("log"), foreign: foreign ?? [], using: &random)
        // A file that ends sooner looks like that of a writer that was killed there.
        let original = self.files[name] ?? []
        let rest = bytes.dropFirst(place)
        let isCut = name.hasPrefix("log") && original.starts(with: bytes.prefix(place)) && rest.allSatisfy { $0 == 0 }
        files[name] = bytes
        let directory = try TemporaryDirectory()
        try Self.write(files, to: directory)
        return DamagedJournal(
            origin: self, directory: directory, isCut: isCut, text: "\(self.name): \(kind) at \(place) of \(name)")
    }
}

/// A journal with damage in it.
struct DamagedJournal {
    let origin: SoundJournal
    let directory: TemporaryDirectory
    /// Whether its log only lacks its end.
    let isCut: Bool
    /// What was done to it.
    let text: String
}

/// What happens to files.
enum Damage: CaseIterable {
    case flip, invertedBytes, truncation, zeros, garbage, zeroedPage
    /// What happens to a log alone.
    case fieldOfHeader, fieldOfGroup, swappedGroups, doubledGroup, missingGroup, foreignGroup, hole

    /// The fields of a log's header and of a group's: where they begin, and where the last one ends.
    private static let fieldsOfHeader = [0, 8, 10, 12, 14, 16, 32, 48, 56, 60, 64]
    private static let fieldsOfGroup = [0, 4, 8, 16, 24, 28]

    /// - Returns: where it begins.
    func apply(to bytes: inout [UInt8], isLog: Bool, foreign: [UInt8], using random: inout SplitMix64) -> Int {
        guard !bytes.isEmpty else { return 0 }
        let groups = isLog ? Self.groups(of: bytes) : []
        switch self {
        case .fieldOfHeader where isLog:
            return Self.change(Self.fieldsOfHeader, at: 0, of: &bytes, using: &random)
        case .fieldOfGroup where !groups.isEmpty:
            let group = groups.randomElement(using: &random) ?? groups[0]
            return Self.change(Self.fieldsOfGroup, at: group.lowerBound, of: &bytes, using: &random)
        case .swappedGroups where groups.count > 1:
            let index = Int.random(in: 0..<groups.count - 1, using: &random)
            let (one, two) = (groups[index], groups[index + 1])
            bytes.replaceSubrange(one.lowerBound..<two.upperBound, with: Array(bytes[two]) + Array(bytes[one]))
            return one.lowerBound
        case .doubledGroup where !groups.isEmpty:
            let group = groups.randomElement(using: &random) ?? groups[0]
            bytes.insert(contentsOf: Array(bytes[group]), at: group.upperBound)
            return group.upperBound
        case .missingGroup where !groups.isEmpty:
            let group = groups.randomElement(using: &random) ?? groups[0]
            bytes.removeSubrange(group)
            return group.lowerBound
        case .foreignGroup where !groups.isEmpty:
            let group = groups.randomElement(using: &random) ?? groups[0]
            let others = Self.groups(of: foreign)
            guard let other = others.first(where: { $0.lowerBound == group.lowerBound }) ?? others.first else {
                return 0
            }
            bytes.replaceSubrange(group, with: foreign[other])
            return group.lowerBound
        case .hole where !groups.isEmpty:
            let group = groups.randomElement(using: &random) ?? groups[0]
            bytes.insert(
                contentsOf: [UInt8](repeating: 0, count: .random(in: 1...5000, using: &random)), at: group.lowerBound)
            return group.lowerBound
        default: return applyAnywhere(to: &bytes, using: &random)
        }
    }

    private func applyAnywhere(to bytes: inout [UInt8], using random: inout SplitMix64) -> Int {
        let start = Int.random(in: bytes.indices, using: &random)
        let length: Int
        switch self {
        case .invertedBytes: length = 16
        case .truncation: length = bytes.count
        case .zeros, .garbage: length = Int.random(in: 2...8192, using: &random)
        case .zeroedPage: length = 4096
        default: length = 1
        }
        let first = self == .zeroedPage ? start / 4096 * 4096 : start
        let range = first..<min(bytes.count, first + length)
        switch self {
        case .invertedBytes: for index in range { bytes[index] = ~bytes[index] }
        case .truncation: bytes.removeSubrange(range)
        case .zeros, .zeroedPage: for index in range { bytes[index] = 0 }
        case .garbage: for index in range { bytes[index] = UInt8.random(in: .min ... .max, using: &random) }
        default: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        return first
    }

    /// Gives one field another value.
    private static func change(
        _ fields: [Int], at offset: Int, of bytes: inout [UInt8], using random: inout SplitMix64
    ) -> Int {
        let field = Int.random(in: 0..<fields.count - 1, using: &random)
        let range = offset + fields[field]..<min(bytes.count, offset + fields[field + 1])
        let before = Array(bytes[range])
        while Array(bytes[range]) == before {
            for index in range { bytes[index] = UInt8.random(in: .min ... .max, using: &random) }
        }
        return range.lowerBound
    }

    /// Where the groups of a log are in it; see docs/decisions/0032-the-journal-is-a-log.md.
    private static func groups(of bytes: [UInt8]) -> [Range<Int>] {
        var (groups, offset) = ([Range<Int>](), 64)
        while offset + 28 < bytes.count {
            let length = bytes[offset + 4..<offset + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
            let first = bytes[offset + 8..<offset + 16].contains { $0 != 0 }
            guard first, offset + 29 + length <= bytes.count else { break }
            groups.append(offset..<offset + 29 + length)
            offset += 29 + length
        }
        return groups
    }
}
