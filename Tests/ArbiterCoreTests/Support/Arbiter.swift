import ArbiterCore
import Testing

/// Runs the state machine in turns, on a clock that only the test moves.
///
/// It checks the invariants after each turn.
struct Arbiter {
    private(set) var machine: ArbiterStateMachine
    private(set) var now = Instant(nanoseconds: 0)
    /// How far the wall clock is ahead of the monotonic one.
    private(set) var wallOffset = Duration.zero
    /// The waiters that were answered by an effect, in the order of the answers.
    private(set) var wakes: [WaiterID] = []
    /// The answer to each waiter, at once or later.
    private(set) var answers: [WaiterID: TransitionView] = [:]
    /// The answer to each waiter for an idle scene, at once or later.
    private(set) var idleAnswers: [WaiterID: IdleView] = [:]
    /// The answer to each waiter for a condition, at once or later.
    private(set) var conditionAnswers: [WaiterID: ConditionView] = [:]
    /// The published events.
    private(set) var events: [SceneEvent] = []
    private(set) var notices: [Notice] = []
    /// The events that the last restart has told again.
    private(set) var replayed: [SceneEvent] = []
    /// The records that a journal would hold.
    private(set) var journal: [Entry] = []

    private var parked: Set<WaiterID> = []
    private var history = History()
    private var lastID: UInt64 = 0
    private var lastWaiter: UInt64 = 0

    struct Entry {
        let record: Record
        let moment: Moment
    }

    init(limits: Limits = Limits(), rules: Rules = .newest) {
        machine = ArbiterStateMachine(limits: limits, rules: rules)
    }

    /// The parked waiters that have neither been answered nor left.
    var stillParked: Set<WaiterID> { parked }

    var moment: Moment {
        let wall = now.nanoseconds + wallOffset.wholeNanoseconds
        return Moment(instant: now, timestamp: Timestamp(milliseconds: wall / 1_000_000))
    }
}

// MARK: - Restarts

extension Arbiter {
    /// The process starts again from its journal; parked awaits are gone.
    mutating func restart(hasTakenOver: Bool = false) throws {
        var fresh = ArbiterStateMachine(limits: machine.limits, rules: machine.rules)
        replayed = []
        for entry in journal {
            let outcome = fresh.apply(entry.record, at: entry.moment, under: machine.rules)
            try #require(outcome.records == [entry.record])
            for case .publish(let event) in outcome.effects { replayed.append(event) }
        }
        #expect(fresh.snapshot() == machine.snapshot())
        fresh.recover(at: now, hasTakenOver: hasTakenOver)
        machine = fresh
        parked = []
    }
}

// MARK: - Time

extension Arbiter {
    /// Lets time pass, with a turn at each deadline.
    mutating func advance(by duration: Duration, at location: SourceLocation = #_sourceLocation) {
        let target = now.advanced(by: duration)
        while let next = machine.nextDeadline, next <= target {
            now = max(now, next)
            tick(at: location)
            guard machine.nextDeadline != next else {
                Issue.record("the deadline at \(next) did not change in its turn", sourceLocation: location)
                return
            }
        }
        now = target
        let recorded = journal.count
        tick(at: location)
        #expect(journal.count == recorded, "something was due before nextDeadline", sourceLocation: location)
    }

    /// Lets time pass without turns, followed by one late turn, before which words may lie unheard for so long.
    mutating func oversleep(
        _ duration: Duration, lag: Duration = .zero, at location: SourceLocation = #_sourceLocation
    ) {
        now = now.advanced(by: duration)
        tick(lag: lag, at: location)
    }

    mutating func jumpWallClock(by duration: Duration) {
        wallOffset += duration
    }

    /// Runs a turn without an event.
    private mutating func tick(lag: Duration = .zero, at location: SourceLocation) {
        var step = Step(moment: moment)
        step.restart(at: moment, lag: lag)
        // Not Void: a variable without a size has no place of its own, and ThreadSanitizer takes it for one that all threads share.
        var context = 0
        _ = machine.turn(in: &step, with: &context) { _, _, _ in }
        note(step.records, step.effects, at: location)
    }
}

// MARK: - Turns

extension Arbiter {
    /// What would come of a request now; the state is compared before and after.
    func dryRun(_ request: TransitionRequest, isSerialized: Bool) throws(ArbiterError) -> DryRun {
        var machine = machine
        defer {
            #expect(machine.snapshot() == self.machine.snapshot())
            #expect(machine.nextDeadline == self.machine.nextDeadline)
        }
        return try machine.dryRun(request, isSerialized: isSerialized, at: now)
    }

    mutating func nextID() -> TransitionID {
        lastID += 1
        return TransitionID(rawValue: lastID)
    }

    mutating func nextWaiter() -> WaiterID {
        lastWaiter += 1
        return WaiterID(rawValue: lastWaiter)
    }

    /// Runs one event in its turn.
    ///
    /// - Throws: `ArbiterError` if the event was refused.
    @discardableResult
    mutating func perform<Answer>(
        parking waiter: WaiterID? = nil, at location: SourceLocation = #_sourceLocation,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) throws(ArbiterError) -> Answer {
        // Does what is due in a turn of its own, so that only the event's changes are compared.
        tick(at: location)
        let before = Snapshot(of: machine, at: now)
        let outcome = machine.turn(at: moment, event)
        let after = Snapshot(of: machine, at: now)
        switch outcome.answer {
        case .success:
            if outcome.records.isEmpty {
                #expect(before.records == after.records, "it changed without a record", sourceLocation: location)
            }
        case .failure(let error):
            #expect(outcome.records.isEmpty, "\(error)", sourceLocation: location)
            #expect(outcome.effects.isEmpty, "\(error)", sourceLocation: location)
            #expect(before == after, "a refused event changed something: \(error)", sourceLocation: location)
        }
        if let waiter, case .success = outcome.answer { parked.insert(waiter) }
        note(outcome.records, outcome.effects, at: location)
        return try outcome.answer.get()
    }

    /// Runs an await that may park.
    mutating func parking(
        _ waiter: WaiterID?, at location: SourceLocation,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> AwaitAnswer
    ) throws(ArbiterError) {
        // A request that parks may be woken in the same turn.
        switch (try perform(parking: waiter, at: location, event), waiter) {
        case (.parked, _?): break
        case (.parked, nil): Issue.record("the event parked without a waiter", sourceLocation: location)
        case (.now(let view), let waiter?):
            parked.remove(waiter)
            answers[waiter] = view
        case (.now, nil): break
        }
    }

    /// Runs an await of an idle scene, which may park.
    mutating func parkingForIdle(
        _ waiter: WaiterID?, at location: SourceLocation,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> ObservingAnswer<IdleView>
    ) {
        let answer = try? perform(parking: waiter, at: location) { machine, step throws(ArbiterError) in
            try event(&machine, &step)
        }
        guard case .now(let view) = answer, let waiter else { return }
        parked.remove(waiter)
        idleAnswers[waiter] = view
    }

    /// Runs an await of a condition, which may park.
    mutating func observe(
        _ condition: ArbiterCore.Expectation, wait: Duration = .seconds(60),
        at location: SourceLocation = #_sourceLocation
    ) throws(ArbiterError) -> WaiterID {
        let waiter = nextWaiter()
        let answer = try perform(parking: waiter, at: location) { machine, step throws(ArbiterError) in
            try machine.observe(condition, of: .main, park: Park(waiter: waiter, wait: wait), in: &step)
        }
        if case .now(let view) = answer {
            parked.remove(waiter)
            conditionAnswers[waiter] = view
        }
        return waiter
    }

    /// The connection of an await closes.
    mutating func leave(_ waiter: WaiterID?, at location: SourceLocation = #_sourceLocation) throws {
        let waiter = try #require(waiter, sourceLocation: location)
        try perform(at: location) { machine, step in machine.leave(waiter, in: &step) }
        parked.remove(waiter)
    }

    private mutating func note(_ records: [Record], _ effects: [Effect], at location: SourceLocation) {
        #expect(machine.brokenInvariant() == nil, "after \(records)", sourceLocation: location)
        journal += records.map { Entry(record: $0, moment: moment) }
        for effect in effects {
            switch effect {
            case .wake(let waiter, let view):
                #expect(parked.remove(waiter) != nil, "\(waiter) is woken but not parked", sourceLocation: location)
                wakes.append(waiter)
                answers[waiter] = view
            case .wakeForState(let waiter, let observation):
                #expect(parked.remove(waiter) != nil, "\(waiter) is woken but not parked", sourceLocation: location)
                wakes.append(waiter)
                switch observation {
                case .idleness(let view): idleAnswers[waiter] = view
                case .condition(let view): conditionAnswers[waiter] = view
                }
            case .publish(let event):
                events.append(event)
            case .notify(let notice):
                notices.append(notice)
            }
        }
        history.note(Snapshot(of: machine, at: now).views, at: location)
    }
}

/// Everything that can be read of a state.
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
