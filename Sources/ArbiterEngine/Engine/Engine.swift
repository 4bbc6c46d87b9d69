package import ArbiterCore
internal import DequeModule

/// Runs events in turns, journals their records, and releases answers once the records are committed.
///
/// The state machine decides everything, under one lock. Completions run after the lock is released, on the thread of
/// the request, of the journal or of the alarm.
package final class Engine: Sendable {
    /// Called exactly once with the answer, or never if the waiter leaves before.
    package typealias Completion = @Sendable (Result<TransitionView, EngineError>) -> Void
    /// Called exactly once with how the scene is, or never if the waiter leaves before.
    package typealias IdleCompletion = @Sendable (Result<IdleView, EngineError>) -> Void
    /// Called exactly once with whether a condition holds, or never if the waiter leaves before.
    package typealias ConditionCompletion = @Sendable (Result<ConditionView, EngineError>) -> Void
    typealias ObservationCompletion = @Sendable (Result<Observation, EngineError>) -> Void
    /// Called with events, in their order, once they are committed; must not take long.
    package typealias Listener = @Sendable ([SceneEvent]) -> Void
    /// Called with a notice for the operator once it is committed, but not in a replay; must not take long.
    package typealias Observer = @Sendable (EngineNotice) -> Void

    let state: Guarded<State>
    let recovery: JournalRecovery?
    let earlierClients: EarlierClients
    let time: any TimeSource
    let alarm: any Alarm
    /// What puts off commits.
    let rounds: any Rounds
    let listener: Listener
    let observer: Observer
    let metrics: EngineMetrics
    /// What hears clients; asked in each turn in which something is due.
    let hearing: any Hearing
    /// What shows that answers may leave, if another process may take over the journal.
    let ownership: (any Ownership)?
    /// How far the arbiter's clock is ahead of `time`; negative if it is behind.
    let offset: Duration

    struct State {
        var machine: ArbiterStateMachine
        var access: JournalAccess
        /// What records are made under, as far as the engine is told; the machine may be under newer rules already.
        var terms: Terms
        private(set) var life = Life.serving
        var identities: Identities
        /// The completions of the parked waiters.
        var parked: [WaiterID: Parked] = [:]
        /// The completions of the waiters that are parked for a state of a scene.
        var observers: [WaiterID: ObservationCompletion] = [:]
        /// The completions of the requests that end a session, where that takes several turns.
        var leavers: [SessionID: [Answer<SessionView>]] = [:]
        var lastSequence: UInt64 = 0
        var committedSequence: UInt64 = 0
        /// The number of the current turn.
        var turn: UInt64 = 0
        /// The last turn for which it is shown that no other process had taken over the journal.
        var shownTurn: UInt64 = 0
        /// The deliveries that wait for a commit or for a proof of ownership, in order.
        var withheld: Deque<Withheld> = []
        /// The step of the current turn, and the events that it publishes; kept, so that they keep their memory.
        var step = Step(moment: Moment(instant: Instant(nanoseconds: 0), timestamp: Timestamp(milliseconds: 0)))
        var events: [SceneEvent] = []
        /// The instants for which an alarm is set, the next one last.
        var alarms: [Instant] = []

        var journal: any Journal { access.journal }

        /// Why the journal cannot be used now.
        var failure: JournalError? { access.failure }

        /// Goes on to a later part of its life; it never goes back.
        mutating func advance(to life: Life) { self.life = max(self.life, life) }

        /// The journal, if it has records that are not committed, and so has to be flushed.
        var gathering: (any Journal)? { committedSequence < lastSequence && failure == nil ? journal : nil }

        /// Withholds a delivery until the newest record, on which it may depend, is committed.
        ///
        /// - Parameters:
        ///   - delivery: the delivery.
        ///   - isPatient: whether its client has waited for it in any case.
        ///   - hasRecorded: whether its request has made records, or may have.
        mutating func withhold(_ delivery: Delivery, isPatient: Bool = false, hasRecorded: Bool = true) {
            withheld.append(
                Withheld(
                    sequence: lastSequence, turn: turn, delivery: delivery, isPatient: isPatient,
                    hasRecorded: hasRecorded))
        }

        /// Whether something is withheld only because ownership is not shown for it.
        var lacksProof: Bool {
            guard failure == nil, let next = withheld.first else { return false }
            return next.sequence <= committedSequence && next.turn > shownTurn
        }
    }

    /// How far an engine has come.
    enum Life: Int, Comparable {
        case serving
        /// No await may park any more, also after the journal was opened again.
        case draining
        /// It has been stopped, or another process goes on.
        case over

        static func < (first: Life, second: Life) -> Bool { first.rawValue < second.rawValue }
    }

    /// An event that cannot be missed, because nobody tells of it again.
    typealias MissedEvent = @Sendable (inout ArbiterStateMachine, inout Step) -> Void

    /// A delivery that has to wait.
    struct Withheld {
        /// The last record that it may depend on.
        let sequence: UInt64
        /// The turn in which it was computed.
        let turn: UInt64
        let delivery: Delivery
        /// Whether it is the answer of a request that was parked.
        let isPatient: Bool
        /// Whether its request has made records, or may have.
        let hasRecorded: Bool
    }

    /// A waiter that is parked.
    struct Parked {
        let completion: Completion
        /// Whether its request has made records, or may have.
        let hasRecorded: Bool
    }

    /// The answers that a turn gives, to be delivered after the lock is released.
    struct Answers {
        /// Those to requests that were parked, with whether these have made records.
        var woken: [(delivery: Delivery, hasRecorded: Bool)] = []
        /// That to the request that the turn carried out.
        var own: Delivery?

        func deliver() {
            for (delivery, _) in woken { delivery.deliver(unless: nil) }
            own?.deliver(unless: nil)
        }
    }

    /// An answer, events or a notice, to be delivered once the records before it are committed.
    enum Delivery: Sendable {
        case transition(Completion, Result<TransitionView, EngineError>)
        case observation(ObservationCompletion, Result<Observation, EngineError>)
        case events([SceneEvent])
        case notice(EngineNotice)
        /// An answer that is not a transition; called with the reason if it is not given.
        case answer(@Sendable (EngineError?) -> Void)

        var isAnswer: Bool {
            switch self {
            case .transition, .observation, .answer: true
            case .events, .notice: false
            }
        }

        /// Delivers an answer, or the reason why there is none; events and notices are announced elsewhere.
        func deliver(unless failure: EngineError?) {
            switch self {
            case .transition(let completion, let result): completion(failure.map { .failure($0) } ?? result)
            case .observation(let completion, let result): completion(failure.map { .failure($0) } ?? result)
            case .events, .notice: break
            case .answer(let tell): tell(failure)
            }
        }
    }

    /// Rebuilds the state from the journal and starts to work.
    ///
    /// If the journal may lack its last records, numbers jump, and nothing is granted until the longest possible lease
    /// has run out. Grants are not withheld if `earlierClients` are gone: none at all, or all with the machine that died.
    ///
    /// The listener gets the replayed events too, so that event streams can be resumed after a restart.
    ///
    /// With `ahead`, the journal goes on behind what was replayed before, whose events the listener does not get.
    ///
    /// If the journal fails later, `recovery` says how to continue; without it all further requests are refused.
    ///
    /// If the journal is behind `terms`, the first record adopts them.
    ///
    /// Nothing ends for silence as long as words of clients may lie unheard, by what `hearing` says.
    ///
    /// `alarm` may ring on a thread that serves connections. A journal that has failed is opened again elsewhere, by
    /// `recovery`'s alarm.
    ///
    /// - Throws: `JournalError` if the journal cannot be read.
    package init(
        limits: Limits = Limits(),
        journal: any Journal,
        ahead: JournalReplay? = nil,
        terms: Terms = Terms(),
        recovery: JournalRecovery? = nil,
        earlierClients: EarlierClients = .anywhere,
        time: any TimeSource = SystemTimeSource(),
        hearing: any Hearing = ImmediateHearing(),
        alarm: any Alarm = SystemAlarm(),
        rounds: any Rounds = NoRounds(),
        random: any RandomNumberGenerator & Sendable = SystemRandom(),
        metrics: EngineMetrics = EngineMetrics(),
        listener: @escaping Listener = { _ in },
        observer: @escaping Observer = { _ in }
    ) throws(JournalError) {
        var replayed = try JournalReplay.of(journal, limits: limits, ahead: ahead, listener: listener)
        // The arbiter's clock continues from the last record, which after a clean stop is that of the stop. It stands
        // still while no daemon runs, and the machine's clock may have been reset, or be that of another machine.
        let begun = time.now().instant
        offset = replayed.moment.map { begun.duration(to: $0.instant) } ?? .zero
        replayed.machine.recover(at: begun.advanced(by: offset), hasTakenOver: journal.ownership != nil)
        let (sequence, ending) = (replayed.sequence, replayed.ending)
        state = Guarded(
            State(
                machine: replayed.machine, access: JournalAccess(journal), terms: terms, identities: Identities(random),
                lastSequence: sequence, committedSequence: sequence))
        self.recovery = recovery
        self.earlierClients = earlierClients
        self.time = time
        self.alarm = alarm
        self.rounds = rounds
        self.listener = listener
        self.observer = observer
        self.metrics = metrics
        self.hearing = hearing
        ownership = journal.ownership
        ownership?.begin { [weak self] in self?.noteShown($0) }
        journal.begin { [weak self] in self?.committed($0, in: 0) }
        let answers = state.withLock { state in makeUp(for: ending, in: &state) }
        for answer in answers { answer.deliver() }
        journal.flush()
    }

    /// Commits all records and stops; requests that are not answered yet, and all later ones, are refused.
    package func stop() {
        let journal = state.withLock { state in
            if state.life < .over, state.failure == nil, state.lastSequence > 0 {
                state.step.restart(at: now())
                _ = state.machine.apply(.stop, in: &state.step, under: state.machine.rules)
                _ = finish(&state)
            }
            state.advance(to: .over)
            return state.journal
        }
        journal.close()
        lose(JournalError(.closed, reason: "The daemon has stopped; ask its successor."))
    }
}

extension JournalError {
    /// The answer to a request because of the failure.
    ///
    /// If another process takes over, this engine is discarded. So nothing is left of a request that has made no
    /// records.
    func meaning(hasRecorded: Bool) -> EngineError {
        kind == .notOwner && !hasRecorded ? .notOwner(self) : .journalUnavailable(self)
    }
}

/// What an operator has to know.
package enum EngineNotice: Sendable {
    case happened(Notice)
    /// A request was refused for lack of room.
    case refused(ArbiterError, scene: SceneName?, client: ClientName?)
}

/// Why the engine has no answer.
package enum EngineError: Error, Hashable, Sendable {
    /// The arbiter refused, and nothing has changed.
    case refused(ArbiterError)
    /// Another process has taken over the journal, and nothing of the request was carried out.
    case notOwner(JournalError)
    /// The journal has failed, so the request may or may not have been carried out.
    case journalUnavailable(JournalError)
}
