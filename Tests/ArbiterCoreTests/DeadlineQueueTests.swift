import ArbiterTestKit
import Testing

@testable import ArbiterCore

struct DeadlineQueueTests {
    private let a = DeadlineQueue.Subject.transition(TransitionID(rawValue: 1))
    private let b = DeadlineQueue.Subject.waiter(WaiterID(rawValue: 1))
    private var queue = DeadlineQueue()

    /// The first deadline that is due if everything said before has been heard.
    private mutating func due(at now: Instant) -> DeadlineQueue.Subject? { queue.firstDue(at: now, heardUntil: now) }

    private func instant(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test mutating func `a deadline is due at its instant and not before`() {
        queue.schedule(a, at: instant(5))
        #expect(queue.next == instant(5))
        #expect(due(at: instant(4)) == nil)
        #expect(due(at: instant(5)) == a)
        #expect(due(at: instant(5)) == a)
    }

    @Test mutating func `a deadline can be moved both ways`() {
        queue.schedule(a, at: instant(5))
        queue.schedule(a, at: instant(9))
        #expect(due(at: instant(8)) == nil)
        #expect(due(at: instant(9)) == a)
        queue.schedule(a, at: instant(3))
        #expect(queue[a] == instant(3))
        #expect(queue.next == instant(3))
        #expect(queue.count == 1)
    }

    @Test mutating func `a cancelled deadline is never due`() {
        queue.schedule(a, at: instant(5))
        queue.cancel(a)
        #expect(due(at: instant(100)) == nil)
        #expect(queue[a] == nil)
        #expect(queue.count == 0)
    }

    @Test mutating func `a deadline that was moved later does not come before one that was passed on the way`() {
        queue.schedule(a, at: instant(5))
        queue.schedule(b, at: instant(7))
        queue.schedule(a, at: instant(9))
        #expect(due(at: instant(20)) == b)
        queue.cancel(b)
        #expect(due(at: instant(20)) == a)
    }

    @Test mutating func `a deadline of silence is not due while words may be unheard`() {
        queue.schedule(a, at: instant(5))
        queue.schedule(b, at: instant(7))
        #expect(queue.next == instant(5))
        #expect(queue.firstDue(at: instant(6), heardUntil: instant(4)) == nil)
        #expect(queue.firstDue(at: instant(7), heardUntil: instant(4)) == b)
        #expect(queue.firstDue(at: instant(7), heardUntil: instant(5)) == a)
    }

    @Test(arguments: Seeds.first(40, atNight: 400))
    mutating func `a deadline queue is like a table that is looked through`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var naive: [DeadlineQueue.Subject: Instant] = [:]
        var now: Int64 = 0
        for _ in 0..<1500 {
            let number = UInt64.random(in: 1...30, using: &random)
            let subject: DeadlineQueue.Subject =
                random.isOnce(in: 2) ? .waiter(WaiterID(rawValue: number)) : .transition(TransitionID(rawValue: number))
            if random.isOnce(in: 4) {
                queue.cancel(subject)
                naive.removeValue(forKey: subject)
            } else {
                let instant = instant(now + .random(in: 0...200, using: &random))
                queue.schedule(subject, at: instant)
                naive[subject] = instant
            }
            #expect(queue[subject] == naive[subject], "seed \(seed)")
            #expect(queue.count == naive.count, "seed \(seed)")
            now += random.isOnce(in: 20) ? 150 : .random(in: 0...3, using: &random)
            expectSameDue(&naive, at: instant(now), seed: seed)
        }
    }

    /// Takes out everything that is due, first come first.
    private mutating func expectSameDue(
        _ naive: inout [DeadlineQueue.Subject: Instant], at now: Instant, seed: UInt64
    ) {
        if let first = naive.values.min() {
            #expect(queue.next.map { $0 <= first } == true, "seed \(seed)")
        }
        while let first = naive.values.min(), first <= now {
            let due = due(at: now)
            #expect(due.flatMap { naive[$0] } == first, "seed \(seed)")
            guard let due else { return }
            queue.cancel(due)
            naive.removeValue(forKey: due)
        }
        #expect(due(at: now) == nil, "seed \(seed)")
    }
}
