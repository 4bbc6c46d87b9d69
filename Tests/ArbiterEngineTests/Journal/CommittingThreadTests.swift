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
        let journal: LogJournal
        private let heard = Heard()

        init(_ durability: LogJournal.Durability = .crash) throws {
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

        /// Waits until nobody commits any more.
        func settle() -> Bool { eventually { !journal.state.withLock(\.isCommitting) } }
    }

    @Test func `a lone record is committed by the thread that flushes it, unless commits wait for the disk`() throws {
        for durability in LogJournal.Durability.allCases {
            let committing = try Committing(durability)
            var ownCommits = 0
            let records = RecordedLife(seed: 1, records: 200).records
            for record in records {
                if committing.commit(record) { ownCommits += 1 }
                try #require(committing.settle())
            }
            // The first commit begins a log and waits for the disk, and some may come while the queue looks at the files.
            #expect(durability == .crash ? ownCommits > records.count / 2 : ownCommits == 0, "\(ownCommits)")
            committing.journal.close()
        }
    }

    @Test func `a thread that may not commit leaves it to the queue`() throws {
        let committing = try Committing()
        for record in RecordedLife(seed: 1, records: 200).records {
            #expect(!committing.commit(record, mayCommit: false))
            try #require(committing.settle())
        }
        committing.journal.close()
    }
}
