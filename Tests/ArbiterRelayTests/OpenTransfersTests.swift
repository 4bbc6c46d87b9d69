import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

/// What is under way to earlier owners ends a little later.
final class OpenTransfersTests: Sendable {
    private let time = ManualTime()
    private let alarm: ManualAlarm
    private let open: OpenTransfers
    private let ended = Guarded<[Int]>([])

    init() {
        alarm = ManualAlarm(time: time)
        open = OpenTransfers(grace: .seconds(1), alarm: alarm)
    }

    private func note(_ tenures: [UInt64]) {
        let owners = tenures.enumerated().map { ($0.offset, ClusterMap.Owner(address: "a", tenure: $0.element)) }
        open.note(Dictionary(uniqueKeysWithValues: owners))
    }

    private func begin(_ shard: Int, _ tenure: UInt64) -> Int {
        open.begin([shard: tenure]) { self.ended.withLock { $0.append(shard) } }
    }

    private func pass(_ duration: Duration) {
        time.advance(by: duration)
        alarm.ringDue()
    }

    @Test func `each transfer has its own time of grace`() {
        note([1, 1, 1])
        for shard in 0...2 { _ = begin(shard, 1) }
        note([2, 1, 1])
        pass(.milliseconds(900))
        note([2, 2, 1])
        // To an owner that is one no more.
        _ = begin(2, 0)
        pass(.milliseconds(100))
        #expect(ended.withLock { $0 } == [0])
        pass(.milliseconds(900))
        #expect(ended.withLock { $0 } == [0, 1, 2])
        pass(.seconds(60))
        #expect(ended.withLock { $0 }.count == 3)
    }

    @Test func `what has ended is not ended again`() {
        note([1])
        let number = begin(0, 1)
        note([2])
        open.end(number)
        pass(.seconds(60))
        #expect(ended.withLock { $0 }.isEmpty)
    }
}
