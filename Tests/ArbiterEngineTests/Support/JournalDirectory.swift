import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import GRDB
import Logging

/// A directory with a journal, and ways to damage it.
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

    /// Writes records to the journal and closes it.
    func keep(
        _ records: [JournalEntry], recordsInBatch: Int = .max, recordsBetweenSnapshots: UInt64 = 200_000
    ) throws {
        let journal = try open(recordsBetweenSnapshots: recordsBetweenSnapshots)
        _ = try journal.contents()
        let commits = Commits(of: journal)
        for (index, record) in records.enumerated() {
            journal.commit(record)
            if (index + 1) % recordsInBatch == 0 { try commits.wait(for: record.sequence) }
        }
        if records.count > recordsBetweenSnapshots {
            // Closing the journal would interrupt the compaction.
            guard try eventually({ try number("SELECT count(*) FROM snapshot") > 0 }) else { throw Commits.TimedOut() }
        }
        journal.close()
    }

    /// The contents that an engine would replay.
    func contents() throws -> JournalContents {
        let journal = try open()
        defer { journal.close() }
        return try journal.contents()
    }

    /// A copy as a process killed now would leave it, while a writer may be active.
    ///
    /// It has everything committed so far, and a write-ahead log.
    func asIfKilled() throws -> JournalDirectory {
        let copy = try JournalDirectory()
        try sql("VACUUM INTO '\(copy.file)'")
        let database = try DatabaseQueue(path: copy.file)
        return try database.writeWithoutTransaction { database in
            // A change that leaves frames in the write-ahead log.
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; INSERT INTO torn VALUES (0, 0, x'', 0); DELETE FROM torn WHERE last = 0
                    """)
            return try copy.killed()
        }
    }

    /// A copy of the files byte by byte, as a process killed now would leave them; only while nothing is being written.
    func killed() throws -> JournalDirectory {
        let copy = try JournalDirectory()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: file + suffix, toPath: copy.file + suffix)
        }
        return copy
    }

    /// Changes the database without the journal's knowledge.
    func sql(_ statement: String) throws {
        let database = try DatabaseQueue(path: file)
        try database.writeWithoutTransaction { try $0.execute(sql: statement) }
        try database.close()
    }

    func number(_ question: String) throws -> Int { try answer(question) ?? 0 }

    func text(_ question: String) throws -> String { try answer(question) ?? "" }

    private func answer<Value: DatabaseValueConvertible>(_ question: String) throws -> Value? {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: file, configuration: configuration)
        let answer = try database.read { try Value.fetchOne($0, sql: question) }
        try database.close()
        return answer
    }

    var bytes: Data { FileManager.default.contents(atPath: file) ?? Data() }

    /// The bytes of the write-ahead log.
    var writeAheadLog: Data {
        get { FileManager.default.contents(atPath: file + "-wal") ?? Data() }
        nonmutating set { _ = FileManager.default.createFile(atPath: file + "-wal", contents: newValue) }
    }
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
