import ArbiterCore
import ArbiterTestKit
import Foundation
import Logging
import Testing

@testable import ArbiterEngine

/// A directory with a journal, and ways to damage it.
struct JournalDirectory {
    let directory: TemporaryDirectory
    let log = RecordedLog()

    init() throws {
        directory = try TemporaryDirectory()
    }

    var path: String { directory.path }

    var storage: DirectoryStorage { DirectoryStorage(path) }

    func open(
        _ durability: LogJournal.Durability = .crash, recordsBetweenSnapshots: UInt64 = 200_000,
        bytesBetweenSnapshots: Int = 64 << 20,
        boot: UInt128 = .thisBoot
    ) throws(JournalError) -> LogJournal {
        try LogJournal(
            directory: path, durability: durability, logger: logger, recordsBetweenSnapshots: recordsBetweenSnapshots,
            bytesBetweenSnapshots: bytesBetweenSnapshots, boot: boot)
    }

    var logger: Logger {
        Logger(label: "journal") { [log] _ in log }
    }

    /// Writes records to the journal and closes it.
    func keep(
        _ records: [JournalEntry], _ durability: LogJournal.Durability = .crash, recordsInGroup: Int = .max,
        recordsBetweenSnapshots: UInt64 = 200_000
    ) throws {
        let journal = try open(durability, recordsBetweenSnapshots: recordsBetweenSnapshots)
        _ = try journal.contents()
        let commits = Commits(of: journal)
        for (index, record) in records.enumerated() {
            if index % recordsInGroup == 0 {
                // While it commits, it takes what comes as a group of its own.
                let isIdle = eventually { !journal.state.withLock { $0.isCommitting } }
                guard isIdle else { throw Commits.TimedOut() }
            }
            _ = journal.append(record)
            guard (index + 1) % recordsInGroup == 0 || index + 1 == records.count else { continue }
            journal.flush()
            try commits.wait(for: record.sequence)
        }
        if records.count > recordsBetweenSnapshots {
            // Closing the journal would interrupt the compaction.
            guard try eventually({ try !files().snapshots.isEmpty }) else { throw Commits.TimedOut() }
        }
        journal.close()
    }

    /// The contents that an engine would replay.
    func contents(boot: UInt128 = .thisBoot) throws -> JournalContents {
        let journal = try open(boot: boot)
        defer { journal.close() }
        return try journal.contents()
    }

    /// A copy as a process killed now would leave it, while a writer may be active; it has everything committed so far.
    func asIfKilled() throws -> JournalDirectory {
        for _ in 0..<100 {
            let copy = try JournalDirectory()
            let names = try names()
            // A compaction may remove files meanwhile.
            let isWhole = names.allSatisfy { name in
                (try? FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)) != nil
            }
            if try isWhole && !LogFiles(in: copy.storage).isEmpty { return copy }
        }
        throw Commits.TimedOut()
    }

    /// The names of its files, without that of the lock.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lock" }.sorted()
    }

    /// The numbers of its files.
    func files() throws -> LogFiles { try LogFiles(in: storage) }

    /// What is in its files, by their names.
    func allBytes() throws -> [String: Data] {
        Dictionary(uniqueKeysWithValues: try names().map { ($0, self[$0]) })
    }

    /// The bytes of a file.
    subscript(name: String) -> Data {
        get { FileManager.default.contents(atPath: path + "/" + name) ?? Data() }
        nonmutating set {
            _ = FileManager.default.createFile(
                atPath: path + "/" + name, contents: newValue, attributes: [.posixPermissions: 0o600])
        }
    }

    /// Where the groups of a log are in it, the one that closes the journal included.
    func groups(of name: String) throws -> [Range<Int>] {
        let first = try #require(name.split(separator: "-").last.flatMap { UInt64($0) })
        var log = try LogCursor(first, in: storage)
        var (groups, last) = ([Range<Int>](), first - 1)
        while let group = try log.next(after: last) {
            groups.append(group.offset..<group.offset + group.header.size)
            last = group.header.last
        }
        return groups
    }

    /// Inverts a byte of a file.
    func flip(_ name: String, at offset: Int) {
        var bytes = self[name]
        bytes[offset] = ~bytes[offset]
        self[name] = bytes
    }
}

extension UInt128 {
    /// The current boot of the machine, in which inspections look at a journal.
    static let thisBoot = MachineBoot.current() ?? 1
}

extension JournalContents {
    /// Whether the journal may lack its last records.
    var isIncomplete: Bool { ending.mayLackRecords }
}

/// Waits for the commits of a journal, with a time limit that only a broken one reaches.
final class Commits: Sendable {
    struct TimedOut: Error {}

    private let told = Guarded((sequence: UInt64(0), failure: JournalError?.none))
    private let progress = DispatchSemaphore(value: 0)

    init(of journal: any Journal) {
        journal.begin { self.hear($0) }
    }

    private func hear(_ result: Result<UInt64, JournalError>) {
        told.withLock { told in
            switch result {
            case .success(let sequence): told.sequence = sequence
            case .failure(let error): told.failure = error
            }
        }
        progress.signal()
    }

    var failure: JournalError? { told.withLock { $0.failure } }

    func wait(for sequence: UInt64) throws {
        while told.withLock({ $0.sequence < sequence && $0.failure == nil }) {
            guard progress.wait(timeout: .now() + .seconds(60)) == .success else { throw TimedOut() }
        }
        if let failure { throw failure }
    }

    func waitForFailure() throws -> JournalError {
        while true {
            if let failure { return failure }
            guard progress.wait(timeout: .now() + .seconds(60)) == .success else { throw TimedOut() }
        }
    }
}

/// The logged lines, by level.
struct RecordedLog: LogHandler {
    private final class Lines: Sendable {
        let lines = Guarded([(level: Logger.Level, text: String)]())
    }

    private let recorded = Lines()
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    subscript(level: Logger.Level) -> [String] {
        recorded.lines.withLock { $0.filter { $0.level == level }.map(\.text) }
    }

    func log(event: LogEvent) {
        let (level, text) = (event.level, "\(event.message) \(event.metadata ?? [:])")
        recorded.lines.withLock { $0.append((level, text)) }
    }
}
