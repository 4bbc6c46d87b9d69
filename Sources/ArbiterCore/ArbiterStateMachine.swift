internal import DequeModule

/// The arbiter: a value that commands change, one after the other.
///
/// It reads no clock, draws no random number and does no I/O: the same commands at the same moments give the same
/// state, replies and effects.
package struct ArbiterStateMachine: Sendable {
    package let limits: Limits

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
            return Outcome(reply: .success(reply), effects: step.effects, isDurable: step.isDurable)
        } catch {
            precondition(
                step.effects.isEmpty && !step.isDurable, "refused after it had changed something: \(command)")
            return Outcome(reply: .failure(error), effects: [], isDurable: false)
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
        case .renew(let id, let token):
            try renew(id, token: token, in: &step)
        case .declare(let scene, let storyboard, let revision):
            try declare(scene, storyboard, ifMatch: revision, in: &step)
        case .delete(let scene):
            try delete(scene, in: &step)
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

    var now: Instant { moment.instant }
}

/// The part of the state that outlives the process.
struct DurableState: Sendable {
    /// Every transition that is remembered, by id.
    var transitions: [TransitionID: Transition] = [:]
    var scenes: [SceneName: Scene] = [:]
    /// The ended ones and when, in the order they ended.
    var ended: Deque<Ended> = []
    var lastOrder = RequestOrder(rawValue: 0)
    var lastFence = Fence(rawValue: 0)
    /// Which transition each idempotency key has made.
    var keys: [IdempotencyKey: TransitionID] = [:]
    /// Nothing is granted, because leases may be held that are not known.
    var isHoldingGrants = false
    /// The highest numbers of scenes that are forgotten: whoever comes after them goes on from there.
    var forgotten = Scene.Numbers()

    /// A transition that is over.
    struct Ended: Hashable, Sendable {
        let id: TransitionID
        let at: Instant
    }

    var unfinishedCount: Int { transitions.count - ended.count }
}

/// The part of the state that a restart begins afresh.
struct MomentaryState: Sendable {
    /// How each unfinished transition is looked after.
    var attention: [TransitionID: Attention] = [:]
    var waiters: [WaiterID: Waiter] = [:]
    var deadlines = DeadlineQueue()
    /// Every remembered transition in request order, and some that are forgotten.
    var requested: Deque<TransitionID> = []
    var isDraining = false
}

/// How an unfinished transition is looked after.
struct Attention: Sendable {
    /// Everyone parked on it, its owner or not.
    var waiters: Set<WaiterID> = []
    /// How many of them are its owner.
    var ownersWaiting = 0
    /// Its turn came while nobody was looking, and nobody has come for it yet.
    var isUnclaimed = false
}

/// A parked await.
struct Waiter: Sendable {
    let transition: TransitionID
    let milestone: Milestone
    let isOwner: Bool
}
