package import ArbiterCore

/// The rules of the arbiter in their plainest form, to be compared with the real state machine.
///
/// *A transition is granted as soon as every conflicting one that is granted, or stands before it in the line, has ended.*
package struct NaiveOracle {
    package struct Entry {
        package let asking: Asking
        /// The order of its request over all scenes.
        package let order: Int
        package let priority: Int
        /// The order from which it counts among those of its priority: its own, or that of a ticket which it replaced.
        let since: Int
        package fileprivate(set) var scope: Scope
        /// The names of which it got one.
        var offered: [ControllerID]?
        package let session: SessionID?
        /// Whether it may be interrupted: what it says, or its scene when it was asked for.
        let consent: Consent?
        /// How many had been granted when it was asked for, or when a ticket was that it replaced, over all scenes.
        let grantsWhenAsked: Int
        /// Which grant it got.
        var grantNumber: Int?
        package var interruption: Interruption?
        package var state = TransitionState.queued
        /// Whether its owner has ended it before it could run.
        package var hasRememberedEnd = false
        /// The condition because of which it is set aside.
        package var unmet: ArbiterCore.Expectation?
        /// Whether another transition has waited for it since its grant.
        package var isContended = false
        package var gesture: GestureDecision?
        /// The operation that it was given while it ran.
        package var performed: Operation?
        package var members: [Member]
        /// What its owner has changed of its animation.
        package var update: AnimationUpdate?
        /// The transition type of what it inserts, once it is granted.
        package var type: TransitionTypeName?
        /// The lineages that were free of conflicts at the request; used by the fault `overlooksMoves` only.
        var clear: Set<[ControllerID]> = []

        package var id: TransitionID { asking.id }
        /// What was asked for, with the operation that it was given since.
        package var request: TransitionRequest {
            guard let performed else { return asking.request }
            var request = asking.request
            request.operation = performed
            return request
        }
        package var scene: SceneName { asking.request.scene }
        package var isGranted: Bool { state != .queued }
        package var isShared: Bool { asking.request.mode == .shared }

        /// Takes one of several names.
        mutating func choose(_ name: ControllerID) {
            if case .anyOf(let names) = scope { offered = names }
            scope = .controllers([name])
        }
    }

    /// A participant.
    package struct Member: Hashable {
        package let client: ClientName
        package let isRequired: Bool
        package let mayVeto: Bool
        /// The guard because of which it is asked.
        package var asked: Participant.Asked?
        package var state = Participant.State.waiting
    }

    package struct Session: Hashable {
        package let id: SessionID
        package let client: ClientName?
        package let timeToLive: Duration
        package var scenes: Set<SceneName> = []
    }

    package let limits: Limits
    /// A planted fault: controllers conflict only if they are the same, not if one is above the other.
    package var ignoresAncestors = false
    /// A planted fault: a part that was free of conflicts at the request is later compared with granted ones only.
    package var overlooksMoves = false
    /// A planted fault: no transition waits for what an earlier one brings in.
    package var ignoresArrivals = false
    /// A planted fault: a grant that is not claimed ends alone.
    package var forgetsRows = false
    /// A planted fault: a transition does not wait for a granted one of a lower priority.
    package var overtakesGrants = false
    /// A planted fault: priorities do not count.
    package var ignoresPriorities = false
    /// A planted fault: a ticket interrupts what it may, also if it could not be granted then.
    package var interruptsForNothing = false
    /// A planted fault: a ticket that is set aside keeps others waiting.
    package var asideBlocks = false
    /// A planted fault: the last operation of a list is not applied.
    package var appliesListsInPart = false
    /// A planted fault: a column of a collapsed split that is popped is removed.
    package var losesColumns = false
    /// A planted fault: only those are asked whose guarded controller is the one that an operation names.
    package var overlooksGuards = false
    /// A planted fault: a shared transition runs beside exclusive ones.
    package var sharesWithAll = false
    /// A planted fault: one that got one of several names keeps the others.
    package var keepsNames = false

    /// The unfinished transitions of all scenes: a higher priority comes first, and among equals the earlier request.
    package var line: [Entry] = []
    package var scenes: [SceneName: NaiveScene] = [:]
    package var sessions: [Token: Session] = [:]
    package var isHoldingGrants = false
    private var lastOrder = 0
    /// How many have been granted.
    var grants = 0
    /// The waiting tickets that may be judged again because of the records since this was emptied.
    package var reconsidered: Set<TransitionID> = []
    /// The ticket that the record makes.
    var asker: TransitionID?
    /// The newest event of all scenes.
    private var lastEvent: UInt64 = 0
    /// The highest numbers of forgotten scenes.
    private var forgotten = (revision: UInt64(0), events: UInt64(0))

    // The effects of the last record.

    package var granted: [TransitionID] = []
    package var endings: [(id: TransitionID, ending: NaiveEnding)] = []
    /// Those that have ended, each with its scene as it was before.
    package var departures: [(scene: NaiveScene, entry: Entry)] = []
    package var events: [NaiveEvent] = []
    /// Describes something that the rules do not allow; `nil` as long as nothing of the kind has happened.
    package var contradiction: String?

    package init(limits: Limits) {
        self.limits = limits
    }

    /// Applies a record to the oracle's state.
    package mutating func apply(_ record: Record) {
        forgetStep()
        switch record {
        case .start(let request, let id, let token):
            enter(Asking(request, id: id, token: token, isSerialized: false))
            settle(request.scene)
        case .serialize(let request, let id, let token):
            serialize(Asking(request, id: id, token: token, isSerialized: true))
        case .end(let id, _, let outcome): end(id, as: outcome)
        case .revoke(let id, let revocation): finish(id, as: .revoked(revocation))
        case .revokeAll(let scene, let client, let principal, let revocation):
            let all =
                line.filter { $0.scene == scene && $0.unmet == nil }
                + line.filter { $0.scene == scene && $0.unmet != nil }
            for entry in all where client == nil || entry.request.client == client {
                if principal == nil || entry.request.principal == principal {
                    close(entry.id, as: .revoked(revocation))
                }
            }
            settle(scene)
        case .update(let id, let update):
            guard let index = line.firstIndex(where: { $0.id == id }) else { return }
            line[index].update = update.following(line[index].update)
            if line[index].isGranted { tell(.transition(.updated, id), in: line[index].scene) }
        case .expire(let id, let reason):
            let unmet = reason == .queueTimeout ? self[id]?.unmet : nil
            finish(id, as: unmet.map { .expectationFailed($0) } ?? .expired(reason))
        case .expireUnclaimed(let ids):
            let scene = ids.first.flatMap { self[$0]?.scene }
            for id in ids { close(id, as: .expired(.unclaimed)) }
            if let scene { settle(scene) }
        case .decide(let id, let gesture): decide(id, gesture.decision)
        case .perform(let id, let operation): perform(id, operation)
        case .interrupt(let id): interrupt(for: id)
        case .endInterrupted(let id): endInterrupted(id)
        case .markReady(let id, let client): markReady(id, client)
        case .answerGuards(let id, let session): answerGuards(of: id, in: session)
        case .addGuard(let scene, let new): add(new, to: scene)
        case .removeGuard(let scene, let id): removeGuards(of: scene) { $0.id == id }
        case .veto(let id, let client, let reason): veto(id, client, reason)
        case .markGone(let id, let client): part(client, from: id)
        case .timeOutParticipants(let id): timeOutParticipants(of: id)
        case .openSession(let client, let timeToLive, let id, let token, _):
            sessions[token] = Session(id: id, client: client, timeToLive: timeToLive)
        case .endSession(let id, let ending): end(id, because: ending)
        case .declare(let scene, let storyboard): declare(scene, storyboard)
        case .patch(let scene, let patch):
            guard let patched = self.scene(scene).patched(by: patch) else {
                contradiction = "\(scene) is patched with what is not possible"
                return
            }
            scenes[scene]?.storyboard = patched
            scenes[scene]?.patches += 1
            settle(scene)
        case .delete(let scene):
            for entry in line where entry.scene == scene { close(entry.id, as: .sceneGone) }
            forget(scene)
        case .distrust(let holdsGrants): distrust(holdsGrants: holdsGrants)
        // The ledger checks fences, and what is remembered.
        case .adopt, .skipFences, .stop: break
        case .resume:
            isHoldingGrants = false
            for scene in scenes.keys.sorted(by: { $0.description < $1.description }) { settle(scene) }
            reconsidered.formUnion(line.filter { !$0.isGranted && $0.request.interrupts }.map(\.id))
        }
    }

    /// Skips the numbers that may have been sent.
    private mutating func distrust(holdsGrants: Bool) {
        isHoldingGrants = isHoldingGrants || holdsGrants
        for name in scenes.keys {
            scenes[name]?.events += Limits.eventJump
            scenes[name]?.revision += Limits.revisionJump
        }
        forgotten.events += Limits.eventJump
        forgotten.revision += Limits.revisionJump
        lastEvent += Limits.eventJump
        for name in scenes.keys.sorted(by: { $0.description < $1.description }) {
            judge(name)
            settle(name)
        }
    }

    // MARK: - New transitions

    /// Adds a transition, which may count from the order of one that it replaced.
    private mutating func enter(_ asking: Asking, insteadOf replaced: Entry? = nil) {
        let request = asking.request
        make(request.scene)
        lastOrder += 1
        scenes[request.scene]?.lastOrder = lastOrder
        if let token = request.session { visit(request.scene, by: token) }
        var entry = Entry(
            asking: asking, order: lastOrder, priority: priority(of: request), since: replaced?.since ?? lastOrder,
            scope: scene(request.scene).resolvedScope(of: request),
            session: request.session.flatMap { sessions[$0]?.id }, consent: scene(request.scene).consent(of: request),
            grantsWhenAsked: replaced?.grantsWhenAsked ?? grants,
            members: request.participants.map { Member($0) })
        let index = index(since: entry.since, priority: entry.priority)
        if overlooksMoves { entry.clear = clearWays(of: entry, at: index) }
        line.insert(entry, at: index)
    }

    /// A session is known in so many scenes, and leaves the one used longest ago.
    mutating func visit(_ scene: SceneName, by token: Token) {
        sessions[token]?.scenes.insert(scene)
        guard let visited = sessions[token]?.scenes, visited.count > Limits.scenesOfSession else { return }
        let oldest = visited.min { self.scene($0).lastOrder < self.scene($1).lastOrder }
        if let oldest { sessions[token]?.scenes.remove(oldest) }
    }

    private mutating func serialize(_ asking: Asking) {
        let older = coalesced(asking.request).map { line[$0].id }
        switch (older.first, asking.request.coalescing?.keep) {
        case (let first?, .latest):
            let replaced = self[first]
            for id in older { close(id, as: .superseded(by: asking.id)) }
            enter(asking, insteadOf: replaced)
        case (let first?, .first):
            enter(asking)
            close(asking.id, as: .superseded(by: first))
        case (_, nil), (nil, _):
            enter(asking)
        }
        self.asker = asking.id
        grant(in: asking.request.scene)
        self.asker = nil
        let victims = victims(of: asking.id)
        if self[asking.id]?.state == .queued, victims.map(isKeptWaiting) ?? true {
            tell(.transition(.queued, asking.id), in: asking.request.scene)
        }
        if let victims {
            interrupt(victims, for: asking.id)
            grant(in: asking.request.scene)
        }
        tellContention(in: asking.request.scene)
    }

    // MARK: - Scenes

    mutating func make(_ name: SceneName) {
        guard scenes[name] == nil else { return }
        if scenes.count >= limits.scenes {
            let idle = scenes.filter { isForgettable($0.key) }
            if let oldest = idle.min(by: { $0.value.lastOrder < $1.value.lastOrder }) { forget(oldest.key) }
        }
        scenes[name] = NaiveScene(revision: forgotten.revision, events: forgotten.events)
        scenes[name]?.lastOrder = lastOrder
    }

    /// Whether a scene has no controllers and no unfinished transitions.
    package func isBare(_ name: SceneName) -> Bool {
        scene(name).tree.nodes.isEmpty && unfinished(in: name) == 0
    }

    package func isDeclared(_ name: SceneName) -> Bool { scenes[name]?.isDeclared ?? false }

    package func isForgettable(_ name: SceneName) -> Bool {
        scenes[name].map { !$0.isDeclared && $0.tree.nodes.isEmpty && $0.guards.isEmpty } == true
            && !line.contains { $0.scene == name }
    }

    private mutating func forget(_ name: SceneName) {
        tell(.sceneDeleted, in: name)
        guard let scene = scenes.removeValue(forKey: name) else { return }
        forgotten.revision = max(forgotten.revision, scene.revision)
        // The number after the deletion stays unused.
        forgotten.events = max(forgotten.events, scene.events + 1)
        for token in sessions.keys { sessions[token]?.scenes.remove(name) }
    }

    private mutating func declare(_ name: SceneName, _ storyboard: Storyboard) {
        make(name)
        scenes[name]?.storyboard = storyboard
        scenes[name]?.tree = NaiveTree(storyboard.hierarchy)
        scenes[name]?.isDeclared = true
        scenes[name]?.patches = 0
        scenes[name]?.revision += 1
        tell(.changed(revision: scene(name).revision, by: nil, inserted: [], removed: []), in: name)
        judge(name)
        settle(name)
    }

    // MARK: - Questions

    package subscript(id: TransitionID) -> Entry? { line.first { $0.id == id } }

    package func scene(_ name: SceneName) -> NaiveScene {
        scenes[name] ?? NaiveScene(revision: forgotten.revision, events: forgotten.events)
    }

    /// Expects an event of a scene.
    package mutating func tell(_ kind: NaiveEvent.Kind, in name: SceneName) {
        guard scenes[name] != nil else { return }
        scenes[name]?.events += 1
        lastEvent += 1
        events.append(NaiveEvent(scene: name, number: scene(name).events, overall: lastEvent, kind: kind))
    }
}
