package import ArbiterCore
package import ArbiterModel

/// The parameters of a simulation.
package struct SimulationSettings: Sendable {
    /// Small limits, so that all of them are reached.
    package var limits: Limits
    package var clients = 6
    /// The planted fault, which the checks have to find.
    package var fault: Fault?
    /// Whether the wall clock jumps; nothing but timestamps may depend on it.
    package var jumpsWallClock = true
    /// The machine dies once in 500 times so many steps, on average.
    package var machineDeathRarity = 12
    /// Whether the records, the times of their commits and replays are checked; otherwise only the state, the events and
    /// the answers that clients get.
    package var watchesJournal = true

    package init() {
        limits = Limits()
        limits.queuedPerScene = 6
        limits.unfinished = 16
        limits.scenes = 4
        limits.sessions = 8
        limits.grace = .seconds(1)
        limits.claim = .seconds(2)
        limits.retainedCount = 4
        limits.retainedDuration = .seconds(30)
        limits.retainedMaximum = 16
    }
}

/// A broken rule, with what is needed to repeat it.
package struct Violation: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let step: Int
    package let rule: Rule
    package let what: String
    /// The last events, oldest first.
    package let transcript: [String]

    package var description: String {
        (["seed \(seed), step \(step): \(rule.rawValue): \(what)"] + transcript.map { "  \($0)" })
            .joined(separator: "\n")
    }
}
