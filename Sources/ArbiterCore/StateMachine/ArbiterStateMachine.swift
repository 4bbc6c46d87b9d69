internal import DequeModule

/// The arbiter: a value that commands change, one after the other.
///
/// It reads no clock, draws no random number and does no I/O: the same commands at the same moments give the same
/// state, replies and effects.
package struct ArbiterStateMachine: Sendable {
    package internal(set) var limits: Limits

    /// What a replay of the journal rebuilds.
    var durable = DurableState()
    /// What is true only of the processes alive now: who waits, and since when a lease runs.
    var momentary = MomentaryState()

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Applies one command.
    ///
    /// A command that is refused changes nothing.
    package mutating func apply(_ command: Command, at moment: Moment) -> Outcome {
        var step = Step(moment: moment)
        do throws(ArbiterError) {
            let reply = try perform(command, in: &step)
            let record = step.isDurable ? step.record ?? command.kept : nil
            return Outcome(reply: .success(reply), effects: step.effects, record: record)
        } catch {
            precondition(
                step.effects.isEmpty && !step.isDurable, "refused after it had changed something: \(command)")
            return Outcome(reply: .failure(error), effects: [], record: nil)
        }
    }

    private mutating func perform(_ command: Command, in step: inout Step) throws(ArbiterError) -> Reply {
        switch command {
        case .start(let request, let id, let token):
            try start(request, id: id, token: token, in: &step)
        case .serialize(let request, let id, let token, let park):
            try serialize(request, id: id, token: token, park: park, in: &step)
        case .await(let id, let token, let milestone, let park):
            try wait(on: id, token: token, until: milestone, park: park, in: &step)
        case .end(let id, let token, let outcome):
            try end(id, token: token, as: outcome, in: &step)
        case .revoke(let id, let reason):
            try revoke(id, because: reason, in: &step)
        case .renew(let id, let token):
            try renew(id, token: token, in: &step)
        case .progress(let id, let token, let progress):
            try self.progress(id, token: token, progress, in: &step)
        case .release(let id, let token, let release):
            try self.release(id, token: token, release, in: &step)
        case .decide(let id, let gesture):
            decide(id, gesture, in: &step)
        case .ready(let id, let client, let session):
            try ready(id, client: client, session: session, in: &step)
        case .markReady(let id, let client):
            markReady(id, client: client, in: &step)
        case .settle(let id):
            settle(id, in: &step)
        case .openSession, .renewSession, .endSession, .attach, .detach, .closeSession:
            try performOnSession(command, in: &step)
        case .declare(let scene, let storyboard, let revision):
            try declare(scene, storyboard, ifMatch: revision, in: &step)
        case .delete(let scene, let revision):
            try delete(scene, ifMatch: revision, in: &step)
        case .leave(let waiter):
            leave(waiter, in: &step)
        case .drain:
            drain(in: &step)
        case .expire(let id, let reason):
            expire(id, because: reason, in: &step)
        case .answer(let waiter):
            answer(waiter, in: &step)
        case .distrust(let holdsGrants):
            distrust(holdsGrants: holdsGrants, in: &step)
        case .skipFences:
            skipFences(in: &step)
        case .resume:
            resume(in: &step)
        }
    }
}

/// What one command has brought about so far.
struct Step {
    let moment: Moment
    var effects: [Effect] = []
    var isDurable = false
    /// What the command came to, where replaying it as it was given would need what is not kept.
    var record: Command?

    var now: Instant { moment.instant }
}

/// The part of the state that outlives the process.
struct DurableState: Sendable {
    /// Every transition that is remembered, by id.
    var transitions: [TransitionID: Transition] = [:]
    var scenes: [SceneName: Scene] = [:]
    /// The ended ones and when, in the order they ended.
    private(set) var ended: Deque<Ended> = []
    /// What they weigh together.
    private(set) var endedWeight = 0
    /// What all of it takes.
    var memory = MemoryUse()
    var lastOrder = RequestOrder(rawValue: 0)
    var lastFence = Fence(rawValue: 0)
    /// The newest event of all scenes.
    var lastEvent = EventNumber(rawValue: 0)
    /// Which transition each idempotency key has made.
    var keys: [IdempotencyKey: TransitionID] = [:]
    var sessions: [SessionID: Session] = [:]
    /// What follows from the rest, to find it at once.
    var index = Index()
    /// Nothing is granted, because leases may be held that are not known.
    var isHoldingGrants = false
    /// The highest numbers of scenes that are forgotten: whoever comes after them goes on from there.
    var forgotten = Scene.Numbers()

    /// A transition that is over.
    struct Ended: Hashable, Sendable {
        let id: TransitionID
        let at: Instant
        let weight: Int
        let bytes: Int
    }

    /// Lists a transition that is over behind those that were so before.
    mutating func noteEnd(of transition: Transition, at instant: Instant) {
        let (weight, bytes) = (transition.weight, transition.endedByteCount)
        ended.append(Ended(id: transition.id, at: instant, weight: weight, bytes: bytes))
        endedWeight += weight
        memory.ended += bytes
    }

    /// Strikes the one that ended first off the list.
    mutating func dropFirstEnded() {
        let first = ended.removeFirst()
        endedWeight -= first.weight
        memory.ended -= first.bytes
    }

    var unfinishedCount: Int { transitions.count - ended.count }

    /// What follows from the scenes, the sessions and the unfinished transitions.
    struct Index: Sendable {
        var sceneNames = SceneNames()
        var sessions: [Token: SessionID] = [:]
        /// How many sessions live under each client's name.
        var clients: [ClientName: Int] = [:]
        var bound: [SessionID: Set<TransitionID>] = [:]
        /// Who has asked for anything in a scene that is known.
        var visitors: [SceneName: Set<SessionID>] = [:]
        var participations: [ClientName: Set<TransitionID>] = [:]
        /// The serialized ones that may be coalesced.
        var coalescing: [CoalescingPlace: Set<TransitionID>] = [:]
    }

    /// Where tickets with a key are.
    struct CoalescingPlace: Hashable, Sendable {
        let scene: SceneName
        let key: CoalescingKey
    }
}

/// The part of the state that a restart begins afresh.
struct MomentaryState: Sendable {
    /// How each unfinished transition is looked after.
    var attention: [TransitionID: Attention] = [:]
    /// How many connections each session lives by.
    var attachments: [SessionID: Int] = [:]
    var waiters: [WaiterID: Waiter] = [:]
    var deadlines = DeadlineQueue()
    /// Every remembered transition in request order, and some that are forgotten.
    var requested: Deque<Requested> = []
    var isDraining = false
    /// Scenes to forget if room gets short, the first to go last; some may have come into use.
    var idleScenes: [SceneName] = []
    /// Whether a scene may have become idle since these were found.
    var mayHaveIdleScenes = true

    /// A transition in request order, which stays known when the transition is forgotten.
    struct Requested: Sendable {
        let id: TransitionID
        let order: RequestOrder
    }
}

/// How an unfinished transition is looked after.
struct Attention: Sendable {
    /// Everyone parked on it, its owner or not.
    var waiters: Set<WaiterID> = []
    /// How many of them are its owner.
    var ownersWaiting = 0
    /// Its turn came while nobody was looking, and nobody has come for it yet.
    var isUnclaimed = false
    /// Where the finger is that drives it.
    var progress: GestureProgress?
}

/// A parked await.
struct Waiter: Sendable {
    let transition: TransitionID
    let milestone: Milestone
    let isOwner: Bool
}
