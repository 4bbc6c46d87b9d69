internal import ArbiterCore
internal import ArbiterTestKit

/// Thousands of tickets with keys and scopes in one scene, compared with `CrowdModel` after every step.
///
/// It runs the state machine alone. Time passes, sessions end, and leases run out together, so that turns do portions.
package struct CrowdSimulation {
    package let seed: UInt64
    package private(set) var statistics = CrowdStatistics()
    private var machine = ArbiterStateMachine()
    private var model = CrowdModel()
    private var chance: SplitMix64
    private var now = Instant(nanoseconds: 0)
    private var lastID: UInt64 = 0
    private var lastOrder: UInt64 = 0
    /// The tokens of the sessions, which are opened anew when they end.
    private var sessions: [Token] = []
    private let keys: Int
    /// Between so many unfinished transitions the crowd grows and shrinks.
    private let sizes: ClosedRange<Int>
    private var isGrowing = true

    private static let lease = Duration.seconds(300)

    /// What was not as it should be.
    package struct Surprise: Error, CustomStringConvertible {
        package let seed: UInt64
        package let step: Int
        package let what: String

        package var description: String { "seed \(seed), step \(step): \(what)" }
    }

    /// A simulation of which the seed decides everything.
    package init(seed: UInt64) {
        self.seed = seed
        chance = SplitMix64(seed: seed)
        keys = Int.random(in: 1...200, using: &chance)
        let most = Int.random(in: 200...6_000, using: &chance)
        sizes = (most / 4)...most
    }

    /// Runs a number of steps.
    ///
    /// - Throws: `Surprise` at the first step that ends otherwise than the model says.
    package mutating func run(steps: Int) throws(Surprise) {
        try declare()
        for _ in 0..<8 { sessions.append(try openSession()) }
        for _ in 0..<steps {
            statistics.count(.steps)
            if model.tickets.count >= sizes.upperBound { isGrowing = false }
            if model.tickets.count <= sizes.lowerBound { isGrowing = true }
            switch Int.random(in: 0..<1_000, using: &chance) {
            case 0: try endSession()
            case 1...3: try letTimePass()
            case 4...60: try dryRun()
            case 61...100: try start()
            case ..<(isGrowing ? 800 : 300): try serialize()
            default: try end()
            }
            try check()
        }
    }

    // MARK: Steps

    private mutating func declare() throws(Surprise) {
        let views = (0..<CrowdModel.groups * CrowdModel.viewsInGroup).map { Self.id(.view($0)) }
        let groups = (0..<CrowdModel.groups).map { Self.id(.group($0)) }
        let navigations = groups.enumerated().map { index, id in
            let own = views[(index * CrowdModel.viewsInGroup)..<((index + 1) * CrowdModel.viewsInGroup)]
            return Controller(id: id, content: .navigation(Array(own)))
        }
        let root = Controller(id: Self.root, content: .tabs(groups, selected: 0))
        guard
            let tree = try? Hierarchy(
                root: Self.root, controllers: [root] + navigations + views.map { Controller(id: $0) }),
            let storyboard = try? Storyboard(hierarchy: tree)
        else { throw surprise("the storyboard is not possible") }
        _ = try carryOut { machine, step throws(ArbiterError) in
            try machine.declare(.main, storyboard, if: .none, in: &step)
        }
    }

    private mutating func serialize() throws(Surprise) {
        let (ticket, request) = draw()
        let place = spot(of: ticket)
        let older = model.coalesced(ticket, at: place, keepsLatest: request.coalescing?.keep == .latest)
        let oldest = older.first.flatMap { model.tickets[$0]?.id }
        let token = Self.token(ticket.id.rawValue)
        lastOrder += 1
        _ = try carryOut { machine, step throws(ArbiterError) in
            try machine.serialize(request, id: ticket.id, token: token, park: nil, in: &step)
        }
        statistics.count(.serialized)
        guard let oldest, let first = older.first else {
            model.insert(ticket, at: place)
            return grant([place])
        }
        if request.coalescing?.keep == .first {
            statistics.count(.gaveWay)
            return try expect(ticket.id, .superseded(by: oldest))
        }
        var candidates: Set<CrowdModel.Spot> = []
        for replaced in older {
            statistics.count(.replaced)
            if let id = model.tickets[replaced]?.id { try expect(id, .superseded(by: ticket.id)) }
            candidates.formUnion(model.remove(at: replaced))
        }
        let taken = CrowdModel.Spot(priority: ticket.priority, order: first.order)
        model.insert(ticket, at: taken)
        grant(candidates.union([taken]))
    }

    /// Where a new ticket would wait if it takes over no place.
    private func spot(of ticket: CrowdModel.Ticket) -> CrowdModel.Spot {
        CrowdModel.Spot(priority: ticket.priority, order: lastOrder + 1)
    }

    private mutating func start() throws(Surprise) {
        let (ticket, request) = draw()
        let place = spot(of: ticket)
        let isFree = model.isFree(ticket.locks, at: place)
        let token = Self.token(ticket.id.rawValue)
        let result = turn { machine, step throws(ArbiterError) in
            _ = try machine.start(request, id: ticket.id, token: token, in: &step)
        }
        switch (result, isFree) {
        case (.success, true):
            lastOrder += 1
            model.insert(ticket, at: place)
            grant([place])
        case (.failure(.busy), false): statistics.count(.refused)
        default: throw surprise("a start is answered \(result), and its scope is \(isFree ? "" : "not ")free")
        }
    }

    private mutating func dryRun() throws(Surprise) {
        let (ticket, request) = draw()
        let place = spot(of: ticket)
        let older = model.coalesced(ticket, at: place, keepsLatest: request.coalescing?.keep == .latest)
        let isFree =
            older.first.map { first in
                var tried = model
                for replaced in older { _ = tried.remove(at: replaced) }
                return tried.isFree(
                    ticket.locks, at: CrowdModel.Spot(priority: ticket.priority, order: first.order))
            } ?? model.isFree(ticket.locks, at: place)
        let answer = try carryOut { machine, step throws(ArbiterError) in
            try machine.dryRun(request, isSerialized: true, at: step.moment.instant)
        }
        statistics.count(.dryRuns)
        switch answer.outcome {
        case .superseded(let by):
            guard request.coalescing?.keep == .first, older.first.flatMap({ model.tickets[$0]?.id }) == by else {
                throw surprise("a dry run is superseded by \(by)")
            }
        case .blocked(let blockers):
            guard !isFree, !blockers.isEmpty else { throw surprise("a dry run is blocked by \(blockers)") }
        case .granted:
            guard isFree else { throw surprise("a dry run would be granted") }
        case .interrupting, .grantedInterrupting, .noop, .withheld, .setAside:
            throw surprise("a dry run is \(answer.outcome)")
        }
    }

    /// A holder, or now and then a ticket, ends.
    private mutating func end() throws(Surprise) {
        let isHolder = !chance.isOnce(in: 4)
        guard let place = model.place(ofGranted: isHolder, using: &chance), let id = model.tickets[place]?.id else {
            return
        }
        _ = try carryOut { machine, step throws(ArbiterError) in
            try machine.end(id, token: Self.token(id.rawValue), as: isHolder ? .completed : .cancelled, in: &step)
        }
        try expect(id, isHolder ? .completed : .cancelled)
        grant(model.remove(at: place))
    }

    private mutating func endSession() throws(Surprise) {
        let index = Int.random(in: sessions.indices, using: &chance)
        let token = sessions[index]
        _ = try carryOut { machine, step throws(ArbiterError) in try machine.endSession(token, in: &step) }
        doWhatIsDue()
        statistics.count(.sessionsEnded)
        try end(model.tickets.filter { $0.value.session == index }.keys.sorted(), as: .expired(.sessionLost))
        sessions[index] = try openSession()
    }

    /// Time passes, in which the sessions live on and leases may run out.
    private mutating func letTimePass() throws(Surprise) {
        now = now.advanced(by: .milliseconds(Int.random(in: 1...150_000, using: &chance)))
        for token in sessions {
            _ = try carryOut { machine, step throws(ArbiterError) in try machine.renewSession(token, in: &step) }
        }
        doWhatIsDue()
        let now = now
        try end(
            model.tickets.filter { $0.key.isGranted && $0.value.until <= now }.keys.sorted(), as: .expired(.lease))
    }

    private mutating func end(_ places: [CrowdModel.Spot], as outcome: TransitionOutcome) throws(Surprise) {
        var candidates: Set<CrowdModel.Spot> = []
        for place in places {
            if let id = model.tickets[place]?.id { try expect(id, outcome) }
            candidates.formUnion(model.remove(at: place))
            statistics.count(.expired)
        }
        grant(candidates)
    }

    // MARK: Checks

    private func expect(_ id: TransitionID, _ outcome: TransitionOutcome) throws(Surprise) {
        guard let transition = machine.transition(id) else { throw surprise("\(id) is forgotten") }
        guard case .ended(let ending) = transition.phase, ending.outcome == outcome else {
            throw surprise("\(id) is \(transition.phase), and was to be \(outcome)")
        }
    }

    /// Compares how many are granted with the model, and now and then who they are.
    private mutating func check() throws(Surprise) {
        let counts = machine.counts
        statistics.note(size: counts.queued + counts.granted)
        guard counts.granted == model.granted, counts.granted + counts.queued == model.tickets.count else {
            throw surprise(
                "\(counts.granted) are granted of \(counts.granted + counts.queued), and were to be "
                    + "\(model.granted) of \(model.tickets.count)")
        }
        guard statistics[.steps].isMultiple(of: 50) else { return }
        for (place, ticket) in model.tickets where place.isGranted {
            guard machine.transition(ticket.id)?.state == .running else {
                throw surprise("\(ticket.id) is not granted")
            }
        }
    }

    private func surprise(_ what: String) -> Surprise { Surprise(seed: seed, step: statistics[.steps], what: what) }

    // MARK: The machine

    private mutating func grant(_ candidates: Set<CrowdModel.Spot>) {
        model.grant(candidates, until: now.advanced(by: Self.lease))
    }

    private mutating func turn<Answer>(
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) -> Result<Answer, ArbiterError> {
        machine.turn(at: Moment(instant: now, timestamp: Timestamp(milliseconds: 0)), event).answer
    }

    private mutating func carryOut<Answer>(
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) throws(Surprise) -> Answer {
        switch turn(event) {
        case .success(let answer): return answer
        case .failure(let error): throw surprise("refused: \(error)")
        }
    }

    private mutating func doWhatIsDue() {
        while let next = machine.nextDeadline, next <= now { _ = turn { _, _ in } }
    }

    private mutating func openSession() throws(Surprise) -> Token {
        lastID += 1
        let (id, token) = (SessionID(rawValue: lastID), Self.token(lastID))
        _ = try carryOut { machine, step throws(ArbiterError) in
            try machine.openSession(client: nil, timeToLive: .seconds(3600), id: id, token: token, in: &step)
        }
        return token
    }

    /// A ticket of a session, with what it requests.
    private mutating func draw() -> (CrowdModel.Ticket, TransitionRequest) {
        lastID += 1
        let session = Int.random(in: sessions.indices, using: &chance)
        let locks = drawLocks()
        let key = chance.isOnce(in: 2) ? Int.random(in: 0..<keys, using: &chance) : nil
        let coalescing = key.flatMap { CoalescingKey("k\($0)") }
            .map { Coalescing(key: $0, keep: chance.isOnce(in: 5) ? .first : .latest) }
        let priority = chance.isOnce(in: 4) ? Int.random(in: -2...2, using: &chance) : 0
        let request = TransitionRequest(
            scope: locks == [.scene] ? .scene : .controllers(locks.map(Self.id)), priority: Priority(priority),
            lease: Self.lease,
            ticket: .seconds(3600), coalescing: coalescing, session: sessions[session])
        let ticket = CrowdModel.Ticket(
            id: TransitionID(rawValue: lastID), locks: locks, key: key, session: session, priority: priority)
        return (ticket, request)
    }

    /// Locks of which none is at or below another one.
    private mutating func drawLocks() -> [CrowdModel.Lock] {
        if chance.isOnce(in: 200) { return [.scene] }
        var locks: [CrowdModel.Lock] = []
        for _ in 0..<Int.random(in: 1...4, using: &chance) {
            let group = Int.random(in: 0..<CrowdModel.groups, using: &chance)
            let view = group * CrowdModel.viewsInGroup + Int.random(in: 0..<CrowdModel.viewsInGroup, using: &chance)
            if locks.contains(where: { $0.group == group }) { continue }
            locks.append(chance.isOnce(in: 20) ? .group(group) : .view(view))
        }
        return locks
    }

    private static let root = id("root")

    private static func id(_ lock: CrowdModel.Lock) -> ControllerID {
        switch lock {
        case .scene: root
        case .group(let group): id("group\(group)")
        case .view(let view): id("view\(view)")
        }
    }

    private static func id(_ text: String) -> ControllerID {
        guard let id = ControllerID(text) else { preconditionFailure("\(text) is no id") }
        return id
    }

    private static func token(_ number: UInt64) -> Token { Token(high: ~number, low: number) }
}
