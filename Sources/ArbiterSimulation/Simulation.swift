internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

/// A random history: clients that may do anything at any time, the real engine, a faulty journal, and the checks.
///
/// All random values come from the seed, so the same seed gives the same history.
package struct Simulation: ~Copyable {
    package let seed: UInt64
    package let configuration: SimulationSettings
    package internal(set) var statistics = Statistics()

    var chance: SplitMix64
    let machineClock = MachineClock()
    let journal: SimulatedJournal
    /// The process in which the engine runs.
    var process: Process

    // What the checks know independently of the engine.

    var replica: Replica
    var ledger: Ledger
    var holds = Holds()
    var vigils = Vigils()
    var transcript = Transcript()
    private(set) var stepCount = 0
    /// The last record that was checked.
    var observed: UInt64 = 0
    /// The moment of that record.
    var observedAt: Moment?
    /// The records that the restart under way still has to make.
    var restartRecords: [Record] = []

    /// The parked awaits, in the order of their requests.
    var parked: [Parked] = []
    /// The number of the await whose connection closes in this turn.
    var leavingAwait: Int?
    /// The parked awaits of idle scenes, in the order of their requests.
    var idlers: [ParkedIdler] = []
    /// The number of the one whose connection closes in this turn.
    var leavingIdler: Int?
    /// Since when scenes are idle.
    var idleTimes = IdleTimes()
    /// The answers that wait for a commit, in order.
    var owedAnswers: [OwedAnswer] = []
    /// What the engine still has to pass to its listener and to its observer.
    var events = Announcements()
    var notices = Announcements()
    /// The connections attached to sessions.
    var connections: [Connection] = []
    /// The requests that the network delays.
    var late: [Request] = []
    var clients: [Client]
    /// Whether most steps are requests of many clients for one scene.
    var isCrowded = false
    var isDraining = false
    /// Whether the engine refuses everything, because its journal has failed or it has been stopped.
    var isDown = false
    /// The newest events according to the journal that was opened again.
    var resumedAfter: JournalRecovery.LastEvents?
    /// Since when grants are withheld, if they are.
    var heldSince = Instant(nanoseconds: 0)
    var lastNumber = 0
    var lastKey = 0

    /// The number of steps after which the scenes may become crowded, or not.
    private static let seasonSteps = 250

    package init(seed: UInt64, configuration: SimulationSettings = SimulationSettings()) {
        self.seed = seed
        self.configuration = configuration
        chance = SplitMix64(seed: seed)
        replica = Replica(limits: configuration.limits, fault: configuration.fault)
        journal = SimulatedJournal(fault: configuration.fault, chance: SplitMix64(seed: chance.next()))
        ledger = Ledger(limits: configuration.limits)
        clients = (0..<configuration.clients).map { _ in Client() }
        do throws(JournalError) {
            try journal.open()
            process = try Process(configuration, journal, machineClock, seed: chance.next())
        } catch {
            preconditionFailure("a journal that holds nothing cannot be read: \(error)")
        }
    }

    /// A digest of the history; it does not depend on the wall clock.
    package var digest: UInt64 { transcript.digest.value }

    /// Runs a number of steps.
    ///
    /// - Throws: `Violation` at the first step that breaks a rule.
    package mutating func run(steps: Int) throws(Violation) {
        for _ in 0..<steps { try step() }
    }

    /// Runs one step, and checks everything after it.
    ///
    /// - Throws: `Violation` if it breaks a rule.
    package mutating func step() throws(Violation) {
        stepCount += 1
        statistics.count(.steps)
        do throws(Broken) {
            try happen()
            try closeConnectionsOfTheDead()
            try replaceConnection()
        } catch {
            throw Violation(
                seed: seed, step: stepCount, rule: error.rule, what: error.what, transcript: transcript.lines)
        }
    }

    private mutating func happen() throws(Broken) {
        if stepCount % Self.seasonSteps == 0 { isCrowded = chance.isOnce(in: 2) }
        // While the engine refuses everything, time should pass soon.
        if isDown, chance.isOnce(in: 4) { return try letTimePass() }
        if isCrowded, !chance.isOnce(in: 5) { return try crowd() }
        switch Int.random(in: 0..<1000, using: &chance) {
        case 0..<250: try ask()
        case 250..<265: try askTwice()
        case 265..<275: try letScopesGrow()
        case 275..<305: try repeatRequest()
        case 305..<430: try endSomething()
        case 430..<470: try renewSomething()
        case 470..<515: try awaitSomething()
        case 515..<540: try awaitIdleScene()
        case 540..<550: try lookAtSomething()
        case 550..<570: try leaveSomewhere()
        case 570..<600: try deliverLate()
        case 600..<650: try commit()
        case 650..<730: if chance.isOnce(in: 3), hasInterrupted { try performSomething() } else { try letTimePass() }
        case 730..<750: try openSession()
        case 750..<760: try guardSomething()
        case 760..<805: try speakForSession()
        case 805..<815: try hangUp()
        case 815..<860: try moveFinger()
        case 860..<885: try liftFinger()
        case 885..<915: try performSomething()
        case 915..<940: try getReady()
        case 940..<952: try declare()
        case 952..<958: try patch()
        case 958..<963: try delete()
        case 963..<970: jumpWallClock()
        case 970..<976: try save()
        case 976..<982: try die()
        case 982..<987: pause()
        case 987: if chance.isOnce(in: 3) { try drain() }
        case 988..<992: try crash()
        case 992: try restart()
        case 993..<995: if chance.isOnce(in: configuration.machineDeathRarity) { try crash(isMachineDead: true) }
        case 995..<998: try stopRunning()
        default: try failJournal()
        }
    }

    // MARK: - Time

    /// The clients' time.
    var outside: Instant { machineClock.outside }

    /// The arbiter's time.
    var now: Instant { process.time.instant.advanced(by: process.offset) }

    var oracle: NaiveOracle { replica.oracle }

    /// The rules, with what they are applied to now.
    var rulebook: Rulebook {
        Rulebook(ledger: ledger, oracle: oracle, idleTimes: idleTimes, isDraining: isDraining, now: now)
    }

    mutating func note(_ event: Event) {
        transcript.note(event, step: stepCount)
    }

    // MARK: - Clients

    mutating func pause() {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        clients[client].pausedUntil = stepCount + Int.random(in: 1...200, using: &chance)
    }

    func isAwake(_ client: Int) -> Bool { clients[client].pausedUntil <= stepCount }

    /// A client that is not paused, mostly one that meets a condition.
    mutating func someClient(where hasSomething: (Client) -> Bool) -> Int? {
        let awake = clients.indices.filter { isAwake($0) && hasSomething(clients[$0]) }
        return chance.isOnce(in: 8) ? someClient() : awake.randomElement(using: &chance)
    }

    /// A random client, unless it is paused.
    mutating func someClient() -> Int? {
        let client = Int.random(in: 0..<clients.count, using: &chance)
        return isAwake(client) ? client : nil
    }
}
