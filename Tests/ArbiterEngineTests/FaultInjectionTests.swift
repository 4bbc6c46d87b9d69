import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Everything that was answered is there after a restart, at whatever point of a commit the process died.
struct FaultInjectionTests {
    @Test(arguments: MortalJournal.Point.allCases, UInt64(1)...25)
    func `nothing that was answered is lost when the process dies`(point: MortalJournal.Point, seed: UInt64) throws {
        let world = World(seed: seed)
        try world.live(dyingAt: point, times: 6)
        #expect(HistoryChecker(world.calls).violations() == [], "seed \(seed)")
        #expect(world.calls.contains { $0.answer != nil })
    }

    @Test func `the checker finds answers that are sent before the commit`() throws {
        let found = try (UInt64(1)...25).count { seed in
            let world = World(seed: seed, claimsTooMuch: true)
            try world.live(dyingAt: .beforeWriting, times: 6)
            return !HistoryChecker(world.calls).violations().isEmpty
        }
        #expect(found == 25)
    }

    @Test(arguments: MortalJournal.Point.allCases)
    func `the disk holds exactly the committed records after a death`(point: MortalJournal.Point) throws {
        let disk = MortalJournal.Disk()
        let journal = MortalJournal(disk, diesAt: point, ofCommit: 1)
        let bench = try Bench(journal)
        bench.start("start")
        journal.commit()
        #expect(journal.isDead)
        let isCommitted = point == .beforeTelling || point == .afterTelling
        #expect(disk.records.withLock { $0.count } == (isCommitted ? 1 : 0))
        #expect(bench.answers.labels == (point == .afterTelling ? ["start"] : []))
    }
}

/// Clients of an arbiter that dies again and again; they record their calls and answers.
private final class World: Sendable {
    private struct State {
        var random: SplitMix64
        /// The clients' clock, which counts calls and answers.
        var clock: UInt64 = 0
        var asked: [Asked] = []
        var owned: [TransitionID: Token] = [:]
        var lastKey = 0
    }

    private struct Asked {
        let question: ObservedCall.Question
        let again: @Sendable (Engine, @escaping Engine.Completion) -> Void
        let sent: UInt64
        var answer: (ObservedCall.Answer, at: UInt64)?
        var isGivenUp = false
    }

    private let state: Guarded<State>
    private let disk = MortalJournal.Disk()
    private let claimsTooMuch: Bool

    init(seed: UInt64, claimsTooMuch: Bool = false) {
        state = Guarded(State(random: SplitMix64(seed: seed)))
        self.claimsTooMuch = claimsTooMuch
    }

    func live(dyingAt point: MortalJournal.Point, times: Int) throws {
        for _ in 0..<times {
            let number = state.withLock { Int.random(in: 2...12, using: &$0.random) }
            let journal = MortalJournal(disk, diesAt: point, ofCommit: number, claimsTooMuch: claimsTooMuch)
            let bench = try Bench(journal, random: chance())
            lookAtEverything(bench.engine, journal)
            askAgain(bench.engine, journal)
            while !journal.isDead {
                step(bench.engine, journal)
                if state.withLock({ $0.random.isOnce(in: 3) }) { journal.commit() }
            }
        }
        let journal = MortalJournal(disk, diesAt: point, ofCommit: .max)
        let bench = try Bench(journal, random: chance())
        askAgain(bench.engine, journal)
        journal.commit()
        lookAtEverything(bench.engine, journal)
    }

    /// What an engine draws its ids from: the calls depend on their order.
    private func chance() -> SplitMix64 { state.withLock { SplitMix64(seed: $0.random.next()) } }

    var calls: [ObservedCall] {
        state.withLock { state in
            state.asked.map { asked in
                ObservedCall(
                    scene: "main", question: asked.question, sent: asked.sent,
                    answered: asked.answer?.at ?? state.clock, answer: asked.answer?.0)
            }
        }
    }
}

// MARK: - Calls

extension World {
    private func step(_ engine: Engine, _ journal: MortalJournal) {
        let (choice, key, owned) = state.withLock { state in
            state.lastKey += 1
            // Sorted, because the order of a dictionary differs from run to run.
            let owned = state.owned.sorted { $0.key.rawValue < $1.key.rawValue }
            return (
                Int.random(in: 0..<8, using: &state.random), "key-\(state.lastKey)",
                owned.randomElement(using: &state.random)
            )
        }
        let request = TransitionRequest(idempotencyKey: IdempotencyKey(key))
        switch (choice, owned) {
        case (0, _), (_, nil):
            ask(.start(key: key), engine, journal) { $0.start(request, completion: $1) }
        case (1, _), (2, _):
            ask(.serialize(key: key), engine, journal) { $0.serialize(request, wait: .zero, completion: $1) }
        case (3, _):
            ask(.serialize(key: key), engine, journal) { $0.serialize(request, wait: .seconds(60), completion: $1) }
        case (4, let owned?):
            ask(.look(id: "\(owned.key)"), engine, journal) { engine, completion in
                engine.wait(on: owned.key, token: nil, until: .granted, wait: .zero, completion: completion)
            }
        case (_, let owned?):
            let outcome: EndOutcome = choice == 5 ? .cancelled : .completed
            ask(.end(id: "\(owned.key)", as: outcome.rawValue), engine, journal) {
                $0.end(owned.key, token: owned.value, as: outcome, completion: $1)
            }
        }
    }

    private func ask(
        _ question: ObservedCall.Question, _ engine: Engine, _ journal: MortalJournal,
        _ how: @escaping @Sendable (Engine, @escaping Engine.Completion) -> Void
    ) {
        let index = state.withLock { state in
            state.clock += 1
            state.asked.append(Asked(question: question, again: how, sent: state.clock))
            return state.asked.count - 1
        }
        how(engine) { answer in
            // A dead process sends no answers.
            if !journal.isDead { self.note(answer, to: index) }
        }
    }

    private func note(_ answer: Result<TransitionView, EngineError>, to index: Int) {
        state.withLock { state in
            state.clock += 1
            switch answer {
            case .success(let view):
                state.asked[index].answer = (.transition(ObservedTransition(view)), state.clock)
                state.owned[view.id] = view.token
            case .failure(.refused(.unknownTransition)):
                state.asked[index].answer = (.refused("unknown-transition"), state.clock)
            case .failure(.refused):
                state.asked[index].answer = (.refused("refused"), state.clock)
            case .failure(.journalUnavailable), .failure(.notOwner):
                break
            }
        }
    }

    private func lookAtEverything(_ engine: Engine, _ journal: MortalJournal) {
        for id in state.withLock({ $0.owned.keys.sorted { $0.rawValue < $1.rawValue } }) {
            ask(.look(id: "\(id)"), engine, journal) { engine, completion in
                engine.wait(on: id, token: nil, until: .granted, wait: .zero, completion: completion)
            }
        }
    }

    /// Repeats every call that was not answered.
    private func askAgain(_ engine: Engine, _ journal: MortalJournal) {
        let unanswered = state.withLock { state in
            let open = state.asked.filter { $0.answer == nil && !$0.isGivenUp }
            for index in state.asked.indices where state.asked[index].answer == nil {
                state.asked[index].isGivenUp = true
            }
            return open
        }
        for asked in unanswered { ask(asked.question, engine, journal, asked.again) }
    }
}

extension ObservedTransition {
    fileprivate init(_ view: TransitionView) {
        self.init(
            id: "\(view.id)", state: view.state.rawValue, token: "\(view.token.high) \(view.token.low)",
            fence: view.fence.map { Int($0) }, outcome: view.outcome.map { "\($0)" })
    }
}
