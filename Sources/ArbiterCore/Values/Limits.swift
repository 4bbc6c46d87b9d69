/// Every limit of the arbiter's state, in one place.
///
/// A request that was admitted must be admitted again when its record is replayed. So a limit on admission is a constant, or a replay
/// is not held to it (`ofReplay`). A limit that a test or a deployment may set is an instance property.
package struct Limits: Hashable, Sendable {
    // MARK: Names

    package static let sceneNameBytes = 64
    package static let controllerIDBytes = 128
    package static let clientNameBytes = 128
    /// The lengths of an idempotency key that a request may have.
    package static let idempotencyKeys = 16...128
    package static let reasonBytes = 256
    package static let noteBytes = 512
    package static let transitionTypeBytes = 128
    package static let segueIdentifierBytes = 128
    package static let coalescingKeyBytes = 128
    package static let principalNameBytes = 128
    package static let scenePatternBytes = 128

    // MARK: Hierarchies and storyboards

    /// Controllers in one scene.
    package static let controllers = 10_000
    /// Levels of a hierarchy, the root included.
    package static let hierarchyDepth = 1_000
    package static let segues = 1_000
    package static let transitionTypes = 1_000
    /// Controllers in a scope's list.
    package static let scopeControllers = 64
    package static let expectations = 16
    /// How many operations a list of them has.
    package static let listedOperations = 2...16

    // MARK: Scenes

    /// Scenes that no longer exist and of which it is known since when they are idle.
    package static let goneScenes = 10_000

    // MARK: The line

    package static let priorities = -1_000...1_000

    // MARK: Waiting for a state

    /// The tickets of a scene that wait for a state if need be, and the awaits of its controllers, all together.
    package static let statesAwaited = 1_000

    // MARK: Coalescing

    /// The tickets with a coalescing key that a new one is coalesced with are looked for among so many, the last ones in the line.
    package static let coalesced = 1_000

    // MARK: Sessions, gestures and participants

    package static let participants = 64
    /// The controllers that are guarded in a scene, each counted for every guard of it.
    package static let guardedControllers = 64
    /// The scenes in which a session guards something.
    package static let guardedScenes = 256
    /// How long those who guard something have to answer, at least.
    package static let guardsReady = Duration.seconds(2)

    // MARK: Animations

    package static let animationDurations = Duration.zero...Duration.seconds(3600)
    package static let defaultAnimation = Duration.milliseconds(350)
    package static let completionSpeeds = 0.001...1_000.0
    package static let userInfoBytes = 4096

    // MARK: Durations a request may ask for

    package static let leaseDurations = Duration.milliseconds(100)...Duration.seconds(300)
    package static let holdDurations = Duration.milliseconds(100)...Duration.seconds(86_400)
    package static let ticketDurations = Duration.milliseconds(100)...Duration.seconds(3600)
    package static let queueDurations = Duration.zero...Duration.seconds(86_400)
    package static let readyDurations = Duration.zero...Duration.seconds(60)
    /// How long an interrupted transition may go on.
    package static let graceDurations = Duration.zero...Duration.seconds(10)
    package static let sessionDurations = Duration.seconds(1)...Duration.seconds(3600)
    package static let waitDurations = Duration.zero...Duration.seconds(120)
    /// For how long a scene can be asked to have been idle; no longer than anybody can wait for it.
    package static let quietDurations = Duration.zero...waitDurations.upperBound

    // MARK: Defaults of durations that a request omits

    package static let defaultLease = Duration.seconds(10)
    package static let defaultTicket = Duration.seconds(30)
    package static let defaultReady = Duration.seconds(2)
    package static let defaultGrace = Duration.milliseconds(500)
    package static let defaultSession = Duration.seconds(30)
    package static let defaultAwait = Duration.seconds(30)

    /// How long an idempotency key is remembered.
    package static let idempotency = Duration.seconds(600)

    // MARK: The work of a turn

    /// The deadlines that a turn handles, and the transitions that it ends because of one; the next turns do what is left.
    package static let portion = 128
    /// The scenes in which a session is known, those used last: its end is an event of each.
    package static let scenesOfSession = 256

    // MARK: The arbiter's clock

    /// How often the clock is read even if no event needs the time.
    package static let heartbeat = Duration.milliseconds(250)
    /// The longest time between two readings that does not count as a pause of the process.
    package static let longestBetweenReadings = Duration.seconds(1)
    /// How long the clock stands still after a pause, so that requests which arrived meanwhile are read first.
    package static let standstillAfterPause = Duration.seconds(1)

    // MARK: Recovery

    /// How far the fences jump when the journal may lack the last ones given.
    package static let fenceJump: UInt64 = 1_000_000
    /// How far event numbers jump then, so that no number that was sent is used for another event.
    package static let eventJump: UInt64 = 1_000_000
    /// How far revisions jump then, so that no revision that was sent is used for another hierarchy.
    package static let revisionJump: UInt64 = 1_000_000

    // MARK: Times in a journal

    // Beyond these, what is stored is damage. Within them, the sum of an instant and two durations, and what is between such
    // sums and another instant, is below 292 years, which 64 bits of nanoseconds have room for.

    /// The instants that a journal may have, in nanoseconds: up to 146 years after the origin of the clock, which is as far as
    /// Linux counts, and up to 36 years before it, as the instants of journals that are merged may be.
    package static let storedInstants = -(Int64.max / 8)...Int64.max / 2
    /// The durations that a journal may have, in nanoseconds: up to 36 years in either direction.
    package static let storedDurations = -(Int64.max / 8)...Int64.max / 8
    /// The wall-clock times that a journal may have, in milliseconds since 1970: the years 0 to 9999, which RFC 3339 can write.
    package static let storedTimestamps = -62_167_219_200_000...Int64(253_402_300_799_999)

    // MARK: Answers

    package static let blockersShown = 8
    /// The most transitions that are looked at to say whether a request waits for its own client.
    package static let blockersLookedAt = 100
    /// The most transitions that a dry run names as interrupted.
    package static let interruptedShown = 100
    /// How far those that wait for a granted transition are counted.
    package static let waitingCounted = 100
    /// Transitions or scenes on one page of a list.
    package static let listed = 1...1000
    package static let defaultListed = 100
    /// Transitions shown with a scene, counted separately for those that hold its lock and those that are queued.
    package static let transitionsOfScene = 100
    /// Controllers in a list that a summary still contains; longer lists are omitted.
    package static let summarizedControllers = 64

    // MARK: Memory

    // Measured sizes in bytes. The estimates depend only on what is stored.

    /// A transition without its names.
    static let bytesPerTransition = 2_048
    /// An operation without the controllers that it inserts.
    static let bytesPerOperation = 256
    /// A controller of a hierarchy, its id included.
    static let bytesPerController = 704
    /// A name in a list of names, with its share of the index.
    package static let bytesPerName = 192
    /// A controller in a list that is locked, with its share of the queue.
    static let bytesPerLocked = 512
    /// For each lock of a ticket with a priority: the places above it know the first and the last ticket of each priority.
    static let bytesPerPriority = 4096
    /// A participant: its name in the request and in the transition, and its share of the index of clients.
    static let bytesPerParticipant = 384
    /// A guard without its controllers.
    static let bytesPerGuard = 512
    static let bytesPerSession = 1_024
    /// A scene in which a session is known, with the share of the index.
    static let bytesPerVisit = 256
    /// A scene without hierarchy, segues and transition types.
    package static let bytesPerScene = 1_024
    static let bytesPerSegue = 512
    static let bytesPerTransitionType = 256

    // Shares of the memory limit, as divisors.

    /// The unfinished transitions of one scene and its storyboard: a quarter.
    static let sceneShare = 4
    /// The unfinished transitions of one session: an eighth.
    static let sessionShare = 8
    /// The part that all sessions together must leave free: a quarter.
    static let sessionlessReserve = 4
    /// The unfinished transitions without a session and all declared storyboards, together: a half.
    static let sharedShare = 2

    // MARK: Settings

    /// Tickets in one scene.
    package var queuedPerScene = 10_000
    /// Unfinished transitions in all scenes.
    package var unfinished = 100_000
    /// Sessions alive at once.
    package var sessions = 10_000
    /// How long a session lives on after its last attached connection has closed.
    package var grace = Duration.seconds(2)
    /// Bytes that the state may take, by its own estimate; `nil` for no limit, as in a replay.
    package var memory: Int?
    /// Bytes of the record of one declaration; `nil` for no limit, as in a replay.
    package var recordBytes: Int?
    /// Unfinished transitions of one principal; `nil` for no limit, as in a replay.
    package var unfinishedPerPrincipal: Int?
    /// Sessions of one principal alive at once; `nil` for no limit, as in a replay.
    package var sessionsPerPrincipal: Int?
    /// Scenes that exist at once; in most deployments `memory` allows fewer.
    package var scenes = 1_000_000
    /// The longest lease that a request or a scene may ask for; `nil` if that is `leaseDurations.upperBound`, as in a replay.
    package var longestLease: Duration?
    /// How long an await parks at most, within `waitDurations`; then it is answered, although it may have asked for longer.
    package var longestWait = waitDurations.upperBound
    /// How long an owner may be silent and still hold its lease, because it may have been parked first.
    ///
    /// For so long grants are withheld after records were lost.
    package var longestSilence: Duration { (longestLease ?? Self.leaseDurations.upperBound) + longestWait }
    /// The first lease of a ticket whose owner is not waiting when it is granted.
    package var claim = Duration.seconds(5)
    /// Ended transitions that are kept regardless of their age.
    package var retainedCount = 10_000
    /// How long an ended transition is kept where `retainedMaximum` allows.
    package var retainedDuration = Duration.seconds(600)
    /// The most ended transitions that are kept; beyond it the oldest is forgotten, regardless of its age.
    package var retainedMaximum = 50_000
    /// The most names in all ended transitions together; beyond it the oldest transition is forgotten.
    package var retainedWeight = 1_000_000
    /// The most bytes of all ended transitions together; beyond it the oldest transition is forgotten.
    package var retainedBytes = 100 << 20

    package init() {}

    /// The same for one of several shards: the memory of the process, and what is kept of ended transitions, are divided.
    package func divided(among shards: Int) -> Limits {
        var limits = self
        limits.memory = memory.map { $0 / shards }
        limits.retainedCount /= shards
        limits.retainedMaximum /= shards
        limits.retainedWeight /= shards
        limits.retainedBytes /= shards
        return limits
    }

    /// The same without the limits on admission: a request that was admitted once is admitted again, even if the limits
    /// are lower now.
    package var ofReplay: Limits {
        var limits = self
        limits.queuedPerScene = .max
        limits.unfinished = .max
        limits.sessions = .max
        limits.memory = nil
        limits.recordBytes = nil
        limits.longestLease = nil
        limits.unfinishedPerPrincipal = nil
        limits.sessionsPerPrincipal = nil
        return limits
    }
}
