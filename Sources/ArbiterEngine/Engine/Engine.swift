package import ArbiterCore
internal import DequeModule

/// Gives commands their order and their time, has them journalled, and lets answers go once they are committed.
///
/// Everything is decided by the state machine, under one lock; completions run after the lock is released, on the
/// thread that submitted the command, on the journal's, or on the alarm's.
package final class Engine: Sendable {
    /// Called exactly once with the answer, unless the waiter leaves before.
    package typealias Completion = @Sendable (Result<TransitionView, EngineError>) -> Void
    /// Called with what happened, in the order it did, once it is committed; must not take long.
    package typealias Listener = @Sendable ([SceneEvent]) -> Void
    /// Called with what an operator has to know, once it is committed, but for what is replayed; must not take long.
    package typealias Observer = @Sendable (EngineNotice) -> Void

    let state: Guarded<State>
    let recovery: JournalRecovery?
    let trustsLeasesOver: Bool
    let time: any TimeSource
    let alarm: any Alarm
    let listener: Listener
    let observer: Observer
    /// How far the arbiter's clock is ahead of `time`.
    let lag: Duration

    struct State {
        var machine: ArbiterStateMachine
        var journal: any Journal
        /// How often the engine has taken up its work; what an earlier journal tells is of no interest any more.
        var era = 0
        /// Before the last try to take up the work again; `nil` once something has been committed since.
        var pause: Duration?
        /// The engine has been stopped.
        var isOver = false
        var random = RandomSource()
        var lastWaiter: UInt64 = 0
        /// Who waits for a `wake`.
        var parked: [WaiterID: Completion] = [:]
        var lastSequence: UInt64 = 0
        var committedSequence: UInt64 = 0
        /// What may be said once its sequence is committed, in that order.
        var withheld: Deque<(sequence: UInt64, delivery: Delivery)> = []
        /// When the alarm will ring, the next time last.
        var alarms: [Instant] = []
        var failure: JournalError?

        mutating func unusedID() -> TransitionID {
            var id = TransitionID(rawValue: random.next())
            while machine.isInUse(id) { id = TransitionID(rawValue: random.next()) }
            return id
        }

        mutating func unusedSessionID() -> SessionID {
            var id = SessionID(rawValue: random.next())
            while machine.isInUse(id) { id = SessionID(rawValue: random.next()) }
            return id
        }

        mutating func token() -> Token {
            Token(high: random.next(), low: random.next())
        }
    }

    /// Something to be said once it is committed.
    enum Delivery: Sendable {
        case answer(Completion, Result<TransitionView, ArbiterError>)
        case events([SceneEvent])
        case notice(EngineNotice)
        case reading(@Sendable (JournalError?) -> Void)

        /// Says it, or that nobody knows whether it lasts.
        func deliver(unless failure: JournalError?) {
            switch self {
            case .answer(let completion, let result): completion(Engine.told(result, unless: failure))
            case .events, .notice: break
            case .reading(let tell): tell(failure)
            }
        }
    }

    /// Rebuilds the state from the journal, and takes up its work.
    ///
    /// Where the journal may lack its last records, fences jump, and nothing is granted until the longest lease that
    /// could be missing is over, unless `trustsLeasesOver` says that no client of then is left.
    ///
    /// The listener is told of what is replayed as well, so that whoever follows a scene can go on where it was.
    ///
    /// Should the journal fail, `recovery` says how to go on; without it everybody is refused from then on.
    ///
    /// - Throws: `JournalError` if the journal cannot be read.
    package init(
        limits: Limits = Limits(),
        journal: any Journal,
        recovery: JournalRecovery? = nil,
        trustsLeasesOver: Bool = false,
        time: any TimeSource = SystemTimeSource(),
        alarm: any Alarm = SystemAlarm(),
        listener: @escaping Listener = { _ in },
        observer: @escaping Observer = { _ in }
    ) throws(JournalError) {
        var replayed = try JournalReplay.of(journal, limits: limits, listener: listener)
        // The machine's clock may have begun anew; the arbiter's goes on. Where it has not, it is ahead, since it does not
        // stand still.
        let begun = time.now().instant
        lag = max(.zero, replayed.moment.map { begun.duration(to: $0.instant) } ?? .zero)
        replayed.machine.recover(at: begun.advanced(by: lag))
        let (sequence, ending) = (replayed.sequence, replayed.ending)
        state = Guarded(
            State(machine: replayed.machine, journal: journal, lastSequence: sequence, committedSequence: sequence))
        self.recovery = recovery
        self.trustsLeasesOver = trustsLeasesOver
        self.time = time
        self.alarm = alarm
        self.listener = listener
        self.observer = observer
        journal.begin { [weak self] in self?.committed($0, in: 0) }
        deliver(state.withLock { state in makeUp(for: ending, in: &state) })
    }

    /// Commits what is under way, and takes no more: whoever waits still, or asks later, is told so.
    package func stop() {
        let journal = state.withLock { state in
            state.isOver = true
            return state.journal
        }
        journal.close()
        giveUp(because: JournalError(.closed, reason: "The daemon has stopped; ask its successor."))
    }
}

/// What an operator has to know.
package enum EngineNotice: Sendable {
    case happened(Notice)
    /// There was no room for what somebody asked for.
    case refused(ArbiterError, scene: SceneName?, client: ClientName?)
}

/// Why the engine has no answer.
package enum EngineError: Error, Hashable, Sendable {
    /// The arbiter refused, and nothing has changed.
    case refused(ArbiterError)
    /// The command may or may not last: the journal has failed.
    case journalUnavailable(JournalError)
}
