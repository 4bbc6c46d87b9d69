internal import DequeModule

/// The arbiter: a value that events change, one after another.
///
/// It reads no clock, draws no random numbers and does no I/O: the same events at the same moments give the same state,
/// answers, effects and records.
///
/// Each event is a method with its own answer type. The shell runs it in a *turn*, which also does what is due, or a portion
/// of it; a replay applies records instead. A refused event changes nothing.
package struct ArbiterStateMachine: Sendable {
    package internal(set) var limits: Limits
    /// Whether hardly any room is left where the state is stored, so that nothing new is admitted.
    package var lacksStorage = false

    /// The part of the state that a replay of the journal rebuilds.
    var durable = DurableState()
    /// The part that is true only of the processes alive now, such as waiters and remaining leases.
    var momentary = MomentaryState()

    /// An arbiter that has nothing yet.
    ///
    /// - Parameters:
    ///   - limits: its limits.
    ///   - rules: those under which it begins; a replay begins under the first ones, and goes on under those of the records.
    package init(limits: Limits = Limits(), rules: Rules = .newest) {
        self.limits = limits
        durable.rules = rules
    }
}

/// The result of a turn, or of applying one record.
package struct Outcome<Answer> {
    package let answer: Result<Answer, ArbiterError>
    /// In the order in which they happened; the shell carries them out once the records are committed.
    package let effects: [Effect]
    /// What to append to the journal, in this order; empty if the durable state did not change.
    package let records: [Record]
}

/// The effects and records of a turn so far.
///
/// A step can be used for one turn after another; its arrays keep their memory.
package struct Step: Sendable {
    package private(set) var moment: Moment
    /// Words of clients that came before this instant have been heard, so what was due then is done.
    package private(set) var heardUntil: Instant
    /// How much of `Limits.portion` is left.
    fileprivate(set) var portion = Limits.portion
    /// Whether the client is there whose request is carried out.
    package private(set) var client = ClientPresence.present
    /// In the order in which they happened; the shell carries them out once the records are committed.
    package fileprivate(set) var effects: [Effect] = []
    /// What to append to the journal, in this order; empty if the durable state did not change.
    package fileprivate(set) var records: [Record] = []

    /// The most effects or records for which memory is kept.
    package static let keptCapacity = 16

    package init(moment: Moment) {
        self.moment = moment
        heardUntil = moment.instant
    }

    /// Begins the next turn.
    ///
    /// - Parameters:
    ///   - moment: the moment of the turn.
    ///   - lag: for how long words of clients may have lain unheard.
    ///   - client: whether the client is there whose request is carried out.
    package mutating func restart(at moment: Moment, lag: Duration = .zero, client: ClientPresence = .present) {
        self.moment = moment
        heardUntil = moment.instant.advanced(by: .zero - lag)
        portion = Limits.portion
        self.client = client
        effects.removeAll(keepingCapacity: effects.count <= Self.keptCapacity)
        records.removeAll(keepingCapacity: records.count <= Self.keptCapacity)
    }

    var now: Instant { moment.instant }

    /// Takes a part of the portion.
    mutating func spend(_ work: Int) { portion -= work }

    /// Adds something that the shell has to do after the commit.
    mutating func add(_ effect: Effect) { effects.append(effect) }

    /// Adds a record to the journal; each event does so at most once, before its first change.
    mutating func keep(_ record: Record) { records.append(record) }
}

// MARK: - Turns

extension ArbiterStateMachine {
    /// Does what is due, runs an event, and does what is due because of it.
    ///
    /// What is due comes first, so that a late alarm gives no client an advantage. If more is due than `Limits.portion`, the
    /// next turns do the rest (`isBehind`), and what clients say meanwhile is heard before it.
    ///
    /// - Parameters:
    ///   - step: a step that has just begun, at a moment not before that of the previous turn; gets the effects and
    ///     records of the whole turn.
    ///   - context: what the event needs besides the state machine, such as a source of ids.
    ///   - event: calls one of the event methods.
    /// - Returns: the answer of the event.
    package mutating func turn<Context, Answer>(
        in step: inout Step, with context: inout Context,
        _ event: (inout ArbiterStateMachine, inout Context, inout Step) throws(ArbiterError) -> Answer
    ) -> Result<Answer, ArbiterError> {
        doWhatIsDue(in: &step)
        let answer = run(in: &step) { machine, step throws(ArbiterError) in
            try event(&machine, &context, &step)
        }
        interruptForReconsidered(in: &step)
        doWhatIsDue(in: &step)
        return answer
    }

    /// A turn in a step of its own.
    ///
    /// - Returns: the answer of the event, and the effects and records of the whole turn.
    package mutating func turn<Context, Answer>(
        at moment: Moment, with context: inout Context,
        _ event: (inout ArbiterStateMachine, inout Context, inout Step) throws(ArbiterError) -> Answer
    ) -> Outcome<Answer> {
        var step = Step(moment: moment)
        let answer = turn(in: &step, with: &context, event)
        return Outcome(answer: answer, effects: step.effects, records: step.records)
    }

    /// Does what is due, runs an event that needs no context, and does what is due because of it.
    package mutating func turn<Answer>(
        at moment: Moment, _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) -> Outcome<Answer> {
        var context: Void = ()
        return turn(at: moment, with: &context) { machine, _, step throws(ArbiterError) in try event(&machine, &step) }
    }

    /// Runs an event, and checks that a refused one has added no effects and no records.
    mutating func run<Answer>(
        in step: inout Step, _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) -> Result<Answer, ArbiterError> {
        let before = (effects: step.effects.count, records: step.records.count)
        do throws(ArbiterError) {
            return .success(try event(&self, &step))
        } catch {
            precondition(
                step.effects.count == before.effects && step.records.count == before.records,
                "an event changed something before it was refused: \(error)")
            return .failure(error)
        }
    }
}

/// The part of the state that outlives the process.
struct DurableState: Sendable {
    /// The version of the rules under which the last record was made.
    var rules = Rules.first
    /// What is forgotten, if the journal says so.
    var retention: Retention?
    /// The unfinished transitions, and the ended ones that are still remembered.
    var transitions = Table<TransitionID, Transition>()
    var scenes = Table<SceneName, Scene>()
    /// The remembered transitions that have ended, in the order of their ends.
    private(set) var ended: Deque<Ended> = []
    /// The sum of their weights.
    private(set) var endedWeight = 0
    /// The estimated size of the state.
    var memory = MemoryUse()
    var lastOrder = RequestOrder(rawValue: 0)
    var lastFence = Fence(rawValue: 0)
    /// The number of the newest event over all scenes.
    var lastEvent = EventNumber(rawValue: 0)
    /// The last transition that was requested with each idempotency key.
    var keys: [OwnedKey: TransitionID] = [:]
    var sessions: [SessionID: Session] = [:]
    /// Lookup tables that follow from the rest of the state.
    var index = Index()
    /// Whether grants are withheld, because clients may hold leases that the journal lost.
    var isHoldingGrants = false
    /// The highest numbers of forgotten scenes; a new scene continues after them.
    var forgotten = Scene.Numbers()

    /// A transition that has ended, with what is needed to forget it.
    struct Ended: Hashable, Sendable {
        let id: TransitionID
        let at: Instant
        let weight: Int
        let bytes: Int
    }

    /// Adds a transition that has just ended to the end of `ended`.
    mutating func noteEnd(of transition: Transition, at instant: Instant) {
        let (weight, bytes) = (transition.weight, transition.endedByteCount)
        ended.append(Ended(id: transition.id, at: instant, weight: weight, bytes: bytes))
        endedWeight += weight
        memory.ended += bytes
    }

    /// Removes the transition that ended first from `ended`.
    mutating func dropFirstEnded() {
        let first = ended.removeFirst()
        endedWeight -= first.weight
        memory.ended -= first.bytes
    }

    /// Files a transition under its idempotency key, if it has one, in place of an earlier one.
    mutating func file(_ transition: Transition) {
        if let key = transition.request.ownedKey { keys[key] = transition.id }
    }

    var unfinishedCount: Int { transitions.count - ended.count }

    /// Lookup tables over the scenes, the sessions and the unfinished transitions.
    struct Index: Sendable {
        var sceneNames = SceneNames()
        var sessions: [Token: SessionID] = [:]
        /// The number of sessions of each client, for the scenes in which they count.
        var clients: [ClientName: [SceneSelection: Int]] = [:]
        /// The number of sessions with each selection of scenes; sessions share what their entry names.
        var selections: [SceneSelection: Int] = [:]
        /// What each principal has.
        var uses: [PrincipalName: Use] = [:]
        /// The unfinished transitions bound to each session.
        var bound: [SessionID: Set<TransitionID>] = [:]
        /// The sessions that have requested a transition in each scene.
        var visitors: [SceneName: Set<SessionID>] = [:]
        /// The unfinished transitions in which each client takes part.
        var participations: [ClientName: SortedLine<Participation>] = [:]
        /// The scenes in which each session has guards.
        var guards: [SessionID: Set<SceneName>] = [:]
        /// The places of the unfinished transitions with each coalescing key.
        var coalescing: [CoalescingPlace: RequestLine] = [:]
    }

    /// A transition in which a client takes part.
    struct Participation: Comparable, Sendable {
        let order: RequestOrder
        let id: TransitionID

        static func < (left: Participation, right: Participation) -> Bool { left.order < right.order }
    }

    /// What a principal has.
    struct Use: Hashable, Sendable {
        var sessions = 0
        var unfinished = 0
    }

    /// A coalescing key in a scene: only tickets of one scene and of one principal are coalesced.
    struct CoalescingPlace: Hashable, Sendable {
        let scene: SceneName
        let key: CoalescingKey
        let principal: PrincipalName?

        init(of request: TransitionRequest, _ coalescing: Coalescing) {
            scene = request.scene
            key = coalescing.key
            principal = request.principal
        }
    }
}

/// The part of the state that starts afresh with the process.
struct MomentaryState: Sendable {
    /// The momentary values of each unfinished transition.
    var attention = Table<TransitionID, Attention>()
    /// The life of each session; that of a session of a snapshot begins with `recover(at:)`.
    var lives = Table<SessionID, SessionLife>()
    /// When another process may have served last, to which clients may still believe that they are connected.
    var takenOverAt: Instant?
    /// The parked awaits.
    var waiters = Table<WaiterID, Waiter>()
    /// The tickets that are judged in this turn, because they may interrupt somebody now.
    var reconsidered: Set<TransitionID> = []
    /// The awaits that are parked for conditions on controllers.
    var observing = Observing()
    /// Since when scenes are idle, and the awaits that are parked for it.
    var idling = Idling()
    var deadlines = DeadlineQueue()
    /// Every remembered transition in request order, and some that are already forgotten.
    var requested: Deque<Requested> = []
    /// Whether the daemon is stopping: no await is parked any more.
    var isDraining = false
    /// Candidates to forget when memory is short, the first to be forgotten last; some may be in use again.
    var idleScenes: [SceneName] = []
    /// Whether a scene may have become idle since `idleScenes` was computed.
    var mayHaveIdleScenes = true

    /// An entry of `requested`, which may outlive its transition.
    struct Requested: Sendable {
        let id: TransitionID
        let order: RequestOrder
    }
}

/// The momentary values of an unfinished transition.
struct Attention: Sendable {
    /// All awaits parked on it, those of its owner and others.
    var waiters: Set<WaiterID> = []
    /// How many of them are awaits of its owner.
    var ownersWaiting = 0
    /// When it expires, while it is queued, unless its owner says something; `nil` if silence does not count.
    var silence: Instant?
    /// Whether its owner has said that it says something right after its grant.
    var claims = false
    /// Whether it was granted while nothing showed that its owner is there, and is not claimed yet.
    var isUnclaimed = false
    /// When it was granted, if it is unclaimed.
    var grantedAt: Instant?
    /// Whether an await of its owner has been answered since its interruption began.
    var knowsInterruption = false
    /// The last word of its owner.
    var heardAt: Instant
    /// The last position of the finger that drives it.
    var progress: GestureProgress?
}

/// A parked await; it is answered when its transition reaches the milestone.
struct Waiter: Sendable {
    let transition: TransitionID
    let milestone: Milestone
    let isOwner: Bool
    /// The session that it keeps alive.
    let session: SessionID?
}
