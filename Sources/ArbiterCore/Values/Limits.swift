/// Every limit of the arbiter's state, in one place.
///
/// What was admitted must be admitted again when it is replayed, so the limits on admission are constants; what a
/// test or a deployment may set for itself is an instance property.
package struct Limits: Hashable, Sendable {
    // MARK: Names

    package static let sceneNameBytes = 64
    package static let controllerIDBytes = 128
    package static let clientNameBytes = 128
    package static let idempotencyKeyBytes = 255
    package static let revocationReasonBytes = 256
    package static let transitionTypeBytes = 128
    package static let segueIdentifierBytes = 128
    package static let coalescingKeyBytes = 128

    // MARK: Hierarchies and storyboards

    /// Controllers in one scene.
    package static let controllers = 10_000
    /// Controllers on the longest way down, the topmost included.
    package static let hierarchyDepth = 1_000
    package static let segues = 1_000
    package static let transitionTypes = 1_000
    /// Controllers in a scope's list.
    package static let scopeControllers = 64
    package static let expectations = 16

    // MARK: Sessions, gestures and participants

    package static let participants = 64

    // MARK: Animations

    package static let animationDurations = Duration.zero...Duration.seconds(3600)
    package static let defaultAnimation = Duration.milliseconds(350)
    package static let completionSpeeds = 0.001...1_000.0
    package static let userInfoBytes = 4096

    // MARK: Durations a request may ask for

    /// The longest is also how long nothing is granted after the machine died under a journal that cannot be trusted.
    package static let leaseDurations = Duration.milliseconds(100)...Duration.seconds(300)
    package static let ticketDurations = Duration.milliseconds(100)...Duration.seconds(3600)
    package static let queueDurations = Duration.zero...Duration.seconds(86_400)
    package static let readyDurations = Duration.zero...Duration.seconds(60)
    package static let sessionDurations = Duration.seconds(1)...Duration.seconds(3600)
    package static let waitDurations = Duration.zero...Duration.seconds(120)

    // MARK: Durations where the request is silent

    package static let defaultLease = Duration.seconds(10)
    package static let defaultTicket = Duration.seconds(30)
    package static let defaultReady = Duration.seconds(2)
    package static let defaultSession = Duration.seconds(30)
    package static let defaultAwait = Duration.seconds(30)

    /// How long a request with an idempotency key is known again.
    package static let idempotency = Duration.seconds(600)

    // MARK: The arbiter's clock

    /// How often the clock is read even if nobody asks for the time.
    package static let heartbeat = Duration.milliseconds(250)
    /// The longest time between two readings in which the process is taken to have run.
    package static let longestBetweenReadings = Duration.seconds(1)
    /// How long the clock stands still after a pause, for what arrived meanwhile.
    package static let standstillAfterPause = Duration.seconds(1)

    // MARK: Recovery

    /// By how much the fences jump when the last ones given may be missing from the journal.
    package static let fenceJump: UInt64 = 1_000_000
    /// By how much the numbers of events jump then, so that none that was told means another event.
    package static let eventJump: UInt64 = 1_000_000
    /// By how much revisions jump then, so that none that was told means another hierarchy.
    package static let revisionJump: UInt64 = 1_000_000

    // MARK: Answers

    package static let blockersShown = 8
    /// Transitions, or scenes, on one page of a list.
    package static let listed = 1...1000
    package static let defaultListed = 100
    /// Of those that hold a scene's lock, and of those that are queued in it, so many are shown with the scene.
    package static let transitionsOfScene = 100
    /// In summaries, lists of controllers that are longer are left out.
    package static let summarizedControllers = 64

    // MARK: Memory

    // What things take, in bytes, as it was measured: estimates that depend on nothing but what is kept.

    /// A transition, without what it names.
    static let bytesPerTransition = 2_048
    /// An operation, without the controllers that it brings in.
    static let bytesPerOperation = 256
    /// A controller of a hierarchy, its id included.
    static let bytesPerController = 448
    /// A name in a list of names, and what is kept to find it.
    static let bytesPerName = 192
    static let bytesPerSession = 1_024
    /// A scene without hierarchy, segues and types.
    static let bytesPerScene = 1_024
    static let bytesPerSegue = 512
    static let bytesPerTransitionType = 256

    // Shares of what state may take in all.

    /// What is unfinished in one scene and its storyboard: a quarter.
    static let sceneShare = 4
    /// What is unfinished of one session: an eighth.
    static let sessionShare = 8
    /// What all sessions together must leave: a quarter.
    static let sessionlessReserve = 4
    /// What is unfinished of those without a session, and every declared storyboard: a half, together.
    static let sharedShare = 2
    // MARK: Settings

    /// Tickets waiting in one scene.
    package var queuedPerScene = 10_000
    /// Transitions not yet ended, over all scenes.
    package var unfinished = 100_000
    /// Sessions alive at once.
    package var sessions = 10_000
    /// How long a session lives on after the last connection attached to it has closed.
    package var grace = Duration.seconds(2)
    /// Bytes that the state may take, by its own estimate; `nil` where that is not asked, as in a replay.
    package var memory: Int?
    /// Scenes known at once; mostly `memory` allows fewer.
    package var scenes = 1_000_000
    /// The first lease of a ticket whose turn came while nobody was looking.
    package var claim = Duration.seconds(5)
    /// Ended transitions that are always kept.
    package var retainedCount = 10_000
    /// How long an ended transition is kept where `retainedMaximum` allows.
    package var retainedDuration = Duration.seconds(600)
    /// Ended transitions beyond which the oldest goes, however young.
    package var retainedMaximum = 50_000
    /// Names in all ended transitions together, beyond which the oldest goes, however few they are.
    package var retainedWeight = 1_000_000
    /// Bytes of all ended transitions together, beyond which the oldest goes, however few they are.
    package var retainedBytes = 128 << 20

    package init() {}
}
