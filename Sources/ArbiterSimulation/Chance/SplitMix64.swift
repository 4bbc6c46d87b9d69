internal import ArbiterTestKit

extension SplitMix64 {
    /// A duration in whole milliseconds, up to so many.
    mutating func milliseconds(upTo maximum: Int) -> Duration {
        .milliseconds(Int.random(in: 0...maximum, using: &self))
    }
}
