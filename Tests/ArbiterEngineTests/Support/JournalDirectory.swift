import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import GRDB
import Logging

/// A directory with a journal in it, and ways to do to it what must not happen.
struct JournalDirectory {
    let directory: TemporaryDirectory
    let log = RecordedLog()

    init() throws {
        directory = try TemporaryDirectory()
    }

    var file: String { SQLiteJournal.path(in: directory.path) }

    func open(
        _ durability: SQLiteJournal.Durability = .crash, recordsBetweenSnapshots: UInt64 = 200_000,
        bytesBetweenSnapshots: Int = 64 << 20,
        boot: String = "this boot"
    ) throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(
            directory: directory.path, durability: durability, logger: logger,
            recordsBetweenSnapshots: recordsBetweenSnapshots, bytesBetweenSnapshots: bytesBetweenSnapshots, boot: boot)
    }

    var logger: Logger {
        Logger(label: "journal") { [log] _ in log }
    }

    /// Keeps these records and closes.
    func keep(
        _ records: [JournalRecord], recordsInBatch: Int = .max, recordsBetweenSnapshots: UInt64 = 200_000
    ) throws {
        let journal = try open(recordsBetweenSnapshots: recordsBetweenSnapshots)
        _ = try journal.contents()
        let commits = Commits(of: journal)
        for (index, record) in records.enumerated() {
            _ = journal.append(record)
            if (index + 1) % recordsInBatch == 0 { try commits.wait(for: record.sequence) }
        }
        if records.count > recordsBetweenSnapshots {
            // Closing would break it off.
            guard try eventually({ try number("SELECT count(*) FROM snapshot") > 0 }) else { throw Commits.TimedOut() }
        }
        journal.close()
    }

    /// What the engine would rebuild.
    func contents() throws -> JournalContents {
        let journal = try open()
        defer { journal.close() }
        return try journal.contents()
    }

    /// What a process killed at this moment leaves behind: everything committed so far, and a write-ahead log.
    func asIfKilled() throws -> JournalDirectory {
        let copy = try JournalDirectory()
        try sql("VACUUM INTO '\(copy.file)'")
        let database = try DatabaseQueue(path: copy.file)
        return try database.writeWithoutTransaction { database in
            // Something that leaves the log with something in it.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; INSERT INTO torn VALUES (0, 0, x'', 0); DELETE FROM torn WHERE last = 0
                    """)
            return try copy.killed()
        }
    }

    /// What a process killed at this moment leaves behind, byte by byte, where nobody is writing.
    func killed() throws -> JournalDirectory {
        let copy = try JournalDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: file + suffix, toPath: copy.file + suffix)
        }
        return copy
    }

    /// Does something to the database behind the journal's back.
    func sql(_ statement: String) throws {
        let database = try DatabaseQueue(path: file)
        try database.writeWithoutTransaction { try $0.execute(sql: statement) }
        try database.close()
    }

    func number(_ question: String) throws -> Int {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: file, configuration: configuration)
        let number = try database.read { try Int.fetchOne($0, sql: question) }
        try database.close()
        return number ?? 0
    }

    var bytes: Data { FileManager.default.contents(atPath: file) ?? Data() }

    /// The write-ahead log.
    var writeAheadLog: Data {
        get { FileManager.default.contents(atPath: file + "-wal") ?? Data() }
        nonmutating set { _ = FileManager.default.createFile(atPath: file + "-wal", contents: newValue) }
    }
}

extension JournalContents {
    /// Whether its last records may be missing.
    var isIncomplete: Bool { ending == .incomplete }
}

/// Waits for the commits of a journal, with a limit that only a broken one reaches.
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

/// What was logged, by level.
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
