package import ArbiterCore

/// One command that changed the state, as it is kept.
package struct JournalRecord: Hashable, Sendable {
    /// Counts the records from 1, without a gap.
    package let sequence: UInt64
    package let moment: Moment
    package let command: Command

    package init(sequence: UInt64, moment: Moment, command: Command) {
        self.sequence = sequence
        self.moment = moment
        self.command = command
    }
}

/// The state after some of the records, which then need not be kept.
package struct JournalSnapshot: Hashable, Sendable {
    /// The last record in it.
    package let sequence: UInt64
    /// When that record was made.
    package let moment: Moment
    /// What `ArbiterStateMachine.snapshot()` gave.
    package let state: [UInt8]

    package init(sequence: UInt64, moment: Moment, state: [UInt8]) {
        self.sequence = sequence
        self.moment = moment
        self.state = state
    }
}

/// What a journal holds.
package struct JournalContents: Hashable, Sendable {
    package let snapshot: JournalSnapshot?
    /// Everything committed after the snapshot, oldest first.
    package let records: [JournalRecord]
    /// How its last writer left it.
    package let ending: Ending

    /// How a writer leaves a journal, as far as can be seen.
    package enum Ending: Hashable, Sendable {
        /// It closed the journal, and nothing is missing.
        case closed
        /// It was killed: nothing seems to be missing, but a lost end would look the same.
        case killed
        /// The last records may be missing: the machine died before they were on its disk, or something was lost.
        case incomplete
    }

    package init(snapshot: JournalSnapshot?, records: [JournalRecord], ending: Ending) {
        self.snapshot = snapshot
        self.records = records
        self.ending = ending
    }
}

/// What keeps the commands.
///
/// The engine calls `append` under its lock, in the order of the commands, and lets an answer go only when everything
/// it was computed from is committed. A journal may commit at once, in groups on a thread of its own, or far away.
package protocol Journal: Sendable {
    /// Everything that is committed.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    func contents() throws(JournalError) -> JournalContents

    /// Goes through everything that is committed, oldest first, a part at a time, so that it is never in memory as a whole.
    ///
    /// - Parameters:
    ///   - begin: called once, with the newest snapshot, if there is one.
    ///   - take: called with the records after it, some at a time.
    /// - Returns: how the journal's last writer left it.
    /// - Throws: `JournalError` if it cannot be read, and what the closures throw.
    func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalRecord]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending

    /// Says whom to tell, from any thread but never from within `append`, up to which sequence all is committed.
    ///
    /// Called once, before the first `append`. After a failure nothing more is committed.
    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void)

    /// Takes a record in, without waiting for a disk or a network.
    ///
    /// - Returns: whether it is committed already, and so will not be told of.
    func append(_ record: JournalRecord) -> Bool

    /// Commits what was taken in, tells of it, and takes no more: a later `append` does nothing and returns `false`.
    func close()
}

extension Journal {
    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalRecord]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let contents = try contents()
        try begin(contents.snapshot)
        try take(contents.records)
        return contents.ending
    }
}

/// Why a journal cannot be relied on.
package struct JournalError: Error, Hashable, Sendable {
    /// What kind of trouble it is.
    package enum Kind: Hashable, Sendable {
        /// Another process uses it.
        case inUse
        /// Another program has locked it for long.
        case busy
        /// It does not say what was written.
        case damaged
        /// It is of a form that is not known here.
        case unknownForm
        /// It cannot be read or written.
        case inaccessible
        /// It is not where it was any more.
        case vanished
        /// It has been closed.
        case closed

        /// Whether it may be over some time without anybody's doing anything to the journal.
        package var canHeal: Bool {
            switch self {
            case .busy, .inaccessible: true
            case .inUse, .damaged, .unknownForm, .vanished, .closed: false
            }
        }
    }

    package let kind: Kind
    /// What is wrong and what to do, in one sentence.
    package let reason: String
    /// When another try is made, if one is.
    package let retryAfter: Duration?

    package init(_ kind: Kind = .inaccessible, reason: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.reason = reason
        self.retryAfter = retryAfter
    }
}
