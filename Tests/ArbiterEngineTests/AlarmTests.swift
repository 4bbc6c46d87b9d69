import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct AlarmTests {
    @Test func `the alarm is not set while there is no deadline`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        #expect(bench.alarm.settings == [])
    }

    @Test func `the alarm is set for the end of the lease`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let now = bench.time.now().instant
        let holder = try bench.started(request("a", lease: .seconds(7)))
        #expect(bench.alarm.pending == [now.advanced(by: .seconds(7))])

        bench.pass(.seconds(7))

        #expect(try bench.view(holder.id).outcome == .expired(.lease))
        #expect(bench.alarm.pending == [])
    }

    @Test func `the alarm is set again for an earlier deadline, not for a later one`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let now = bench.time.now().instant
        for (scene, seconds) in [("a", 5), ("b", 9), ("c", 2), ("d", 2), ("e", 3)] {
            _ = try bench.started(request(scene, lease: .seconds(seconds)))
        }
        #expect(bench.alarm.settings == [5, 2].map { now.advanced(by: .seconds($0)) })
    }

    @Test func `the alarm is set for the next deadline after it has rung`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let now = bench.time.now().instant
        let short = try bench.started(request("a", lease: .seconds(2)))
        let long = try bench.started(request("b", lease: .seconds(5)))

        bench.pass(.seconds(2))

        #expect(try bench.view(short.id).outcome == .expired(.lease))
        #expect(try bench.view(long.id).state == .running)
        #expect(bench.alarm.pending == [now.advanced(by: .seconds(5))])
    }

    @Test func `an alarm for a deadline that was moved changes nothing and is set again`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let now = bench.time.now().instant
        let holder = try bench.started()
        bench.pass(.seconds(6))
        bench.renew("renew", holder)

        bench.pass(.seconds(4))

        #expect(try bench.view(holder.id).state == .running)
        #expect(bench.alarm.pending == [now.advanced(by: .seconds(16))])
        bench.pass(.seconds(6))
        #expect(try bench.view(holder.id).outcome == .expired(.lease))
    }

    @Test func `the alarm is not set twice for the same deadline`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let long = try bench.started(request("long", lease: .seconds(8)))
        let short = try bench.started(request("short", lease: .seconds(2)))
        #expect(bench.alarm.pending.count == 2)
        bench.pass(.seconds(2))
        bench.renew("renew", long)

        bench.pass(.seconds(6))

        // Both alarms have rung, and only the second one had to be set again.
        #expect(bench.alarm.pending.count == 1)
        #expect(try bench.view(short.id).outcome == .expired(.lease))
        #expect(try bench.view(long.id).state == .running)
        bench.pass(.seconds(2))
        #expect(try bench.view(long.id).outcome == .expired(.lease))
        #expect(bench.alarm.pending == [])
    }

    @Test func `an alarm that rings too early is set again`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let holder = try bench.started()
        bench.time.advance(by: .seconds(9))
        #expect(bench.alarm.ringEarliest())

        #expect(try bench.view(holder.id).state == .running)
        #expect(bench.alarm.pending.count == 1)
        bench.pass(.seconds(1))
        #expect(try bench.view(holder.id).outcome == .expired(.lease))
    }

    @Test func `what is due is done before an event even if the alarm is late`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: true))
        let holder = try bench.started()
        bench.serialize("next", wait: .seconds(60))
        bench.time.advance(by: Limits.defaultLease)

        bench.end("end", holder)

        guard case .refused(.endedWithoutOwner(let view)) = try bench.answers.refusal("end") else {
            Issue.record("the end of an expired transition was not refused")
            return
        }
        #expect(view.outcome == .expired(.lease))
        #expect(try bench.answers.view("next").state == .running)
        #expect(bench.answers.labels == ["next", "end"])
    }

    @Test func `what is due is done before a read even if the alarm is late`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: true))
        let holder = try bench.started()
        bench.time.advance(by: Limits.defaultLease)
        #expect(try bench.view(holder.id).outcome == .expired(.lease))

        bench.alarm.ringDue()

        #expect(try bench.journal.records().count == 2)
    }

    @Test func `a lease granted by a late turn starts at that turn`() throws {
        let limits = Limits()
        let bench = try Bench(MemoryJournal(keepsRecords: false), limits: limits)
        let holder = try bench.started()
        let ticket = try bench.serialized()
        bench.time.advance(by: .seconds(100))

        #expect(try bench.view(holder.id).outcome == .expired(.lease))
        #expect(try bench.view(ticket.id).leaseRemaining == limits.claim)

        bench.alarm.ringDue()
        bench.pass(limits.claim)
        #expect(try bench.view(ticket.id).outcome == .expired(.unclaimed))
    }

    @Test func `a wait that has run out is answered with the queued ticket`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let holder = try bench.started(request("main", lease: .seconds(60)))
        bench.serialize("waiter", wait: .seconds(3))

        bench.pass(.seconds(3))

        let view = try bench.answers.view("waiter")
        #expect(view.state == .queued)
        #expect(view.position == 1)
        #expect(view.blockers == [holder.id])
    }

    @Test func `an alarm does nothing after its engine is released`() throws {
        let time = ManualTime()
        let alarm = ManualAlarm(time: time)
        weak var gone: Engine?
        do {
            let engine = try Engine(journal: MemoryJournal(keepsRecords: false), time: time, alarm: alarm)
            engine.start(TransitionRequest()) { _ in }
            gone = engine
        }
        time.advance(by: .seconds(60))
        #expect(gone == nil)
        #expect(alarm.ringDue() == 1)
    }
}
