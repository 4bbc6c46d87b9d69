/// What a simulated cluster promises.
package enum ClusterRule: String, Hashable, Sendable, CaseIterable {
    /// Two clients never believe at once that they hold a scene, and nobody who does is refused for a lower fence.
    case exclusion
    /// What stood in line before is granted before.
    case order
    /// Fences grow, also over moves.
    case fence
    /// A transition has one outcome, and an acknowledged end is it.
    case outcome
    /// A key makes one transition.
    case key
    /// What an answer has shown is not taken back by a later one, and nothing that was acknowledged is lost.
    case durability
    /// A lease has not run out while its owner rightly believes in it.
    case lease
    /// What was answered with `not-owner` was not carried out.
    case notOwner
    /// A request without a key that is sent once makes one transition.
    case once
    /// A relay holds no call for too long, and asks no owner in vain.
    case relay
    /// A node serves a shard once in each tenure.
    case tenure
    /// An event has one number and one content, and the numbers have no gaps.
    case event
    /// A session has not ended while its client rightly believes in it.
    case session
    /// A guest ends when its session has.
    case guest
    /// When nothing is wrong any more, every shard has an owner that serves it.
    case service
    /// The store holds the whole history of each shard at any moment.
    case store
    /// An owner's state is what is in the store.
    case replay
}

/// A broken promise, with what is needed to repeat it.
package struct ClusterViolation: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let step: Int
    package let rule: ClusterRule
    package let what: String
    /// What has happened last, oldest first.
    package let transcript: [String]

    package var description: String {
        (["seed \(seed), step \(step): \(rule.rawValue): \(what)"] + transcript.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

/// A rule that is broken.
struct Broken: Error {
    let rule: ClusterRule
    let what: String

    init(_ rule: ClusterRule, _ what: String) { (self.rule, self.what) = (rule, what) }
}
