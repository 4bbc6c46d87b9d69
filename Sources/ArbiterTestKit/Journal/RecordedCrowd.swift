package import ArbiterCore
package import ArbiterEngine

/// The simulated life of an arbiter with several scenes: sessions, tickets, trees, participants and keys.
///
/// The same seed gives the same life.
package struct RecordedCrowd {
    package private(set) var machine = ArbiterStateMachine()
    package private(set) var records: [JournalEntry] = []
    /// The scenes in which something is requested.
    private var scenes: [SceneName]
    private var random: SplitMix64
    private var sequence: UInt64 = 0
    private var moment = Moment(
        instant: Instant(nanoseconds: 5_000_000_000), timestamp: Timestamp(milliseconds: 1_767_225_600_000))
    private var owned: [Owned] = []
    private var sessions: [(id: SessionID, token: Token, client: ClientName?)] = []
    private var drawn = 0

    /// A transition, with what only its owner knows.
    private struct Owned {
        let id: TransitionID
        let token: Token
        let scene: SceneName
    }

    package init(seed: UInt64, scenes count: Int = 12) {
        random = SplitMix64(seed: seed)
        scenes = (0..<count).compactMap { SceneName("scene-\($0)") }
    }

    /// The state after the records.
    package var state: ShardState { ShardState(machine: machine, sequence: sequence, moment: moment) }

    /// The same crowd, with what it knows, on the state of a shard.
    package func inside(_ shard: Shard, _ state: ShardState, seed: UInt64) -> RecordedCrowd {
        var crowd = self
        crowd.machine = state.machine
        (crowd.sequence, crowd.moment, crowd.records) = (state.sequence, state.moment ?? moment, [])
        crowd.random = SplitMix64(seed: seed)
        crowd.scenes = scenes.filter { shard.contains(Slot($0)) }
        crowd.owned = owned.filter { shard.contains(Slot($0.scene)) }
        return crowd
    }

    /// Adds this many records.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - milliseconds: the most time between two.
    package mutating func live(_ count: Int, pausing milliseconds: Int64 = 20) {
        guard !scenes.isEmpty else { return }
        let goal = records.count + count
        while records.count < goal {
            let pause = Int64.random(in: 0...milliseconds, using: &random)
            moment = Moment(
                instant: moment.instant.advanced(by: .milliseconds(pause)),
                timestamp: Timestamp(milliseconds: moment.timestamp.milliseconds + pause))
            step()
        }
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<6: openSession()
        case ..<10: if let session = sessions.randomElement(using: &random) { apply(.endSession(session.id, .expired)) }
        case ..<15: declare()
        case ..<16: if let scene = scenes.randomElement(using: &random) { apply(.delete(scene)) }
        case ..<17: apply(.skipFences)
        case ..<18: apply(.distrust(holdsGrants: random.isOnce(in: 3)))
        case ..<21: apply(.resume)
        case ..<28:
            guard let held = owned.randomElement(using: &random), let client = client() else { return }
            apply(.markReady(held.id, client: client))
        case ..<60: end()
        default: request()
        }
    }

    private mutating func openSession() {
        guard let scene = scenes.randomElement(using: &random) else { return }
        let id = SessionID(rawValue: Slot(scene).prefixed(to: random.next()))
        let token = Token(high: id.slot.prefixed(to: random.next()), low: random.next())
        let client = random.isOnce(in: 4) ? nil : client()
        let caller = Caller(principal: random.isOnce(in: 3) ? PrincipalName("uid:1") : nil)
        if apply(.openSession(client: client, timeToLive: .seconds(60), id: id, token: token, by: caller)) {
            sessions.append((id, token, client))
        }
    }

    private mutating func declare() {
        guard let scene = scenes.randomElement(using: &random) else { return }
        apply(.declare(scene, SampleHierarchies.storyboards[Int.random(in: 0...1, using: &random)]))
    }

    private mutating func end() {
        guard let index = owned.indices.randomElement(using: &random) else { return }
        let held = owned.remove(at: index)
        if random.isOnce(in: 6) {
            apply(.expire(held.id, .abandoned))
        } else if !apply(.end(held.id, token: held.token, random.isOnce(in: 4) ? .cancelled : .completed)) {
            owned.append(held)
        }
    }

    private mutating func request() {
        guard let scene = scenes.randomElement(using: &random) else { return }
        drawn += 1
        var request = TransitionRequest(scene: scene, client: client())
        if random.isOnce(in: 3) { request.session = sessions.randomElement(using: &random)?.token }
        if random.isOnce(in: 3) { request.idempotencyKey = IdempotencyKey("key-\(drawn)-\(random.next())") }
        if random.isOnce(in: 5), let key = CoalescingKey("\(drawn % 3)") {
            request.coalescing = Coalescing(key: key, keep: random.isOnce(in: 2) ? .latest : .first)
        }
        if random.isOnce(in: 6), let client = client() { request.participants = [Participant(client: client)] }
        if random.isOnce(in: 5) { request.maxHold = .seconds(600) }
        if random.isOnce(in: 3) {
            request.operation = .push(
                navigation: SampleHierarchies.id("nav"), controller: SampleHierarchies.view("c\(drawn)"))
        }
        let id = TransitionID(rawValue: Slot(scene).prefixed(to: random.next()))
        let token = Token(high: random.next(), low: random.next())
        let isPatient = !random.isOnce(in: 5)
        if apply(isPatient ? .serialize(request, id: id, token: token) : .start(request, id: id, token: token)) {
            owned.append(Owned(id: id, token: token, scene: scene))
        }
    }

    private mutating func client() -> ClientName? { ClientName("client \(random.next() % 5)") }

    @discardableResult
    private mutating func apply(_ record: Record) -> Bool {
        guard !machine.apply(record, at: moment).records.isEmpty else { return false }
        sequence += 1
        records.append(JournalEntry(sequence: sequence, moment: moment, record: record))
        return true
    }
}
