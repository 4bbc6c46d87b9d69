internal import ArbiterClient
internal import Foundation
internal import Synchronization

/// Durations, counted in buckets that grow by the fourth root of two.
final class LatencyHistogram: Sendable {
    private static let bucketsPerDoubling = 4.0
    /// The end of the first bucket, in seconds.
    private static let first = 0.000_01
    private let state = Mutex(State())

    private struct State {
        var counts: [Int: Int] = [:]
        var count = 0
        var longest = Duration.zero
    }

    var count: Int { state.withLock { $0.count } }

    func add(_ duration: Duration) {
        let doublings = log2(max(duration.inSeconds, Self.first) / Self.first)
        state.withLock { state in
            state.counts[Int((doublings * Self.bucketsPerDoubling).rounded(.up)), default: 0] += 1
            state.count += 1
            state.longest = max(state.longest, duration)
        }
    }

    /// The duration that this share of all does not exceed, at most a fifth too long; zero if there are none.
    func quantile(_ share: Double) -> Duration {
        state.withLock { state in
            var left = Int((share * Double(state.count)).rounded(.up))
            for (bucket, count) in state.counts.sorted(by: { $0.key < $1.key }) {
                left -= count
                if left <= 0 { return min(Self.end(of: bucket), state.longest) }
            }
            return state.longest
        }
    }

    private static func end(of bucket: Int) -> Duration {
        .seconds(first * exp2(Double(bucket) / bucketsPerDoubling))
    }

    /// Counts and quantiles in seconds.
    var document: JSONValue {
        [
            "count": .number(Double(count)), "median": .number(quantile(0.5).inSeconds),
            "p90": .number(quantile(0.9).inSeconds), "p99": .number(quantile(0.99).inSeconds),
            "longest": .number(quantile(1).inSeconds),
        ]
    }

    /// A bar for each doubling of time.
    func bars(width: Int) -> [String] {
        let doublings = state.withLock { state in
            Dictionary(
                state.counts.map { (Int((Double($0.key) / Self.bucketsPerDoubling).rounded(.up)), $0.value) },
                uniquingKeysWith: +)
        }
        guard let first = doublings.keys.min(), let last = doublings.keys.max(), let most = doublings.values.max()
        else { return [] }
        return (first...last).map { doubling in
            let count = doublings[doubling] ?? 0
            let end = Self.end(of: doubling * Int(Self.bucketsPerDoubling)).inMilliseconds
            let bar = String(repeating: "█", count: (count * width + most - 1) / most)
            return "≤ \(end.padded(to: 8)) \(bar) \(count)"
        }
    }
}

extension Duration {
    /// With three significant digits.
    var inMilliseconds: String {
        let milliseconds = inSeconds * 1000
        guard milliseconds > 0 else { return "0" }
        let scale = pow(10, (2 - log10(milliseconds).rounded(.down)))
        let rounded = (milliseconds * scale).rounded() / scale
        return rounded >= 100 ? "\(Int(rounded))" : "\(rounded)"
    }
}
