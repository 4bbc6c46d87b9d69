/// What a journal in files promises.
package enum DiskRule: String, Hashable, Sendable, CaseIterable {
    /// A record that was reported is there.
    case durability
    /// What is there is what was written.
    case content
    /// The journal says how its last writer stopped, and whether records may be missing.
    case ending
    /// A journal can be opened, unless somebody else has damaged it.
    case start
    /// What was appended is committed, or the failure is reported.
    case report
}

/// A broken promise, with what is needed to repeat it.
package struct DiskViolation: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let step: Int
    package let rule: DiskRule
    package let what: String
    /// What has happened last, oldest first.
    package let transcript: [String]

    package var description: String {
        (["seed \(seed), step \(step): \(rule.rawValue): \(what)"] + transcript.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

/// A promise that is broken.
struct BrokenPromise: Error {
    let rule: DiskRule
    let what: String

    init(_ rule: DiskRule, _ what: String) { (self.rule, self.what) = (rule, what) }
}

/// How often what has happened on simulated disks.
package struct DiskStatistics: Sendable {
    package enum Figure: String, CaseIterable, Sendable {
        case steps
        case records
        case groups = "groups that were committed"
        case interludes = "groups that were committed during a compaction"
        case compactions
        case starts
        case closes = "journals that were closed"
        case kills = "deaths of the process"
        case machineDeaths = "deaths of the machine"
        case deathsInStarts = "deaths during a start"
        case failures = "journals that have failed"
        case failedStarts = "starts that have failed"
        case fullDisks = "disks without room"
        case flips = "bits that have flipped"
        case refusals = "journals that were refused as damaged"
        case losses = "starts that lacked records"
        case lost = "lost records"
    }

    private var counts: [Figure: Int] = [:]

    package init() {}

    package subscript(figure: Figure) -> Int { counts[figure] ?? 0 }

    mutating func count(_ figure: Figure, by number: Int = 1) { counts[figure, default: 0] += number }

    package mutating func add(_ other: DiskStatistics) {
        for (figure, number) in other.counts { count(figure, by: number) }
    }
}
