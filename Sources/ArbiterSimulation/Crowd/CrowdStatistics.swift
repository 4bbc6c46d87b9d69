/// What a simulation of a crowd has done.
package struct CrowdStatistics {
    package enum Figure: String, CaseIterable {
        case steps
        case serialized
        case replaced = "tickets replaced by a newer one"
        case gaveWay = "tickets that gave way to an older one"
        case dryRuns = "dry runs"
        case refused = "starts refused"
        case expired = "ends for silence"
        case sessionsEnded = "sessions ended"
        case longest = "unfinished at once, at most"
    }

    private var counts: [Figure: Int] = [:]

    package init() {}

    package subscript(figure: Figure) -> Int { counts[figure] ?? 0 }

    mutating func count(_ figure: Figure) { counts[figure, default: 0] += 1 }

    mutating func note(size: Int) { counts[.longest] = max(self[.longest], size) }

    /// Adds those of another simulation.
    package mutating func add(_ other: CrowdStatistics) {
        for (figure, count) in other.counts {
            counts[figure] = figure == .longest ? max(self[figure], count) : self[figure] + count
        }
    }
}
