internal import ArbiterCore

/// Clients that do anything at any time, an arbiter, a journal that loses things, and a checker beside each.
///
/// All chance comes from the seed, so that the same seed is the same history.
package struct Simulation {
    package let seed: UInt64
    package let configuration: Configuration
    package internal(set) var statistics = Statistics()

    var chance: SplitMix64
    var machine: ArbiterStateMachine
    var journal: SimulatedJournal
    var oracle = NaiveOracle()
    var ledger: Ledger
    var holds = Holds()
    var transcript = Transcript()
    private(set) var stepCount = 0

    var now = Instant(nanoseconds: 0)
    /// What the wall clock is ahead of the monotonic one.
    var wallOffset = Duration.seconds(1_000_000)
    /// Those whose answer is to come, by waiter.
    var parked: [Parked] = []
    /// Answers that wait for their commit, in order.
    var withheld: [Answer] = []
    /// Requests that the network has kept.
    var late: [Request] = []
    var clients: [Client]
    var isDraining = false
    /// Since when grants are held, if they are.
    var heldSince = Instant(nanoseconds: 0)
    var lastWaiter: UInt64 = 0
    var lastKey = 0

    package init(seed: UInt64, configuration: Configuration = Configuration()) {
        self.seed = seed
        self.configuration = configuration
        chance = SplitMix64(seed: seed)
        machine = ArbiterStateMachine(limits: configuration.limits)
        journal = SimulatedJournal(beginning: machine)
        ledger = Ledger(limits: configuration.limits)
        clients = (0..<configuration.clients).map { _ in Client() }
    }

    /// Tells one history from another, whatever the wall clock says.
    package var digest: UInt64 { transcript.digest.value }

    /// Takes so many steps.
    ///
    /// - Throws: `Violation` at the first that breaks a rule.
    package mutating func run(steps: Int) throws(Violation) {
        for _ in 0..<steps { try step() }
    }

    /// Lets one thing happen, and checks everything.
    ///
    /// - Throws: `Violation` if it breaks a rule.
    package mutating func step() throws(Violation) {
        stepCount += 1
        statistics.count(.steps)
        do throws(Broken) {
            try happen()
            try release()
        } catch {
            throw Violation(
                seed: seed, step: stepCount, rule: error.rule, what: error.what, transcript: transcript.lines)
        }
    }

    private mutating func happen() throws(Broken) {
        switch Int.random(in: 0..<1000, using: &chance) {
        case 0..<210: try ask()
        case 210..<250: try endSomething()
        case 250..<280: try askTwice()
        case 280..<330: try repeatRequest()
        case 330..<510: try endSomething()
        case 510..<580: try renewSomething()
        case 580..<690: try awaitSomething()
        case 690..<715: try leaveSomewhere()
        case 715..<755: try deliverLate()
        case 755..<815: commit()
        case 815..<925: try letTimePass()
        case 925..<965: try endSomething()
        case 965..<975: jumpWallClock()
        case 975..<982: try save()
        case 982..<987: try die()
        case 987..<992: pause()
        case 992: if chance.isOnce(in: 6) { try drain() }
        case 993..<998: try crash()
        default: if chance.isOnce(in: configuration.machineDeathRarity) { try crash(isMachineDead: true) }
        }
    }

    var moment: Moment {
        let wall = now.nanoseconds + wallOffset.wholeNanoseconds
        return Moment(instant: now, timestamp: Timestamp(milliseconds: wall / 1_000_000))
    }

    mutating func note(_ event: Event) {
        transcript.note(event, step: stepCount)
    }

    mutating func pause() {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        clients[client].pausedUntil = stepCount + Int.random(in: 1...200, using: &chance)
    }

    /// A client that does something now, if any does.
    mutating func someClient() -> Int? {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        return clients[client].pausedUntil <= stepCount ? client : nil
    }
}

/// A process that wants to hold scenes.
struct Client {
    /// What it got by its requests, newest last.
    var owned: [Owned] = []
    /// The requests that it may repeat, newest last.
    var keyed: [Ask] = []
    /// Grows when it dies: what was meant for its last life reaches nobody.
    var life = 0
    var pausedUntil = 0

    struct Owned {
        let id: TransitionID
        let token: Token
    }
}

/// What a client asks.
enum Ask {
    case start(TransitionRequest)
    case serialize(TransitionRequest, wait: Duration?)
    case await(TransitionID, token: Token?, until: Milestone, wait: Duration?)
    case end(TransitionID, token: Token, EndOutcome)
    case renew(TransitionID, token: Token)

    /// Whether the answer is its owner's.
    var isOwners: Bool {
        if case .await(_, token: nil, until: _, wait: _) = self { false } else { true }
    }
}

/// A request under way.
struct Request {
    let client: Int
    let life: Int
    let ask: Ask
}

/// A request that has been answered, perhaps not yet visibly.
struct Answer {
    let request: Request
    /// What it shows; `nil` for a refusal.
    let view: TransitionView?
    /// Whom the arbiter does not know.
    var unknown: TransitionID?
    let computedAt: Instant
    let sequence: UInt64
}

/// A parked await.
struct Parked {
    let waiter: WaiterID
    let request: Request
    let transition: TransitionID
    let milestone: Milestone
    let until: Instant
}
