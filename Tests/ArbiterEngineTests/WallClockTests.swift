import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct WallClockTests {
    @Test(arguments: [Duration.seconds(86_400 * 365), .seconds(-86_400 * 365), .milliseconds(-1)])
    func `a jump of the wall clock changes only timestamps`(jump: Duration) throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let holder = try bench.started()
        bench.serialize("waiter", TransitionRequest(queue: .seconds(30)), wait: .seconds(20))
        let timestamp = bench.time.now().timestamp.milliseconds
        bench.time.jumpWallClock(by: jump)
        #expect(bench.alarm.ringDue() == 0)
        #expect(try bench.view(holder.id).leaseRemaining == Limits.defaultLease)
        #expect(try bench.view(holder.id).transition.requestedAt.timestamp.milliseconds == timestamp)

        bench.pass(Limits.defaultLease - .milliseconds(1))
        #expect(try bench.view(holder.id).state == .running)
        #expect(bench.answers.labels == [])

        bench.pass(.milliseconds(1))
        guard case .ended(let ending) = try bench.view(holder.id).transition.phase else {
            Issue.record("the lease has not run out")
            return
        }
        #expect(ending.outcome == .expired(.lease))
        let shown = timestamp + (Limits.defaultLease + jump).wholeNanoseconds / 1_000_000
        #expect(ending.endedAt.timestamp.milliseconds == shown)
        guard case .running(let grant) = try bench.answers.view("waiter").transition.phase else {
            Issue.record("the waiter has not been granted")
            return
        }
        #expect(grant.grantedAt.milliseconds == shown)
    }

    @Test func `the system's time source gives plausible times`() {
        let time = SystemTimeSource()
        let (first, second) = (time.now(), time.now())
        #expect(first.instant <= second.instant)
        // 2020-01-01: an earlier time means that the clock is not set, or not read in milliseconds.
        #expect(first.timestamp.milliseconds > 1_577_836_800_000)
        #expect(first.timestamp.milliseconds < 10_000_000_000_000)
    }
}
