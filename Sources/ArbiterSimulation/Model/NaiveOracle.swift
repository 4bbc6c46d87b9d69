internal import ArbiterCore

/// The rules, as plainly as they can be said, to be held against the real machine.
///
/// *A transition is granted as soon as every earlier unfinished transition that conflicts with it has ended*, and no
/// later one holds what it needs, because the tree has changed since that was granted.
struct NaiveOracle {
    struct Entry {
        let asking: Asking
        /// When it was asked for, counted over all scenes; its place in line may be an earlier one.
        let order: Int
        let scope: Scope
        let session: SessionID?
        var state = TransitionState.queued
        var completesAtGrant = false
        var gesture: GestureDecision?
        var members: [Member]
        /// What it uses to bring in what it brings in, once it is granted.
        var type: TransitionTypeName?
        /// The ways up from what it locks that nobody was in the way of when it was asked for; kept for the fault only.
        var clear: Set<[ControllerID]> = []

        var id: TransitionID { asking.id }
        var request: TransitionRequest { asking.request }
        var scene: SceneName { asking.request.scene }
        var isGranted: Bool { state != .queued }
    }

    /// A participant.
    struct Member: Hashable {
        let client: ClientName
        let isRequired: Bool
        var state = Participant.State.waiting
    }

    struct Session: Hashable {
        let id: SessionID
        let client: ClientName?
        let timeToLive: Duration
        var scenes: Set<SceneName> = []
    }

    let limits: Limits
    /// The fault: only the very same controllers are taken to conflict.
    var ignoresAncestors = false
    /// The fault: a part that nothing blocked when it was asked for is later compared with granted transitions only.
    var overlooksMoves = false

    /// The unfinished of all scenes, by their place in line.
    var line: [Entry] = []
    var scenes: [SceneName: NaiveScene] = [:]
    var sessions: [Token: Session] = [:]
    var isHoldingGrants = false
    private var lastOrder = 0
    /// The highest numbers of scenes that are forgotten.
    private var forgotten = (revision: UInt64(0), events: UInt64(0))

    // What the last command has brought about.

    var granted: [TransitionID] = []
    var endings: [(id: TransitionID, ending: NaiveEnding)] = []
    var events: [NaiveEvent] = []
    /// What should never happen.
    var contradiction: String?

    init(limits: Limits) {
        self.limits = limits
    }

    /// Follows a command that changes the durable state.
    mutating func apply(_ command: Command) {
        granted.removeAll()
        endings.removeAll()
        events.removeAll()
        switch command {
        case .start(let request, let id, let token):
            enter(Asking(request, id: id, token: token, isSerialized: false), at: line.count)
            grant(in: request.scene)
        case .serialize(let request, let id, let token, _):
            serialize(Asking(request, id: id, token: token, isSerialized: true))
        case .end(let id, _, let outcome?): end(id, as: outcome)
        case .end(_, _, nil): contradiction = "\(command) is kept"
        case .revoke(let id, let reason): finish(id, as: .revoked(reason))
        case .expire(let id, let reason): finish(id, as: .expired(reason))
        case .decide(let id, let gesture): decide(id, gesture.decision)
        case .markReady(let id, let client): markReady(id, client)
        case .settle(let id): settle(id)
        case .openSession(let client, let timeToLive, let id, let token):
            sessions[token] = Session(id: id, client: client, timeToLive: timeToLive)
        case .closeSession(let id, let ending): close(id, because: ending)
        case .declare(let scene, let storyboard, _): declare(scene, storyboard)
        case .delete(let scene, _): forget(scene)
        case .distrust(let holdsGrants): distrust(holdsGrants: holdsGrants)
        // Fences are the ledger's.
        case .skipFences: break
        case .resume:
            isHoldingGrants = false
            for scene in scenes.keys.sorted(by: { $0.description < $1.description }) { grant(in: scene) }
        case .await, .renew, .progress, .release, .ready, .renewSession, .endSession, .leave, .attach, .detach, .drain,
            .answer:
            contradiction = "\(command) is kept"
        }
    }

    /// No number that may have been told is given again.
    private mutating func distrust(holdsGrants: Bool) {
        isHoldingGrants = isHoldingGrants || holdsGrants
        for name in scenes.keys {
            scenes[name]?.events += Limits.eventJump
            scenes[name]?.revision += Limits.revisionJump
        }
        forgotten.events += Limits.eventJump
        forgotten.revision += Limits.revisionJump
    }

    // MARK: - Coming

    mutating func enter(_ asking: Asking, at index: Int) {
        let request = asking.request
        make(request.scene)
        lastOrder += 1
        scenes[request.scene]?.lastOrder = lastOrder
        if let token = request.session { sessions[token]?.scenes.insert(request.scene) }
        var entry = Entry(
            asking: asking, order: lastOrder, scope: scene(request.scene).resolvedScope(of: request),
            session: request.session.flatMap { sessions[$0]?.id },
            members: request.participants.map { Member(client: $0.client, isRequired: $0.isRequired) })
        if overlooksMoves { entry.clear = clearWays(of: entry, at: index) }
        line.insert(entry, at: index)
    }

    private mutating func serialize(_ asking: Asking) {
        let older = coalesced(asking.request)
        switch (older, asking.request.coalescing?.keep) {
        case (let older?, .latest):
            close(line[older].id, as: .superseded(by: asking.id))
            enter(asking, at: older)
        case (let older?, .first):
            let id = line[older].id
            enter(asking, at: line.count)
            close(asking.id, as: .superseded(by: id))
        case (_, nil), (nil, _):
            enter(asking, at: line.count)
        }
        grant(in: asking.request.scene)
        if self[asking.id]?.state == .queued { tell(.transition(.queued, asking.id), in: asking.request.scene) }
    }

    /// Where the older ticket stands that a new one is coalesced with.
    func coalesced(_ request: TransitionRequest) -> Int? {
        guard let key = request.coalescing?.key,
            let older = line.lastIndex(where: { other in
                other.scene == request.scene && other.asking.isSerialized && other.request.coalescing?.key == key
                    && other.state == .queued && !other.completesAtGrant && other.gesture == nil
            })
        else { return nil }
        let scene = scene(request.scene)
        let own = scene.locked(by: request, scene.resolvedScope(of: request))
        let isInTheWay = line[(older + 1)...].contains { other in
            other.scene == request.scene && (conflicts(other, own) || conflicts(other, locked(line[older])))
        }
        return isInTheWay ? nil : older
    }

    // MARK: - Scenes

    private mutating func make(_ name: SceneName) {
        guard scenes[name] == nil else { return }
        if scenes.count >= limits.scenes {
            let idle = scenes.filter { isForgettable($0.key) }
            if let oldest = idle.min(by: { $0.value.lastOrder < $1.value.lastOrder }) { forget(oldest.key) }
        }
        scenes[name] = NaiveScene(revision: forgotten.revision, events: forgotten.events)
        scenes[name]?.lastOrder = lastOrder
    }

    /// Whether nothing is in a scene, and nobody waits for anything.
    func isBare(_ name: SceneName) -> Bool {
        scene(name).tree.nodes.isEmpty && unfinished(in: name) == 0
    }

    func isForgettable(_ name: SceneName) -> Bool {
        scenes[name]?.isDeclared == false && !line.contains { $0.scene == name }
    }

    private mutating func forget(_ name: SceneName) {
        guard let scene = scenes.removeValue(forKey: name) else { return }
        forgotten.revision = max(forgotten.revision, scene.revision)
        forgotten.events = max(forgotten.events, scene.events)
        for token in sessions.keys { sessions[token]?.scenes.remove(name) }
    }

    private mutating func declare(_ name: SceneName, _ storyboard: Storyboard) {
        make(name)
        scenes[name]?.storyboard = storyboard
        scenes[name]?.tree = NaiveTree(storyboard.hierarchy)
        scenes[name]?.isDeclared = true
        scenes[name]?.revision += 1
        tell(.changed(revision: scene(name).revision, by: nil, inserted: [], removed: []), in: name)
    }

    // MARK: - Questions

    subscript(id: TransitionID) -> Entry? { line.first { $0.id == id } }

    func scene(_ name: SceneName) -> NaiveScene {
        scenes[name] ?? NaiveScene(revision: forgotten.revision, events: forgotten.events)
    }

    func locked(_ entry: Entry) -> [ControllerID]? {
        scene(entry.scene).locked(by: entry.request, entry.scope)
    }

    func conflicts(_ entry: Entry, _ controllers: [ControllerID]?) -> Bool {
        scene(entry.scene).conflict(locked(entry), controllers, ignoringAncestors: ignoresAncestors)
    }

    func unfinished(in scene: SceneName) -> Int { line.count { $0.scene == scene } }
    func queued(in scene: SceneName) -> Int { line.count { $0.scene == scene && !$0.isGranted } }

    /// Whoever comes in by what is granted in a scene, and is not there yet.
    func reserved(in name: SceneName) -> Set<ControllerID> {
        let scene = scene(name)
        var arriving: Set<ControllerID> = []
        for entry in line where entry.scene == name && entry.isGranted {
            guard let operation = entry.request.operation,
                case .done(let change) = scene.tree.outcome(of: operation, segues: scene.segues, reserved: [])
            else { continue }
            arriving.formUnion(change.tree.nodes.keys.filter { scene.tree.nodes[$0] == nil })
        }
        return arriving
    }

    /// What those who are granted in a scene lock, unless it is the whole scene.
    func held(in name: SceneName) -> [ControllerID] {
        line.filter { $0.scene == name && $0.isGranted }.flatMap { locked($0) ?? [] }
    }

    /// Whom those who wait lock or touch, and who is not there.
    func missing(in name: SceneName) -> [ControllerID] {
        let scene = scene(name)
        let locked = line.filter { $0.scene == name && !$0.isGranted }.flatMap { self.locked($0) ?? [] }
        return locked.filter { scene.tree.nodes[$0] == nil }
    }

    mutating func tell(_ kind: NaiveEvent.Kind, in name: SceneName) {
        guard scenes[name] != nil else { return }
        scenes[name]?.events += 1
        events.append(NaiveEvent(scene: name, number: scene(name).events, kind: kind))
    }
}
