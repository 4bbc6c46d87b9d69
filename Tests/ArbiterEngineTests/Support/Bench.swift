import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// An engine whose clocks, alarm and journal are controlled by the test.
struct Bench<Kept: Journal> {
    let journal: Kept
    let time: ManualTime
    let alarm: ManualAlarm
    let engine: Engine
    let answers = Answers()

    init(
        _ journal: Kept, time: ManualTime = ManualTime(), limits: Limits = Limits(), terms: Terms = Terms(),
        recovery: JournalRecovery? = nil, random: any RandomNumberGenerator & Sendable = SystemRandom()
    ) throws {
        self.journal = journal
        self.time = time
        alarm = ManualAlarm(time: time)
        engine = try Engine(
            limits: limits, journal: journal, terms: terms, recovery: recovery, time: time, alarm: alarm,
            random: random)
    }

    /// Lets time pass, and rings the alarms that are due.
    func pass(_ duration: Duration) {
        time.advance(by: duration)
        alarm.ringDue()
    }

    // MARK: Requests whose answers are recorded under a label

    func start(_ label: String, _ request: TransitionRequest = TransitionRequest()) {
        engine.start(request, completion: answers.note(label))
    }

    @discardableResult
    func serialize(
        _ label: String, _ request: TransitionRequest = TransitionRequest(), wait: Duration = .zero
    ) -> WaiterID? {
        engine.serialize(request, wait: wait, completion: answers.note(label))
    }

    @discardableResult
    func wait(
        _ label: String, for view: TransitionView, isOwner: Bool = true, until: Milestone = .granted,
        wait: Duration = .seconds(60)
    ) -> WaiterID? {
        engine.wait(
            on: view.id, token: isOwner ? view.token : nil, until: until, wait: wait, completion: answers.note(label))
    }

    func end(_ label: String, _ view: TransitionView, as outcome: EndOutcome = .completed) {
        engine.end(view.id, token: view.token, as: outcome, completion: answers.note(label))
    }

    func renew(_ label: String, _ view: TransitionView) {
        engine.renew(view.id, token: view.token, completion: answers.note(label))
    }

    func read(_ label: String, _ id: TransitionID) {
        engine.read(
            { machine, now throws(ArbiterError) in try machine.view(of: id, at: now) },
            completion: answers.note(label))
    }

    // MARK: Requests that are answered at once

    /// Starts a transition and returns it.
    func started(_ request: TransitionRequest = TransitionRequest()) throws -> TransitionView {
        let answers = Answers()
        engine.start(request, completion: answers.note("start"))
        return try answers.view("start")
    }

    /// Serializes a transition and returns it.
    func serialized(_ request: TransitionRequest = TransitionRequest()) throws -> TransitionView {
        let answers = Answers()
        engine.serialize(request, wait: .zero, completion: answers.note("serialize"))
        return try answers.view("serialize")
    }

    /// A transition now.
    func view(_ id: TransitionID) throws -> TransitionView {
        let answers = Answers()
        engine.read(
            { machine, now throws(ArbiterError) in try machine.view(of: id, at: now) },
            completion: answers.note("read"))
        return try answers.view("read")
    }

    /// All remembered transitions, oldest first.
    func all() throws -> [TransitionView] {
        let found = Guarded([TransitionView]?.none)
        engine.read(
            { machine, now in machine.list(TransitionFilter(limit: 1000), at: now) },
            completion: { answer in found.withLock { $0 = try? answer.get() } })
        return try #require(found.withLock { $0 })
    }
}

extension Bench where Kept == HeldJournal {
    /// A bench with one running transition, whose record is committed, and its answer.
    static func withHolder(_ request: TransitionRequest = TransitionRequest()) throws -> (Bench, TransitionView) {
        let bench = try Bench(HeldJournal())
        bench.start("holder", request)
        bench.journal.commit()
        return (bench, try bench.answers.view("holder"))
    }
}

/// A request for the scene of this name.
func request(_ scene: String, lease: Duration = Limits.defaultLease) throws -> TransitionRequest {
    TransitionRequest(scene: try #require(SceneName(scene)), lease: lease)
}
