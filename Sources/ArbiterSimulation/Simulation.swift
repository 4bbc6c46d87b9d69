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
    var oracle: NaiveOracle
    var ledger: Ledger
    var holds = Holds()
    var vigils = Vigils()
    var transcript = Transcript()
    private(set) var stepCount = 0

    /// The time that passes for everybody, whether or not the arbiter's process runs.
    var outside = Instant(nanoseconds: 0)
    var clock = ArbiterClock(showing: Instant(nanoseconds: 0), at: Instant(nanoseconds: 0))
    /// What the wall clock is ahead of the monotonic one.
    var wallOffset = Duration.seconds(1_000_000)
    /// Those whose answer is to come, by waiter.
    var parked: [Parked] = []
    /// Answers that wait for their commit, in order.
    var withheld: [Answer] = []
    /// Connections that sessions live by.
    var connections: [Connection] = []
    /// Requests that the network has kept.
    var late: [Request] = []
    var clients: [Client]
    /// Whether most of what happens is that clients want much of one scene at once, and get it soon.
    var isCrowded = false
    var isDraining = false
    /// Since when grants are held, if they are.
    var heldSince = Instant(nanoseconds: 0)
    var lastWaiter: UInt64 = 0
    var lastKey = 0

    /// For how many steps the scenes are crowded, or not.
    private static let seasonSteps = 250

    package init(seed: UInt64, configuration: Configuration = Configuration()) {
        self.seed = seed
        self.configuration = configuration
        chance = SplitMix64(seed: seed)
        machine = ArbiterStateMachine(limits: configuration.limits)
        oracle = NaiveOracle(limits: configuration.limits)
        oracle.ignoresAncestors = configuration.fault == .ignoredAncestor
        oracle.overlooksMoves = configuration.fault == .overlookedMove
        journal = SimulatedJournal(beginning: machine, oracle)
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
        if stepCount % Self.seasonSteps == 0 { isCrowded = chance.isOnce(in: 2) }
        if isCrowded, !chance.isOnce(in: 5) { return try crowd() }
        switch Int.random(in: 0..<1000, using: &chance) {
        case 0..<250: try ask()
        case 250..<265: try askTwice()
        case 265..<275: try letScopesGrow()
        case 275..<305: try repeatRequest()
        case 305..<430: try endSomething()
        case 430..<470: try renewSomething()
        case 470..<550: try awaitSomething()
        case 550..<570: try leaveSomewhere()
        case 570..<600: try deliverLate()
        case 600..<650: commit()
        case 650..<730: try letTimePass()
        case 730..<760: try openSession()
        case 760..<805: try speakForSession()
        case 805..<815: try hangUp()
        case 815..<860: try moveFinger()
        case 860..<895: try liftFinger()
        case 895..<940: try getReady()
        case 940..<958: try declare()
        case 958..<963: try delete()
        case 963..<970: jumpWallClock()
        case 970..<976: try save()
        case 976..<982: try die()
        case 982..<987: pause()
        case 987: if chance.isOnce(in: 3) { try drain() }
        case 988..<993: try crash()
        case 993..<995: if chance.isOnce(in: configuration.machineDeathRarity) { try crash(isMachineDead: true) }
        case 995..<998: try stopRunning()
        default: try endSomething()
        }
    }

    /// What the arbiter's clock shows.
    var now: Instant { clock.instant }

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

    /// A client that does something now, mostly one that has something of this kind.
    mutating func someClient(where hasSomething: (Client) -> Bool) -> Int? {
        let awake = clients.indices.filter { clients[$0].pausedUntil <= stepCount && hasSomething(clients[$0]) }
        return chance.isOnce(in: 8) ? someClient() : awake.randomElement(using: &chance)
    }

    /// A client that does something now, if any does.
    mutating func someClient() -> Int? {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        return clients[client].pausedUntil <= stepCount ? client : nil
    }
}
