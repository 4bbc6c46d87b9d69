import ArbiterCore
import ArbiterTestKit
import Dispatch
import Foundation
import Logging
import Testing

@testable import ArbiterEngine

/// The last commits may be missing only after the death of the machine.
struct LogJournalBootTests {
    private let records = RecordedLife(seed: 7, records: 20).records

    /// A journal whose writer was closed or killed.
    private func left(
        _ durability: LogJournal.Durability, closed: Bool, boot: UInt128 = .thisBoot
    ) throws -> JournalDirectory {
        let directory = try JournalDirectory()
        let journal = try directory.open(durability, boot: boot)
        let commits = Commits(of: journal)
        for record in records { journal.commit(record) }
        try commits.wait(for: 20)
        let killed = try directory.asIfKilled()
        journal.close()
        return closed ? directory : killed
    }

    /// A journal of a snapshot and a log, whose writer was killed.
    private func leftWithSnapshot() throws -> JournalDirectory {
        let directory = try JournalDirectory()
        try directory.keep(records, recordsInGroup: 5, recordsBetweenSnapshots: 15)
        return try directory.asIfKilled()
    }

    private func isIncomplete(_ directory: JournalDirectory, boot: UInt128) throws -> Bool {
        let journal = try directory.open(boot: boot)
        defer { journal.close() }
        return try journal.contents().isIncomplete
    }

    @Test func `with durability crash, a journal that was not closed may lack records after another boot`() throws {
        #expect(try isIncomplete(left(.crash, closed: false), boot: 2))
    }

    @Test func `a journal lacks nothing in the same boot, after a close or with durability power`() throws {
        #expect(try !isIncomplete(left(.crash, closed: false), boot: .thisBoot))
        #expect(try !isIncomplete(left(.crash, closed: true), boot: 2))
        #expect(try !isIncomplete(left(.power, closed: false), boot: 2))
        #expect(try !isIncomplete(JournalDirectory(), boot: 2))
    }

    @Test func `a journal without its newest log is incomplete until the next commit`() throws {
        let directory = try leftWithSnapshot()
        let log = try #require(directory.files().logs.last)
        try FileManager.default.removeItem(atPath: "\(directory.path)/log-\(log)")
        #expect(try JournalInspection(directory: directory.path).lacksLog)
        for _ in 0..<2 { #expect(try isIncomplete(directory, boot: .thisBoot)) }
        #expect(directory.log[.warning].count { $0.contains("newest log of the journal is missing") } == 2)
    }

    @Test func `a journal counts as killed until the next commit`() throws {
        let directory = try left(.crash, closed: false)
        for _ in 0..<3 {
            let journal = try directory.open(boot: .thisBoot)
            #expect(try journal.contents().ending == .killed)
            journal.close()
        }
        let journal = try directory.open(boot: .thisBoot)
        _ = try journal.contents()
        let commits = Commits(of: journal)
        journal.commit(JournalEntry(sequence: 21, moment: ManualTime().now(), record: .skipFences))
        try commits.wait(for: 21)
        journal.close()
        #expect(try directory.contents().ending == .closed)
    }

    @Test func `a journal counts as incomplete until a commit is on the disk`() throws {
        let directory = try left(.crash, closed: false)
        // These openings end without a commit.
        #expect(try isIncomplete(directory, boot: 2))
        #expect(try isIncomplete(directory, boot: 2))
        let journal = try directory.open(boot: 2)
        #expect(try journal.contents().isIncomplete)
        let commits = Commits(of: journal)
        journal.commit(
            JournalEntry(sequence: 21, moment: ManualTime().now(), record: .distrust(holdsGrants: true)))
        try commits.wait(for: 21)
        let killed = try directory.asIfKilled()
        journal.close()
        #expect(try !isIncomplete(killed, boot: 2))
        #expect(try isIncomplete(killed, boot: 3))
    }

    @Test func `after a loss, fences jump and grants are withheld for as long as an owner may be silent`() throws {
        let directory = try left(.crash, closed: false)
        let bench = try Bench(directory.open(boot: 2))
        let before = try #require(RecordedLife(seed: 7, records: 20).lastFence)
        var scene = try request("fresh")
        scene.ticket = .seconds(900)

        #expect(try bench.refusedStart(scene) == .recovering(remaining: Limits().longestSilence))
        let ticket = try bench.answered { bench.engine.serialize(scene, wait: .zero, completion: $0) }
        #expect(ticket.state == .queued)
        bench.pass(Limits().longestSilence - .milliseconds(1))
        #expect(try bench.refusedStart(scene) == .recovering(remaining: .milliseconds(1)))
        bench.pass(.milliseconds(1))

        let granted = try bench.answered { bench.engine.renew(ticket.id, token: ticket.token, completion: $0) }
        #expect(granted.state == .running)
        #expect(try #require(granted.fence) > before + Limits.fenceJump)
        bench.engine.stop()
    }

    @Test func `a restart withholds grants again, unless leases are trusted to be over`() throws {
        let directory = try left(.crash, closed: false)
        let first = try Bench(directory.open(boot: 2))
        first.pass(.seconds(100))
        _ = try first.refusedStart(request("fresh"))
        first.engine.stop()

        let second = try Bench(directory.open(boot: 2), time: first.time)
        #expect(
            try second.refusedStart(request("fresh")) == .recovering(remaining: Limits().longestSilence))
        second.engine.stop()

        let engine = try Engine(
            journal: directory.open(boot: 2), earlierClients: .gone, time: first.time,
            alarm: ManualAlarm(time: first.time))
        let scene = try request("fresh")
        #expect(try answered { engine.start(scene, completion: $0) }.state == .running)
        engine.stop()
    }

    private func engine(
        _ directory: JournalDirectory, boot: UInt128, limits: Limits = Limits(), earlierClients: EarlierClients
    ) throws -> Engine {
        let time = ManualTime()
        return try Engine(
            limits: limits, journal: directory.open(boot: boot), earlierClients: earlierClients, time: time,
            alarm: ManualAlarm(time: time))
    }

    @Test func `grants go on at once after a power cut if all clients ran on the machine, and fences jump`() throws {
        let directory = try left(.crash, closed: false)
        let before = try #require(RecordedLife(seed: 7, records: 20).lastFence)
        let engine = try engine(directory, boot: 2, earlierClients: .onThisMachine)
        let scene = try request("fresh")
        let granted = try answered { engine.start(scene, completion: $0) }
        #expect(granted.state == .running)
        #expect(try #require(granted.fence) > before + Limits.fenceJump)
        engine.stop()
    }

    @Test func `grants are withheld if records are missing although the machine lives, wherever clients run`()
        throws
    {
        let directory = try left(.crash, closed: false)
        // A byte of the last group is not what was written.
        directory.flip("log-1", at: directory["log-1"].count - 10)
        // Also after a restart.
        for _ in 0..<2 {
            let engine = try engine(directory, boot: .thisBoot, earlierClients: .onThisMachine)
            #expect(engine.remainingHold == Limits().longestSilence)
            engine.stop()
        }
    }

    @Test func `a copy that was restored counts as incomplete until the next commit, after another boot too`() throws {
        let directory = try left(.crash, closed: true)
        let (copy, other) = (directory.path + "/copy", try TemporaryDirectory())
        _ = try JournalMaintenance.backUp(directory.path, to: copy)
        _ = try JournalMaintenance.restore(copy, to: other.path)
        for boot in [.thisBoot, 2] as [UInt128] {
            let journal = try LogJournal(
                directory: other.path, durability: .crash, logger: directory.logger, boot: boot)
            #expect(try journal.contents().ending == .incomplete)
            journal.close()
        }
    }

    @Test func `grants are withheld for as long as the limits let an owner be silent`() throws {
        var limits = Limits()
        (limits.longestLease, limits.longestWait) = (.seconds(10), .seconds(5))
        let engine = try engine(
            left(.crash, closed: false), boot: 2, limits: limits, earlierClients: .anywhere)
        #expect(engine.remainingHold == .seconds(15))
        engine.stop()
    }

    @Test func `fences jump but grants are not withheld if leases are trusted to be over`() throws {
        let directory = try left(.crash, closed: false)
        let before = try #require(RecordedLife(seed: 7, records: 20).lastFence)
        let time = ManualTime()
        let engine = try Engine(
            journal: directory.open(boot: 2), earlierClients: .gone, time: time,
            alarm: ManualAlarm(time: time))
        let scene = try request("fresh")
        let granted = try answered { engine.start(scene, completion: $0) }
        #expect(granted.state == .running)
        #expect(try #require(granted.fence) > before + Limits.fenceJump)
        engine.stop()
    }

    /// A ticket that waits for at most 60 s, behind a holder, 40 s after it was made.
    private func waitedFor40Seconds(in bench: Bench<LogJournal>) throws -> TransitionView {
        _ = try bench.answered { bench.engine.start(TransitionRequest(lease: .seconds(300)), completion: $0) }
        let patient = TransitionRequest(ticket: .seconds(600), queue: .seconds(60))
        let ticket = try bench.answered { bench.engine.serialize(patient, wait: .zero, completion: $0) }
        bench.time.advance(by: .seconds(40))
        return ticket
    }

    /// Ten seconds after another boot, the machine's clock shows ten seconds.
    private func afterBoot(in directory: JournalDirectory) throws -> Bench<LogJournal> {
        try Bench(
            directory.open(.power, boot: 2), time: ManualTime(instant: Instant(nanoseconds: 10_000_000_000))
        )
    }

    /// How long a ticket still waits before its time in the queue is over, in seconds.
    private func secondsLeft(_ ticket: TransitionView, in bench: Bench<LogJournal>) throws -> Int {
        for second in 0...60 {
            let view = try bench.answered {
                bench.engine.wait(on: ticket.id, token: nil, until: .ended, wait: .zero, completion: $0)
            }
            if view.outcome == .expired(.queueTimeout) { return second }
            bench.pass(.seconds(1))
        }
        throw Commits.TimedOut()
    }

    @Test func `the arbiter's clock continues from a clean stop when the machine's clock is reset`() throws {
        let directory = try JournalDirectory()
        let late = ManualTime(instant: Instant(nanoseconds: 1_000_000_000_000_000))
        let before = try Bench(directory.open(.power, boot: .thisBoot), time: late)
        let ticket = try waitedFor40Seconds(in: before)
        before.engine.stop()
        let after = try afterBoot(in: directory)
        #expect(try secondsLeft(ticket, in: after) == 20)
        after.engine.stop()
    }

    @Test func `the time between two clean stops counts without any request`() throws {
        let directory = try JournalDirectory()
        let before = try Bench(directory.open(.power, boot: .thisBoot))
        let ticket = try waitedFor40Seconds(in: before)
        before.engine.stop()
        for _ in 1...3 {
            let idle = try afterBoot(in: directory)
            idle.time.advance(by: .seconds(5))
            idle.engine.stop()
        }
        let after = try afterBoot(in: directory)
        #expect(try secondsLeft(ticket, in: after) == 5)
        after.engine.stop()
    }
}

// MARK: - Answers of an engine that commits on another thread

/// Runs a request and waits for its answer.
func answered(_ ask: (@escaping Engine.Completion) -> Void) throws -> TransitionView {
    let (answers, semaphore) = (Answers(), DispatchSemaphore(value: 0))
    let note = answers.note("asked")
    ask { answer in
        note(answer)
        semaphore.signal()
    }
    guard semaphore.wait(timeout: .now() + .seconds(60)) == .success else { throw Commits.TimedOut() }
    return try answers.view("asked")
}

extension Bench {
    func answered(_ ask: (@escaping Engine.Completion) -> Void) throws -> TransitionView {
        try ArbiterEngineTests.answered(ask)
    }

    /// The reason why a start is refused.
    func refusedStart(_ request: TransitionRequest) throws -> ArbiterError? {
        do {
            _ = try answered { engine.start(request, completion: $0) }
            return nil
        } catch EngineError.refused(let error) {
            return error
        }
    }
}

extension RecordedLife {
    /// The greatest fence.
    var lastFence: UInt64? {
        machine.list(TransitionFilter(limit: 1000), at: Instant(nanoseconds: 0)).compactMap(\.fence).max()
    }
}
