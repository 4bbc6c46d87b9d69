import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// The ids and tokens that an engine draws.
struct IdentityTests {
    @Test(arguments: ["main", "phone", "left"])
    func `a transition's id begins with the slot of its scene`(scene: String) throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        let name = try #require(SceneName(scene))
        for _ in 0..<50 { #expect(try bench.serialized(request(scene)).transition.id.slot == Slot(name)) }
    }

    @Test func `a session's token begins with the slot of the session's id`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        for _ in 0..<50 {
            let answers = Guarded([SessionView]())
            bench.engine.openSession(client: nil, timeToLive: .seconds(5)) { answer in
                answers.withLock { $0 += [try? answer.get()].compactMap(\.self) }
            }
            let session = try #require(answers.withLock { $0.first }).session
            #expect(Slot(beginning: session.token.high) == session.id.slot)
        }
    }

    @Test func `the same random numbers give the same ids and tokens`() throws {
        let ids = try (0..<2).map { _ in
            let engine = try Engine(
                journal: MemoryJournal(keepsRecords: false), time: ManualTime(), alarm: ManualAlarm(time: ManualTime()),
                random: SplitMix64(seed: 7))
            let answers = Answers()
            engine.start(TransitionRequest(), completion: answers.note("start"))
            let transition = try answers.view("start").transition
            return "\(transition.id) \(transition.token.high) \(transition.token.low)"
        }
        #expect(ids[0] == ids[1])
    }
}
