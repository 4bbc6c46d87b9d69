internal import ArbiterCore

/// How much of everything there was, so that it is visible what a run has covered.
package struct Statistics: Sendable {
    package enum Figure: String, Sendable, CaseIterable {
        case steps
        case asks
        case records
        case grants
        case grantsSideBySide = "grants beside others of the scene"
        case grantsShared = "grants of shared ones"
        case namesChosen = "grants of one of several names"
        case overtaking = "grants before earlier tickets of lower priorities"
        case completed
        case noops = "completed without doing anything"
        case cancelled
        case expiredLease = "expired: lease"
        case expiredAbandoned = "expired: abandoned"
        case expiredHold = "expired: hold"
        case expiredUnclaimed = "expired: unclaimed"
        case expiredQueueTimeout = "expired: queue-timeout"
        case expiredSessionLost = "expired: session-lost"
        case expiredParticipants = "expired: participants"
        case rejectedExpectation = "rejected: expectation-failed"
        case rejectedOperation = "rejected: invalid-operation"
        case rejectedScope = "rejected: scope-gone"
        case rejectedScene = "rejected: the scene was deleted"
        case vetoed = "rejected: vetoed"
        case setAside = "tickets set aside"
        case returned = "tickets that stand in the line again"
        case dryRunsAside = "dry runs that would be set aside"
        case supersededByNewer = "superseded by a newer one"
        case supersededByOlder = "superseded by an older one"
        case replacedPreparing = "superseded while preparing"
        case gaveWayToGranted = "superseded by what is granted"
        case revoked
        case scenesCleared = "scenes of which everything was revoked, or what a client had"
        case updates = "animations changed"
        case interruptions = "interruptions that began"
        case lateInterruptions = "tickets that interrupted later than at once"
        case interrupted = "ended by an interruption"
        case appliedAtExpiry = "done although expired"
        case declared
        case deleted
        case sessionsOpened = "sessions opened"
        case sessionsRenewed = "sessions renewed"
        case sessionsEnded = "sessions ended"
        case sessionsExpired = "sessions expired"
        case attachments = "connections attached"
        case hangups = "attached connections closed"
        case sessionWords = "requests that name a session without need"
        case preparing = "granted and waiting for participants"
        case readied = "participants ready"
        case guardsSet = "guards set"
        case guardsRemoved = "guards taken back"
        case asked = "grants that ask a guard"
        case askedAtTurn = "remembered ends that ask a guard"
        case answeredForAll = "answers of guards"
        case ranWithoutLaggards = "ran without laggards"
        case progress = "fingers moved"
        case lateProgress = "moves that came late"
        case released = "fingers lifted"
        case releasedEarly = "fingers lifted before the grant"
        case decidedBeforeGrant = "decided before the grant"
        case performed = "operations given to what runs"
        case performedAgain = "operations given once more"
        case lists = "lists of operations done"
        case performedNothing = "operations given that change nothing"
        case rememberedEnds = "remembered ends"
        case refusals
        case busy
        case unknown = "unknown transitions"
        case unknownScenes = "unknown scenes"
        case unknownSessions = "unknown sessions"
        case unknownTypes = "unknown transition types"
        case alreadyDeclared = "scenes that are declared already"
        case versionMismatches = "tags that do not match"
        case undeclared = "patches of undeclared scenes"
        case inUse = "patches of what is in use"
        case invalidStoryboard = "patches that make an invalid storyboard"
        case operationsRefused = "operations refused at once"
        case expectationsFailed = "expectations failed at once"
        case recovering = "refused while grants were held"
        case queueFull = "limits: queue"
        case tooManyTransitions = "limits: transitions"
        case tooManyScenes = "limits: scenes"
        case tooManySessions = "limits: sessions"
        case wrongTokens = "wrong tokens"
        case lateEnds = "ends after the end"
        case contradictions = "contradictions of a gesture"
        case secondOperations = "operations given to what has one"
        case operationsInGrace = "operations given to what is interrupted"
        case notInteractive = "gestures of what is not driven"
        case tooEarly = "words that come too early"
        case tooLate = "participants ready too late"
        case strangers = "participants that are none"
        case tooManyGuards = "limits: guards"
        case foreignGuards = "guards of others, or of nobody, or unknown"
        case guardedPerforms = "operations given that would remove what is guarded"
        case vetoesWithoutRight = "vetoes of those who have none"
        case repeatedRequests = "repeated requests known again"
        case reusedKeys = "keys given with another request"
        case keysElsewhere = "keys that another scene has too"
        case parked = "parked awaits"
        case wakes
        case wakesUnreached = "awaits whose wait was over"
        case looks = "transitions looked at"
        case idleAnswers = "questions whether a scene is idle"
        case idleWakes = "awaits of scenes that became idle"
        case idleWaitsOver = "awaits of scenes that were not idle in time"
        case dryRuns = "dry runs"
        case dryRunsBlocked = "dry runs with others in the way"
        case dryRunsInterrupting = "dry runs that would interrupt"
        case leaves = "connections closed"
        case lostRequests = "requests lost"
        case lateRequests = "requests delivered late or twice"
        case lostAnswers = "answers lost"
        case deaths = "clients died"
        case drains
        case forgotten
        case alarms
        case idleAlarms = "alarms with nothing to do"
        case restarts
        case crashes
        case machineDeaths = "deaths of the machine"
        case journalFailures = "failures of the journal"
        case resumptions = "journals taken up again"
        case unavailable = "answers that the journal is unavailable"
        case revivals = "ended transitions running again after one"
        case replays
        case wallClockJumps = "jumps of the wall clock"
        case pauses = "pauses of the process"
        case renewalsInPauses = "renewals sent during a pause"
    }

    private var counts = [Int](repeating: 0, count: Figure.allCases.count)
    private var operations: [OperationType: Int] = [:]

    package init() {}

    package subscript(figure: Figure) -> Int {
        counts[Self.index(of: figure)]
    }

    /// How much there was of each figure, and how often an operation of each type was done.
    package var lines: [(number: Int, name: String)] {
        Figure.allCases.map { (self[$0], $0.rawValue) }
            + OperationType.allCases.map { (operations[$0] ?? 0, "done: \($0.rawValue)") }
    }

    mutating func count(_ figure: Figure, _ increase: Int = 1) {
        counts[Self.index(of: figure)] += increase
    }

    mutating func countDone(_ operation: OperationType) { operations[operation, default: 0] += 1 }

    package mutating func add(_ other: Statistics) {
        for figure in Figure.allCases { count(figure, other[figure]) }
        operations.merge(other.operations, uniquingKeysWith: +)
    }

    private static let indices = Dictionary(uniqueKeysWithValues: zip(Figure.allCases, 0...))

    private static func index(of figure: Figure) -> Int {
        guard let index = indices[figure] else { preconditionFailure("\(figure) is not counted") }
        return index
    }
}
