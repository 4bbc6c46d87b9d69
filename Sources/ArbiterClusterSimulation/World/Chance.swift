internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterSimulation
internal import ArbiterTestKit

/// The source of every random value, so that the same seed gives the same history.
final class Chance: Sendable {
    private let random: Guarded<SplitMix64>

    init(seed: UInt64) { random = Guarded(SplitMix64(seed: seed)) }

    func next() -> UInt64 { random.withLock { $0.next() } }

    func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(next() % UInt64(range.count))
    }

    /// True once in so many times, on average.
    func isOnce(in times: Int) -> Bool { next() % UInt64(times) == 0 }

    /// A duration in whole microseconds.
    func duration(_ range: ClosedRange<Duration>) -> Duration {
        let (lowest, highest) = (range.lowerBound.wholeNanoseconds / 1000, range.upperBound.wholeNanoseconds / 1000)
        return .microseconds(lowest + Int64(next() % UInt64(highest - lowest + 1)))
    }

    func element<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[Int(next() % UInt64(elements.count))]
    }
}
