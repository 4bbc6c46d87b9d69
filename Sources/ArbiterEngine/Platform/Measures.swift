internal import ArbiterCore
internal import Synchronization

/// A number that only grows, or that says how many there are; changed from any thread.
package final class Counter: Sendable {
    private let value = Atomic(0)

    package init() {}

    package var count: Int { value.load(ordering: .relaxed) }

    package func add(_ number: Int = 1) { value.add(number, ordering: .relaxed) }
}

/// How often values were within which bounds.
package final class Histogram: Sendable {
    /// The upper bounds of the buckets, ascending, in the smallest unit: nanoseconds for durations.
    package let bounds: [Int]
    /// How many of the smallest unit make the unit that is shown: 1e9 for seconds.
    package let scale: Double
    private let buckets: [Counter]
    private let total = Counter()

    /// For durations, from a tenth of a millisecond to two minutes.
    package static func ofDurations() -> Histogram {
        let milliseconds = [
            0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000,
        ]
        return Histogram(bounds: milliseconds.map { Int($0 * 1e6) }, scale: 1e9)
    }

    /// For numbers of things, by powers of two.
    package static func ofCounts(upTo greatest: Int) -> Histogram {
        Histogram(bounds: (0..<63).map { 1 << $0 }.filter { $0 <= greatest }, scale: 1)
    }

    private init(bounds: [Int], scale: Double) {
        self.bounds = bounds
        self.scale = scale
        buckets = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a duration; a negative one counts as none.
    package func observe(_ duration: Duration) {
        observe(Int(clamping: max(.zero, duration).wholeNanoseconds))
    }

    /// Counts a value in the smallest unit.
    package func observe(_ value: Int) {
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
        total.add(value)
    }

    /// How many values were within each bound, not counting those within an earlier one; the last one has no bound.
    package var counts: [Int] { buckets.map(\.count) }

    /// The sum of all values, in the unit that is shown.
    package var sum: Double { Double(total.count) / scale }
}
