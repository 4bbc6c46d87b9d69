internal import Foundation

/// The seeds of tests that draw: always the same few where every change is tested, others and more at night.
package enum Seeds {
    private static let environment = ProcessInfo.processInfo.environment

    /// The seed behind which those of the night begin (`ARBITER_SEED`, which `make nightly` draws and prints).
    package static let night = environment["ARBITER_SEED"].map { text in
        guard let seed = UInt64(text), seed < 1 << 48 else {
            preconditionFailure("ARBITER_SEED is no number below 2^48: \(text)")
        }
        return seed
    }

    /// The first seeds, so many of them as are given, or at night.
    package static func first(_ count: UInt64, atNight nightCount: UInt64) -> ClosedRange<UInt64> {
        guard let night else { return 1...count }
        return (night + 1)...(night + nightCount)
    }
}
