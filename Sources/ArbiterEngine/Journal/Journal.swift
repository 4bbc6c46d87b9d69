package import ArbiterCore

/// A record in its place in the journal.
package struct JournalEntry: Hashable, Sendable {
    /// The number of the record, counted from 1 without gaps.
    package let sequence: UInt64
    package let moment: Moment
    package let record: Record
    /// The rules that the record was made under.
    package let rules: Rules

    package init(sequence: UInt64, moment: Moment, record: Record, rules: Rules = .newest) {
        self.sequence = sequence
        self.moment = moment
        self.record = record
        self.rules = rules
    }
}

/// The state after a record; the records up to it can then be deleted.
package struct JournalSnapshot: Hashable, Sendable {
    /// The last record that the snapshot includes.
    package let sequence: UInt64
    /// The moment of that record.
    package let moment: Moment
    /// The bytes from `ArbiterStateMachine.snapshot()`.
    package let state: [UInt8]

    package init(sequence: UInt64, moment: Moment, state: [UInt8]) {
        self.sequence = sequence
        self.moment = moment
        self.state = state
    }
}

/// The contents of a journal.
package struct JournalContents: Hashable, Sendable {
    package let snapshot: JournalSnapshot?
    /// Everything committed after the snapshot, oldest first.
    package let records: [JournalEntry]
    /// How its last writer stopped.
    package let ending: Ending

    /// How the last writer stopped, as far as the journal shows.
    package enum Ending: Hashable, Sendable {
        /// The writer closed the journal, and nothing is missing.
        case closed
        /// The writer was killed. Nothing seems to be missing, but a lost end would look the same.
        case killed
        /// The machine died in the middle of a commit. Nobody was told of that one, and nothing else is missing.
        case commitCutShort
        /// The machine died, and with it all of its processes. The last records may not have reached its disk.
        case machineDied
        /// The last records may be missing although clients live on: a file was lost, or an older copy is in its place.
        case incomplete

        /// Whether records may be missing.
        package var mayLackRecords: Bool { isOfMachine || self == .incomplete }
        /// Whether the machine died.
        package var isOfMachine: Bool { self == .machineDied || self == .commitCutShort }
    }

    package init(snapshot: JournalSnapshot?, records: [JournalEntry], ending: Ending) {
        self.snapshot = snapshot
        self.records = records
        self.ending = ending
    }
}

/// Stores the records.
///
/// The engine calls `append` under its lock, in the order of the records, then `flush` without the lock, and sends an
/// answer only when everything that it was computed from is committed. A journal may commit synchronously, in groups on
/// its own thread or on those that flush it, or remotely.
package protocol Journal: Sendable {
    /// Everything that is committed, in memory.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    func contents() throws(JournalError) -> JournalContents

    /// Reads everything that is committed, oldest first and in parts, so that it is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - begin: called once, with the newest snapshot, if there is one.
    ///   - take: called with the records after the snapshot, some at a time.
    /// - Returns: how the journal's last writer stopped.
    /// - Throws: `JournalError` if the journal cannot be read, and the errors of the closures.
    func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending

    /// Sets the callback that reports commits: the sequence number up to which everything is committed, or a failure.
    ///
    /// Called once, before the first entry. The callback runs on any thread, also within `flush`, but never within
    /// `append`. After a failure nothing more is committed, unless it is `stalled`.
    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void)

    /// Takes an entry in, without waiting for a disk or a network; its commit may wait for the next `flush`.
    ///
    /// - Returns: true if it is committed already; no callback follows.
    func append(_ entry: JournalEntry) -> Bool

    /// Has the appended entries committed: soon, on another thread, or on this one.
    ///
    /// - Parameter mayCommit: whether this thread may commit, and so call the callback, if the journal is idle and the
    ///   commit waits for no disk.
    func flush(mayCommit: Bool)

    /// Commits and reports the accepted records. A later entry is not taken in.
    func close()

    /// What shows that no other process has taken over the journal; `nil` if none can while it is open.
    var ownership: (any Ownership)? { get }
}

extension Journal {
    package func flush(mayCommit: Bool) {}

    /// The contents, gathered by a replay; for journals that are read in parts.
    package func replayedContents() throws(JournalError) -> JournalContents {
        var (snapshot, records): (JournalSnapshot?, [JournalEntry]) = (nil, [])
        let ending = try replay { found throws(JournalError) in
            snapshot = found
        } _: { more throws(JournalError) in
            records += more
        }
        return JournalContents(snapshot: snapshot, records: records, ending: ending)
    }

    /// Has the appended entries committed, on this thread if that is possible.
    package func flush() { flush(mayCommit: true) }

    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let contents = try contents()
        try begin(contents.snapshot)
        try take(contents.records)
        return contents.ending
    }
}

/// How far a journal is in its life, which only advances.
package enum JournalLife: Int, Comparable, Sendable {
    case open
    /// It takes nothing in any more, and commits what it has.
    case closed
    /// A commit has failed, and nothing is committed any more.
    case failed

    package static func < (first: JournalLife, second: JournalLife) -> Bool { first.rawValue < second.rawValue }

    /// Goes on to a later part.
    ///
    /// - Returns: whether it was in an earlier one.
    @discardableResult package mutating func advance(to later: JournalLife) -> Bool {
        defer { self = max(self, later) }
        return self < later
    }
}

/// Why a journal cannot be used.
package struct JournalError: Error, Hashable, Sendable {
    /// The kind of an error; callers decide by it whether to try again.
    package enum Kind: Hashable, Sendable {
        /// Another process uses it.
        case inUse
        /// Its contents are not what was written.
        case damaged
        /// Its form is unknown to this version.
        case unknownForm
        /// It cannot be read or written.
        case inaccessible
        /// It is no longer at its path.
        case vanished
        /// It has been closed.
        case closed
        /// Another process has taken it over, or may have.
        case notOwner
        /// Where it is stored, one of its commits is refused for good; that commit is given up.
        case refused
        /// It cannot commit for now, but still has what it has taken in, and goes on by itself.
        case stalled

        /// Whether the journal failed for now, so that it may work again by itself.
        ///
        /// Otherwise it failed for good, until it is repaired.
        package var isTemporary: Bool {
            switch self {
            case .inaccessible, .stalled: true
            case .inUse, .damaged, .unknownForm, .vanished, .closed, .notOwner, .refused: false
            }
        }
    }

    /// The journal is of a version that only a newer daemon knows.
    package init(newer version: String, in path: String = "the journal") {
        self.init(.unknownForm, reason: "\(path) was written by a newer arbiterd (\(version)): run that")
    }

    package let kind: Kind
    /// What is wrong and what to do, in one sentence.
    package let reason: String
    /// The delay before the next attempt; `nil` if there is none.
    package let retryAfter: Duration?

    package init(_ kind: Kind = .inaccessible, reason: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.reason = reason
        self.retryAfter = retryAfter
    }
}
