/// What has to be the same before and after a copy, however the state is divided.
///
/// Orders are not: they say which transition came first, and so do the lists here. Instants are, on a clock on which every
/// shard's last record is at the same time.
package struct CopiedFacts: Sendable {
    /// What is said of a scene.
    fileprivate struct SceneFacts: Hashable {
        let isDeclared: Bool
        let patches: UInt64
        let numbers: Scene.Numbers
        let storyboard: Storyboard
        let guards: [Guard]
        /// The unfinished transitions, in the order of their places.
        let queue: [Transition]
        /// The unfinished transitions, in the order of their requests.
        let requested: [TransitionID]
        /// Those that others have waited for.
        let contended: Set<TransitionID>
        /// The remembered ones, in the order of their ends.
        let ended: [Transition]
    }

    /// Numbers that are given only once, and so have to be as high as before.
    fileprivate struct Heights {
        var fence = Fence(rawValue: 0)
        var event = EventNumber(rawValue: 0)
        var order = RequestOrder(rawValue: 0)
        var forgotten = Scene.Numbers()
        var isHoldingGrants = false
    }

    private var scenes: [SceneName: SceneFacts] = [:]
    private var sessions: [SessionID: Session] = [:]
    /// The transition that a request with a key is answered with: the newest one.
    private var keys: [OwnedKey: TransitionID] = [:]
    private var heights: [Heights] = []
    /// The guests that are not as their home says.
    private var strangers: Set<SessionID> = []

    /// The facts of a state that may be divided.
    ///
    /// - Parameter shards: the states of all shards, in their order.
    package init(of shards: [ShardState]) {
        let shards = shards.map { $0.under(.newest) }
        let all = Shard(0, of: max(1, shards.count))
        for index in shards.indices {
            for session in shards[index].machine.durable.sessions.values
            where session.id.slot.shard(of: all.count) == index {
                sessions[session.id] = session.moved(later: shards[index].age)
            }
        }
        for shard in shards {
            let durable = shard.machine.durable
            heights.append(Heights(of: durable))
            for session in durable.sessions.values { noteUse(of: session) }
            // A key belongs to a scene, and so to one shard.
            keys.merge(durable.keys) { first, _ in first }
            noteScenes(of: durable, later: shard.age)
        }
    }

    /// Adds the scenes in which a session is used, and compares it with the record of its home.
    private mutating func noteUse(of session: Session) {
        guard let home = sessions[session.id], home.token == session.token, home.client == session.client,
            home.caller == session.caller, home.timeToLive <= session.timeToLive
        else {
            strangers.insert(session.id)
            return
        }
        sessions[session.id]?.scenes.formUnion(session.scenes)
    }

    private mutating func noteScenes(of durable: DurableState, later: Duration) {
        let unnumbered = RequestOrder(rawValue: 0)
        let moved = { (transition: Transition) in
            transition.moved(to: unnumbered, LinePlace(unnumbered, transition.priority), later: later)
        }
        let unfinished = Dictionary(grouping: durable.transitions.values.filter { !$0.isEnded }, by: \.request.scene)
        let ended = Dictionary(grouping: durable.endedTransitions, by: \.request.scene)
        for (name, scene) in durable.scenes {
            let queue = unfinished[name] ?? []
            scenes[name] = SceneFacts(
                isDeclared: scene.isDeclared, patches: scene.patches, numbers: scene.numbers,
                storyboard: scene.storyboard, guards: scene.guards,
                queue: queue.sorted { $0.place < $1.place }.map(moved),
                requested: queue.sorted { $0.order < $1.order }.map(\.id), contended: Set(scene.queue.contended),
                ended: (ended[name] ?? []).map(moved))
        }
        // Of a scene that is forgotten, transitions may still be remembered.
        for (name, ended) in ended where durable.scenes[name] == nil {
            scenes[name] = SceneFacts(
                isDeclared: false, patches: 0, numbers: Scene.Numbers(), storyboard: .empty, guards: [], queue: [],
                requested: [],
                contended: [], ended: ended.map(moved))
        }
    }

    /// What differs in a copy, in words; nothing if it is the same.
    package func differences(in copy: CopiedFacts) -> [String] {
        var found: [String] = []
        for name in Set(scenes.keys).union(copy.scenes.keys).sorted(by: { $0.description < $1.description }) {
            guard let here = scenes[name], let there = copy.scenes[name] else {
                found.append("scene \(name) is missing \(scenes[name] == nil ? "here" : "there")")
                continue
            }
            found += here.differences(in: there).map { "scene \(name): \($0)" }
        }
        for id in Set(sessions.keys).union(copy.sessions.keys).sorted() where sessions[id] != copy.sessions[id] {
            found.append("session \(id)")
        }
        found += copy.strangers.sorted().map { "guest \($0)" }
        if keys != copy.keys { found.append("idempotency keys") }
        if copy.heights.contains(where: { low in heights.contains { !low.reaches($0) } }) {
            found.append("fences, orders or numbers of events")
        }
        return found
    }
}

extension CopiedFacts.SceneFacts {
    fileprivate func differences(in copy: Self) -> [String] {
        [
            ("storyboard", isDeclared == copy.isDeclared && patches == copy.patches && storyboard == copy.storyboard),
            ("revision and events", numbers == copy.numbers),
            ("guards", guards == copy.guards),
            ("queue", queue == copy.queue && requested == copy.requested && contended == copy.contended),
            ("ended transitions", ended == copy.ended),
        ].filter { !$0.1 }.map(\.0)
    }
}

extension CopiedFacts.Heights {
    fileprivate init(of durable: DurableState) {
        self.init(
            fence: durable.lastFence, event: durable.lastEvent, order: durable.lastOrder, forgotten: durable.forgotten,
            isHoldingGrants: durable.isHoldingGrants)
    }

    /// Whether nothing is given again that the other has given.
    fileprivate func reaches(_ other: Self) -> Bool {
        fence >= other.fence && event >= other.event && order >= other.order
            && forgotten.revision >= other.forgotten.revision && forgotten.event >= other.forgotten.event
            && (isHoldingGrants || !other.isHoldingGrants)
    }
}

extension ShardState {
    /// By how much its clock has to be put forward, so that its last record is at zero.
    fileprivate var age: Duration { shift(to: Instant(nanoseconds: 0)) }
}
