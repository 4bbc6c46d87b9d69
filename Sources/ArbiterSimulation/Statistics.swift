/// How much of everything there was, so that it is visible what a run has covered.
package struct Statistics: Sendable {
    package enum Figure: String, Sendable, CaseIterable {
        case steps
        case commands
        case records
        case grants
        case completed
        case cancelled
        case expiredLease = "expired: lease"
        case expiredAbandoned = "expired: abandoned"
        case expiredUnclaimed = "expired: unclaimed"
        case expiredQueueTimeout = "expired: queue-timeout"
        case rememberedEnds = "remembered ends"
        case refusals
        case busy
        case unknown = "unknown transitions"
        case holdingGrants = "refused while grants were held"
        case limitsReached = "limits reached"
        case wrongTokens = "wrong tokens"
        case lateEnds = "ends after the end"
        case repeatedRequests = "repeated requests known again"
        case reusedKeys = "keys given with another body"
        case parked = "parked awaits"
        case wakes
        case leaves = "connections closed"
        case lostRequests = "requests lost"
        case lateRequests = "requests delivered late or twice"
        case lostAnswers = "answers lost"
        case deaths = "clients died"
        case drains
        case forgotten
        case crashes
        case machineDeaths = "deaths of the machine"
        case revivals = "ended transitions running again after one"
        case replays
        case wallClockJumps = "jumps of the wall clock"
    }

    private var counts = [Int](repeating: 0, count: Figure.allCases.count)

    package init() {}

    package subscript(figure: Figure) -> Int {
        counts[Self.index(of: figure)]
    }

    mutating func count(_ figure: Figure, _ increase: Int = 1) {
        counts[Self.index(of: figure)] += increase
    }

    package mutating func add(_ other: Statistics) {
        for figure in Figure.allCases { count(figure, other[figure]) }
    }

    private static let indices = Dictionary(uniqueKeysWithValues: zip(Figure.allCases, 0...))

    private static func index(of figure: Figure) -> Int {
        guard let index = indices[figure] else { preconditionFailure("\(figure) is not counted") }
        return index
    }
}
