import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Glibc
import Testing

@testable import ArbiterHTTP

/// A loop without connections.
final class ServingLoopTests {
    private let loops = ServingLoops(count: 1)
    private var loop: ServingLoop { loops.first }
    // `EPOLLIN` and `EPOLLET`.
    private let (readable, edgeTriggered) = (UInt32(1), UInt32(1) << 31)

    deinit { loops.stop() }

    @Test func `what is asked for is done on the thread, in the order of the calls`() {
        let done = Guarded<[Int]>([])
        for number in 1...3 {
            loop.perform { [loop] in done.withLock { $0.append(loop.isCurrent ? number : 0) } }
        }
        loop.performAndWait { [loop] in
            // On the thread itself there is nobody to wait for.
            loop.performAndWait { done.withLock { $0.append(4) } }
        }
        #expect(done.withLock { $0 } == [1, 2, 3, 4])
        #expect(!loop.isCurrent)
    }

    @Test func `alarms ring on the thread, the earliest first, and those of one instant in their order`() {
        let rung = Guarded<[String]>([])
        let note = { @Sendable [loop] (name: String) in
            { @Sendable in rung.withLock { $0.append(loop.isCurrent ? name : "elsewhere") } }
        }
        // Set on the thread, so that none rings before all of them are set.
        loop.performAndWait { [loop] in
            loop.ring(after: 30_000_000, note("last"))
            loop.ring(after: 0, note("first"))
            loop.ring(after: -1, note("second"))
            loop.ring(after: .max, note("never"))
        }
        #expect(eventually { rung.withLock { $0 } == ["first", "second", "last"] })
    }

    @Test func `an alarm wakes the thread, whatever later one it waits for`() {
        let isRung = Guarded(false)
        loops.ring(after: .seconds(3600)) {}
        loops.ring(after: .milliseconds(5)) { isRung.withLock { $0 = true } }
        #expect(eventually { isRung.withLock { $0 } })
    }

    @Test func `a thread that is busy has not heard everything, and one that waits has`() {
        let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        loop.perform {
            begun.signal()
            goOn.wait()
        }
        begun.wait()
        #expect(loops.lag > .zero)
        goOn.signal()
        #expect(eventually { loops.lag == .zero })
    }

    @Test func `more events than one look takes are all told`() throws {
        let count = 300
        let told = Guarded<Set<Int>>([])
        var pipes: [(Int32, Int32)] = []
        for number in 0..<count {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            pipes.append((ends[0], ends[1]))
            loop.watch(ends[0], for: readable | edgeTriggered, key: loop.newKey()) {
                told.withLock { _ = $0.insert(number) }
            }
        }
        // They all happen before the loop looks.
        loop.performAndWait { [pipes] in
            for (_, end) in pipes { _ = unsafe write(end, "x", 1) }
        }
        #expect(eventually { told.withLock { $0.count } == count })
        for (first, second) in pipes {
            close(first)
            close(second)
        }
    }

    @Test func `what is forgotten is not told`() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let told = Guarded(0)
        let key = loop.newKey()
        loop.watch(ends[0], for: readable, key: key) { told.withLock { $0 += 1 } }
        loop.unwatch(ends[0], key: key)
        _ = unsafe write(ends[1], "x", 1)
        // Two rounds, so that there was a look in between.
        for _ in 0..<2 { loop.performAndWait {} }
        #expect(told.withLock { $0 } == 0)
        for end in ends { close(end) }
    }
}
