/// How often what has happened in simulated clusters.
package struct ClusterStatistics: Sendable {
    package enum Figure: String, CaseIterable, Sendable {
        case steps
        case calls
        case acknowledgedCalls = "calls that were answered with what they asked for"
        case callsWithoutAnswer = "calls without an answer"
        case callsWithoutOwner = "calls that were answered with not-owner"
        case uncertainCalls = "calls that may have been carried out"
        case repeatedRequests = "requests that were sent again with their keys"
        case grants
        case ends = "acknowledged ends"
        case expiries = "leases that ran out"
        case words = "acknowledged words in sessions"
        case sessions
        case lostSessions = "sessions whose clients fell silent"
        case guests = "guests"
        case streams = "streams attached to sessions"
        case lostRelays = "relays that were lost"
        case tenures
        case records
        case snapshots
        case events
        case pauses = "pauses of nodes"
        case kills = "kills of nodes"
        case stops = "nodes that were stopped"
        case cuts = "cuts between places"
        case leaderPauses = "pauses of etcd's leader"
        case shortages = "times without room in etcd"
        case stalls = "requests for which etcd had no room"
        case heldCalls = "calls that were held until their shards were served"
        case callsPassedOnAgain = "calls that were passed on again"
        case borrowedSessions = "sessions that were borrowed"
        case movedCalls = "calls whose shards moved while another node had them"
        case checks = "checks in peace"
    }

    private var counts: [Figure: Int] = [:]

    package init() {}

    package subscript(figure: Figure) -> Int { counts[figure] ?? 0 }

    mutating func count(_ figure: Figure, by number: Int = 1) { counts[figure, default: 0] += number }

    package mutating func add(_ other: ClusterStatistics) {
        for (figure, number) in other.counts { count(figure, by: number) }
    }
}
