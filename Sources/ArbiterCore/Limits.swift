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

    // MARK: Company

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
    package static let listedTransitions = 1...1000
    package static let defaultListedTransitions = 100

    // MARK: Settings

    /// Tickets waiting in one scene.
    package var queuedPerScene = 10_000
    /// Transitions not yet ended, over all scenes.
    package var unfinished = 100_000
    /// Sessions alive at once.
    package var sessions = 10_000
    /// How long a session lives on after the last connection attached to it has closed.
    package var grace = Duration.seconds(2)
    /// Scenes known at once.
    package var scenes = 1_000
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

    package init() {}
}
