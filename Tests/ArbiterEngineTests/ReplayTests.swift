import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct ReplayTests {
    private let before: Bench<MemoryJournal>

    init() throws {
        before = try Bench(MemoryJournal(keepsRecords: true))
    }

    /// An engine on the same journal, as after a restart.
    private func restarted() throws -> Bench<MemoryJournal> {
        try Bench(before.journal, time: before.time)
    }

    @Test func `an engine on an existing journal has the same transitions`() throws {
        let holder = try before.started(
            TransitionRequest(client: ClientName("detail"), lease: .seconds(20), queue: .seconds(300)))
        let remembered = try before.serialized()
        _ = try before.serialized(TransitionRequest(ticket: .seconds(90)))
        let given = try before.serialized()
        before.time.advance(by: .milliseconds(1234))
        before.end("completes at its turn", remembered)
        before.end("gives up", given, as: .cancelled)
        _ = try before.started(request("short", lease: .seconds(1)))
        before.pass(.seconds(1))
        before.end("end", holder)
        _ = try before.started(request("other"))

        let after = try restarted()

        let (known, kept) = (try before.all().map(\.transition), try after.all().map(\.transition))
        #expect(known.count == 6)
        #expect(kept == known)
        #expect(try after.all().map(\.position) == before.all().map(\.position))
        #expect(try after.all().map(\.blockers) == before.all().map(\.blockers))
    }

    @Test func `a token is valid after a restart`() throws {
        let holder = try before.started()
        let ticket = try before.serialized()
        let after = try restarted()

        after.wait("ticket", for: ticket)
        after.end("end", holder)

        #expect(try after.answers.view("end").outcome == .completed)
        #expect(try after.answers.view("ticket").state == .running)
        let stranger = Token(high: holder.token.high, low: holder.token.low ^ 1)
        after.engine.renew(ticket.id, token: stranger, completion: after.answers.note("stranger"))
        #expect(try after.answers.refusal("stranger") == .refused(.wrongToken(ticket.id)))
    }

    @Test func `fences continue to grow after a restart`() throws {
        let first = try before.started(request("a"))
        let second = try before.started(request("b"))
        before.end("end", second)
        let after = try restarted()

        let third = try after.started(request("b"))

        let fences = try [first, second, third].map { try #require($0.fence) }
        #expect(fences[0] < fences[1])
        #expect(fences[1] < fences[2])
        #expect(try after.view(first.id).fence == fences[0])
    }

    @Test func `a lease starts again at full length after a restart`() throws {
        let holder = try before.started()
        before.time.advance(by: .seconds(9))
        #expect(try before.view(holder.id).leaseRemaining == .seconds(1))

        let after = try restarted()

        #expect(try after.view(holder.id).leaseRemaining == .seconds(10))
        after.pass(.seconds(9))
        #expect(try after.view(holder.id).state == .running)
        after.pass(.seconds(1))
        #expect(try after.view(holder.id).outcome == .expired(.lease))
    }

    @Test func `a lease and a ticket do not run out while no daemon runs`() throws {
        let holder = try before.started()
        let ticket = try before.serialized()
        before.time.advance(by: .seconds(3600))

        let after = try restarted()

        #expect(try after.view(holder.id).state == .running)
        #expect(try after.view(ticket.id).state == .queued)
        after.pass(Limits.defaultLease)
        #expect(try after.view(holder.id).outcome == .expired(.lease))
        #expect(try after.view(ticket.id).state == .running)
    }

    @Test func `the alarm is set for the deadlines of replayed transitions`() throws {
        _ = try before.started()
        let after = try restarted()
        #expect(after.alarm.pending == [before.time.now().instant.advanced(by: Limits.defaultLease)])
    }

    @Test func `an abandoned ticket is still abandoned after a restart`() throws {
        _ = try before.started()
        let waiter = try #require(before.serialize("waiter", wait: .seconds(60)))
        let ticket = try #require(try before.all().last)
        before.engine.leave(waiter)

        let after = try restarted()

        #expect(try after.view(ticket.id).outcome == .expired(.abandoned))
        #expect(after.answers.labels == [])
    }

    @Test func `the numbers of records continue after a restart`() throws {
        _ = try before.started()
        let journal = HeldJournal(records: try before.journal.records())
        let after = try Bench(journal, time: before.time)

        after.serialize("ticket")
        #expect(after.answers.labels == [])
        #expect(journal.appended.map(\.sequence) == [1, 2])
        journal.commit()
        #expect(after.answers.labels == ["ticket"])
    }

    @Test func `a read of replayed state is answered at once`() throws {
        let holder = try before.started()
        let after = try Bench(HeldJournal(records: try before.journal.records()), time: before.time)
        after.read("read", holder.id)
        #expect(after.answers.labels == ["read"])
    }

    @Test func `a record that was not committed has no effect after a restart`() throws {
        let (lost, holder) = try Bench<HeldJournal>.withHolder()
        lost.end("end", holder)
        lost.journal.fail(JournalError(reason: "gone"))

        let after = try Bench(HeldJournal(records: try lost.journal.records()), time: lost.time)

        #expect(try after.view(holder.id).state == .running)
    }

    @Test func `a replay parks no awaits`() throws {
        _ = try before.started()
        before.serialize("parked", wait: .seconds(60))
        let records = try before.journal.records()
        #expect(records.count == 2)

        // Replayed twice: a waiter parked by the first replay would make the second one trap.
        for _ in 0..<2 { _ = try Bench(HeldJournal(records: records), time: before.time) }
    }

    @Test func `a replay does not change the journal`() throws {
        let holder = try before.started()
        before.end("end", holder)
        let records = try before.journal.records()
        _ = try restarted()
        #expect(try before.journal.records() == records)
    }
}
