import ArbiterCore
import ArbiterTestKit
import Dispatch
import Foundation
import Glibc
import Testing

@testable import ArbiterEngine

/// Which thread commits: that of the journal, or the one that flushes it.
struct CommittingThreadTests {
    /// What a journal says of a commit.
    private final class Heard: Sendable {
        let commits = DispatchSemaphore(value: 0)
        let isOwn = Guarded(false)
    }

    /// A journal whose commits are awaited one after the other.
    private struct Committing {
        let directory: JournalDirectory
        let journal: SQLiteJournal
        private let heard = Heard()

        init(_ durability: SQLiteJournal.Durability = .crash) throws {
            directory = try JournalDirectory()
            journal = try directory.open(durability)
            let own = pthread_self()
            journal.begin { [heard] _ in
                heard.isOwn.withLock { $0 = pthread_equal(pthread_self(), own) != 0 }
                heard.commits.signal()
            }
        }

        /// - Returns: whether this thread committed it.
        func commit(_ entry: JournalEntry, mayCommit: Bool = true) -> Bool {
            _ = journal.append(entry)
            journal.flush(mayCommit: mayCommit)
            heard.commits.wait()
            return heard.isOwn.withLock { $0 }
        }

        /// Waits until the journal's queue has ended the group that it commits, and has no other.
        ///
        /// `betweenCommits` would interrupt the queue between the commit and the end of its group. A thread that then
        /// flushes the next record leaves it to the queue, because the queue is still committing.
        func settle() { journal.queue.sync {} }

        /// How often the write-ahead log was begun again: the third number of its header
        /// (https://sqlite.org/fileformat2.html#walformat).
        func beginningsOfLog() throws -> UInt32 {
            let log = try FileHandle(forReadingFrom: URL(fileURLWithPath: directory.file + "-wal"))
            defer { try? log.close() }
            return try #require(try log.read(upToCount: 16)?.suffix(4)).reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    @Test func `a lone record is committed by the thread that flushes it, unless commits wait for the disk`() throws {
        for durability in SQLiteJournal.Durability.allCases {
            let committing = try Committing(durability)
            var ownCommits = 0
            for record in RecordedLife(seed: 1, records: 200).records {
                if committing.commit(record) { ownCommits += 1 }
                committing.settle()
            }
            #expect((ownCommits > 0) == (durability == .crash), "\(durability)")
            committing.journal.close()
        }
    }

    @Test func `a thread that may not commit leaves it to the queue`() throws {
        let committing = try Committing()
        for record in RecordedLife(seed: 1, records: 200).records {
            #expect(!committing.commit(record, mayCommit: false))
            committing.settle()
        }
        committing.journal.close()
    }

    @Test func `the commit that begins the log again waits for the disk, and is left to the queue`() throws {
        let committing = try Committing()
        let records = RecordedLife(seed: 1, records: 3 * SQLiteJournal.pagesBetweenCheckpoints).records
        var (ownCommits, beginnings) = (0, 0)
        var last: UInt32 = 0
        for record in records {
            let isOwn = committing.commit(record)
            if isOwn { ownCommits += 1 }
            let now = try committing.beginningsOfLog()
            if now != last {
                #expect(!isOwn)
                beginnings += 1
            }
            last = now
            committing.settle()
        }
        #expect(ownCommits > 0 && beginnings > 1)
        committing.journal.close()
    }
}
