import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Pauses of the process do not count for leases, tickets, waits and sessions.
struct RunningTimeTests {
    private let machine = ManualTime()
    private let time: RunningTime
    private let alarm: ManualAlarm
    private let engine: Engine
    private let answers = Answers()

    init() throws {
        time = RunningTime(machine, heartbeat: nil)
        // It uses the machine's clock, as the system's alarm does.
        alarm = ManualAlarm(time: machine)
        engine = try Engine(journal: MemoryJournal(keepsRecords: true), time: time, alarm: alarm)
    }

    /// Lets time pass while the process runs and reads the clock.
    private func run(for duration: Duration) {
        var left = duration
        while left > .zero {
            machine.advance(by: min(left, Limits.heartbeat))
            _ = time.now()
            alarm.ringDue()
            left -= min(left, Limits.heartbeat)
        }
    }

    /// Lets time pass while the process does not run; then the alarm rings.
    private func pause(for duration: Duration) {
        machine.advance(by: duration)
        alarm.ringDue()
    }

    private func started(lease: Duration) throws -> TransitionView {
        engine.start(try request("main", lease: lease), completion: answers.note("start"))
        return try answers.view("start")
    }

    private func state(of id: TransitionID) throws -> TransitionState {
        let answers = Answers()
        engine.read(
            { machine, now throws(ArbiterError) in try machine.view(of: id, at: now) },
            completion: answers.note("read"))
        return try answers.view("read").state
    }

    /// The session in the answer to a call.
    private func session(_ call: (@escaping Engine.Answer<SessionView>) -> Void) throws -> SessionView {
        let answers = Guarded([Result<SessionView, EngineError>]())
        call { answer in answers.withLock { $0.append(answer) } }
        return try #require(answers.withLock { $0 }.first).get()
    }

    @Test func `a renewal that was sent during a pause is not too late`() throws {
        let holder = try started(lease: .seconds(3))
        run(for: .seconds(2))
        pause(for: .seconds(20))
        engine.renew(holder.id, token: holder.token, completion: answers.note("renew"))
        #expect(try answers.view("renew").leaseRemaining == .seconds(3))
    }

    @Test func `after a pause a lease has its remaining time and one second more`() throws {
        let holder = try started(lease: .seconds(3))
        run(for: .seconds(2))
        pause(for: .seconds(20))
        run(for: .seconds(1) + .milliseconds(999))
        #expect(try state(of: holder.id) == .running)
        run(for: .milliseconds(1))
        #expect(try state(of: holder.id) == .ended)
    }

    @Test func `a pause does not count for a wait, a ticket or a session`() throws {
        let holder = try started(lease: .seconds(60))
        engine.serialize(TransitionRequest(), wait: .seconds(2), completion: answers.note("wait"))
        engine.serialize(TransitionRequest(ticket: .seconds(2)), wait: .zero, completion: answers.note("ticket"))
        let opened = try session { engine.openSession(client: nil, timeToLive: .seconds(1), completion: $0) }
        pause(for: .seconds(300))
        #expect(answers["wait"].isEmpty)
        #expect(try state(of: try answers.view("ticket").id) == .queued)
        let renewed = try session { engine.renewSession(opened.session.token, completion: $0) }
        #expect(renewed.remaining == .seconds(1))

        engine.end(holder.id, token: holder.token, as: nil, completion: answers.note("end"))
        #expect(try answers.view("wait").state == .running)
        #expect(answers["wait"].count == 1)
    }

    @Test func `an alarm that rings after a pause is set once more, for the remaining time`() throws {
        let holder = try started(lease: .seconds(3))
        run(for: .seconds(2))
        pause(for: .seconds(20))
        let set = alarm.settings.count
        #expect(alarm.pending == [machine.now().instant.advanced(by: .seconds(2))])
        run(for: .seconds(2))
        #expect(alarm.settings.count == set)
        #expect(try state(of: holder.id) == .ended)
    }

    @Test func `the clock of an engine continues from the last record of its journal`() throws {
        let journal = MemoryJournal(keepsRecords: true)
        let first = try Engine(journal: journal, time: time, alarm: alarm)
        first.start(TransitionRequest()) { _ in }
        let last = try #require(try journal.records().last?.moment.instant)
        // A machine's clock that was just reset.
        let machine = ManualTime(instant: Instant(nanoseconds: 5))
        let time = RunningTime(machine, heartbeat: nil)
        let second = try Engine(journal: journal, time: time, alarm: ManualAlarm(time: machine))
        machine.advance(by: .seconds(20))
        second.start(try request("other", lease: .seconds(3)), completion: answers.note("second"))
        #expect(try answers.view("second").transition.requestedAt.instant == last)
    }

    @Test func `a thread reads the clock although there are no requests`() throws {
        final class CountingTime: TimeSource {
            let readings = Guarded(0)

            func now() -> Moment {
                readings.withLock { $0 += 1 }
                return Moment(instant: Instant(nanoseconds: 0), timestamp: Timestamp(milliseconds: 0))
            }
        }
        let machine = CountingTime()
        weak var gone: RunningTime?
        do {
            let time = RunningTime(machine, heartbeat: .milliseconds(1))
            #expect(eventually { machine.readings.withLock { $0 } > 5 })
            gone = time
        }
        // Only its own thread could keep it alive.
        #expect(eventually { gone == nil })
    }
}
