import ArbiterCore
import Testing

/// The state machine as the engine drives it, on a clock that moves only when told.
///
/// Before and after every command it applies what the arbiter decides by itself, and after each step it checks what
/// must hold after any step.
struct Arbiter {
    private(set) var machine: ArbiterStateMachine
    private(set) var now = Instant(nanoseconds: 0)
    /// What the wall clock is ahead of the monotonic one.
    private(set) var wallOffset = Duration.zero
    /// Who was answered by an effect, in the order of the answers.
    private(set) var wakes: [WaiterID] = []
    /// What every await was answered, at once or later.
    private(set) var answers: [WaiterID: TransitionView] = [:]
    /// What whoever follows the scenes was told.
    private(set) var events: [SceneEvent] = []
    private(set) var notices: [Notice] = []
    /// The commands that belong into a journal.
    private(set) var journal: [Entry] = []

    private var parked: Set<WaiterID> = []
    private var history = History()
    private var lastID: UInt64 = 0
    private var lastWaiter: UInt64 = 0

    struct Entry {
        let command: Command
        let moment: Moment
    }

    init(limits: Limits = Limits()) {
        machine = ArbiterStateMachine(limits: limits)
    }

    /// The parked awaits that have not been answered and have not left.
    var stillParked: Set<WaiterID> { parked }

    var moment: Moment {
        let wall = now.nanoseconds + wallOffset.wholeNanoseconds
        return Moment(instant: now, timestamp: Timestamp(milliseconds: wall / 1_000_000))
    }
}

// MARK: - Time

extension Arbiter {
    /// Lets time pass, with the arbiter deciding everything on time.
    mutating func advance(by duration: Duration, at location: SourceLocation = #_sourceLocation) {
        let target = now.advanced(by: duration)
        while let next = machine.nextDeadline, next <= target {
            now = max(now, next)
            guard settle(at: location) != nil else { return }
            guard machine.nextDeadline != next else {
                Issue.record("what was due at \(next) is not decided then", sourceLocation: location)
                return
            }
        }
        now = target
        #expect(settle(at: location) == 0, "something was due that nextDeadline had not told", sourceLocation: location)
    }

    /// Lets time pass while the arbiter is not running at all; then it catches up.
    mutating func oversleep(_ duration: Duration, at location: SourceLocation = #_sourceLocation) {
        now = now.advanced(by: duration)
        settle(at: location)
    }

    mutating func jumpWallClock(by duration: Duration) {
        wallOffset += duration
    }

    /// Applies what the arbiter decides by itself.
    ///
    /// - Returns: how many decisions there were; `nil` if there seems to be no end of them.
    @discardableResult
    private mutating func settle(at location: SourceLocation) -> Int? {
        for count in 0..<10_000 {
            guard let decision = machine.nextDecision(at: now) else { return count }
            if case .failure(let error) = step(decision, at: location) {
                Issue.record("\(decision) was refused: \(error)", sourceLocation: location)
            }
        }
        Issue.record("the arbiter never stops deciding", sourceLocation: location)
        return nil
    }
}

// MARK: - Steps

extension Arbiter {
    mutating func nextID() -> TransitionID {
        lastID += 1
        return TransitionID(rawValue: lastID)
    }

    mutating func nextWaiter() -> WaiterID {
        lastWaiter += 1
        return WaiterID(rawValue: lastWaiter)
    }

    /// Applies one command, with everything that is due before and after it.
    ///
    /// - Throws: `ArbiterError` if the command was refused.
    @discardableResult
    mutating func perform(_ command: Command, at location: SourceLocation = #_sourceLocation) throws -> Reply {
        settle(at: location)
        let reply = step(command, at: location)
        settle(at: location)
        return try reply.get()
    }

    private mutating func step(_ command: Command, at location: SourceLocation) -> Result<Reply, ArbiterError> {
        let before = Snapshot(of: machine, at: now)
        let outcome = machine.apply(command, at: moment)
        let after = Snapshot(of: machine, at: now)
        let broken = machine.brokenInvariant()
        #expect(broken == nil, "after \(command)", sourceLocation: location)
        switch outcome.reply {
        case .success(let reply):
            note(reply, to: command)
            if outcome.isDurable {
                if let record = outcome.record { journal.append(Entry(command: record, moment: moment)) }
            } else {
                #expect(before.records == after.records, "\(command) is not durable", sourceLocation: location)
            }
        case .failure(let error):
            #expect(!outcome.isDurable, "\(command): \(error)", sourceLocation: location)
            #expect(outcome.effects.isEmpty, "\(command): \(error)", sourceLocation: location)
            #expect(before == after, "\(command) changed something: \(error)", sourceLocation: location)
        }
        for effect in outcome.effects {
            switch effect {
            case .wake(let waiter, let view):
                #expect(parked.remove(waiter) != nil, "\(waiter) is woken and does not wait", sourceLocation: location)
                wakes.append(waiter)
                answers[waiter] = view
            case .publish(let event):
                events.append(event)
            case .notify(let notice):
                notices.append(notice)
            }
        }
        history.note(after.views, at: location)
        return outcome.reply
    }

    private mutating func note(_ reply: Reply, to command: Command) {
        switch command {
        case .serialize(_, _, _, let park?), .await(_, _, _, let park?):
            switch reply {
            case .parked: parked.insert(park.waiter)
            case .transition(let view): answers[park.waiter] = view
            case .done, .declared, .progress, .session: break
            }
        case .leave(let waiter):
            parked.remove(waiter)
        case .start, .serialize, .await, .end, .revoke, .renew, .progress, .release, .ready, .openSession,
            .renewSession,
            .endSession, .declare, .delete, .attach, .detach, .drain, .expire, .decide, .markReady, .settle,
            .closeSession, .answer, .distrust, .skipFences, .resume:
            break
        }
    }
}

/// Everything of a state that can be read.
private struct Snapshot: Hashable {
    let views: [TransitionView]
    let scenes: [SceneSummary]
    let nextDeadline: Instant?

    init(of machine: ArbiterStateMachine, at now: Instant) {
        views = machine.list(TransitionFilter(limit: .max), at: now)
        scenes = machine.scenes()
        nextDeadline = machine.nextDeadline
    }

    var records: [Transition] { views.map(\.transition) }
}
