import Testing

@testable import ArbiterEngine

struct JournalAccessTests {
    private let full = JournalError(reason: "the disk is full")
    private let stall = JournalError(.stalled, reason: "there is no room")
    private let gone = JournalError(.vanished, reason: "it is gone")

    @Test func `each pause is twice as long as the one before, until a commit succeeds`() {
        var access = JournalAccess(MemoryJournal(keepsRecords: false))
        let pauses = (1...6).map { _ in access.fail(full) }
        #expect(access.awaitsTry)
        #expect(pauses == [1, 2, 4, 8, 10, 10].map { Duration.seconds($0) })
        let isUsed = access.resume(on: MemoryJournal(keepsRecords: false))
        #expect(isUsed && access.failure == nil && access.era == 1 && !access.awaitsTry)
        let longest = access.fail(full)
        #expect(longest == .seconds(10))
        _ = access.resume(on: MemoryJournal(keepsRecords: false))
        _ = access.noteCommit()
        let shortest = access.fail(full)
        #expect(shortest == .seconds(1))
        #expect(access.failure?.retryAfter == .seconds(1))
    }

    @Test func `a stall ends with a commit, and only what came in it was missed`() {
        var access = JournalAccess(MemoryJournal(keepsRecords: false))
        access.miss { _, _ in }
        let early = access.noteCommit()
        #expect(early == nil)
        let (isFirst, isSecond) = (access.stall(stall), access.stall(full))
        #expect(isFirst && !isSecond && access.failure == stall)
        access.miss { _, _ in }
        access.miss { _, _ in }
        let missed = access.noteCommit()
        #expect(missed?.count == 2)
        #expect(access.failure == nil && access.era == 0)
    }

    @Test func `a failed journal does not go on by a late commit`() {
        var access = JournalAccess(MemoryJournal(keepsRecords: false))
        _ = access.stall(stall)
        let (pause, missed, isStalled) = (access.fail(full), access.noteCommit(), access.stall(stall))
        #expect(pause == .seconds(1) && missed == nil && !isStalled)
        #expect(access.failure?.kind == .inaccessible)
    }

    @Test func `a lost journal stays lost, for the first reason`() {
        var access = JournalAccess(MemoryJournal(keepsRecords: false))
        _ = access.fail(full)
        access.lose(gone)
        access.lose(full)
        let (pause, missed, isStalled) = (access.fail(full), access.noteCommit(), access.stall(stall))
        #expect(pause == nil && missed == nil && !isStalled)
        let isUsed = access.resume(on: MemoryJournal(keepsRecords: false))
        #expect(!isUsed)
        #expect(access.failure == gone && access.era == 0)
    }

    @Test func `another process that may go on is named whatever was before, a stop apart`() {
        let other = JournalError(.notOwner, reason: "ask again")
        var access = JournalAccess(MemoryJournal(keepsRecords: false))
        access.lose(gone)
        access.abandon(other)
        #expect(access.failure == other)
        var stopped = JournalAccess(MemoryJournal(keepsRecords: false))
        let stop = JournalError(.closed, reason: "the daemon has stopped")
        stopped.lose(stop)
        stopped.abandon(other)
        #expect(stopped.failure == stop)
    }
}
