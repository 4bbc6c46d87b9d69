import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// An engine goes on under other rules, and forgets other things, from a record on.
struct AdoptionTests {
    private static let earlier = Terms(rules: .first)
    private static let later = Terms(rules: .second)

    private func keyed(_ scene: String) throws -> TransitionRequest {
        TransitionRequest(
            scene: try #require(SceneName(scene)), idempotencyKey: IdempotencyKey(unchecked: "0123456789abcdef"))
    }

    private func retention(_ maximum: Int) -> (Limits, Terms) {
        var limits = Limits()
        (limits.retainedCount, limits.retainedMaximum) = (0, maximum)
        return (limits, Terms(retention: limits.retention))
    }

    /// The bytes of the state that a replay gives, whatever limits it is given.
    private func replayed(_ journal: any Journal, limits: Limits = Limits()) throws -> [UInt8] {
        var replay = JournalReplay(limits: limits)
        let contents = try journal.contents()
        try replay.begin(contents.snapshot)
        try replay.take(contents.records)
        return replay.finished().snapshot()
    }

    @Test func `an engine makes its records under the rules that it is told`() throws {
        for rules in Rules.allCases {
            let bench = try Bench(MemoryJournal(keepsRecords: true), terms: Terms(rules: rules))
            _ = try bench.started()
            #expect(try bench.journal.records().map(\.rules) == [rules], "a new journal has nothing to adopt")
            bench.engine.stop()
            #expect(try bench.journal.records().map(\.rules) == [rules, rules])
        }
    }

    @Test func `a running engine adopts newer rules by one record, and later ones mean what they mean then`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: true), terms: Self.earlier)
        let first = try bench.started(try keyed("a"))
        bench.engine.adopt(Self.earlier)
        #expect(try bench.journal.records().count == 1, "there is nothing to adopt")
        bench.engine.adopt(Self.later)
        bench.engine.adopt(Self.later)
        bench.engine.adopt(Self.earlier)
        #expect(bench.engine.rules == .second)
        let other = try bench.started(try keyed("b"))
        #expect(other.id != first.id)
        #expect(try bench.started(try keyed("a")).id == first.id, "a key of before is known")
        let records = try bench.journal.records()
        #expect(records.map(\.rules) == [.first, .second, .second])
        #expect(records[1].record == .adopt(nil))
        let state = bench.engine.inspect { $0.snapshot() }
        #expect(try replayed(bench.journal) == state)
        #expect(bench.engine.inspect { $0.brokenInvariant() } == nil)
    }

    @Test func `an engine whose journal is behind adopts the rules before anything else`() throws {
        let before = try Bench(MemoryJournal(keepsRecords: true), terms: Self.earlier)
        let first = try before.started(try keyed("a"))
        let after = try Bench(before.journal, time: before.time, terms: Self.later)
        #expect(try after.started(try keyed("b")).id != first.id)
        #expect(try after.journal.records().map(\.record).dropFirst().first == .adopt(nil))
        // The next one has nothing to adopt, and does not go back.
        let last = try Bench(before.journal, time: before.time, terms: Self.earlier)
        #expect(last.engine.rules == .second)
        #expect(try last.journal.records().count == 3)
    }

    @Test func `what the journal says of forgetting holds in every replay, whatever the limits are`() throws {
        let (limits, terms) = retention(2)
        let bench = try Bench(MemoryJournal(keepsRecords: true), limits: limits, terms: terms)
        #expect(try bench.journal.records().map(\.record) == [.adopt(limits.retention)])
        let first = try bench.started(try keyed("a"))
        bench.end("end", first)
        for _ in 0..<3 { bench.end("end", try bench.started()) }
        // Its key is forgotten with it, and a replay that still knew it would contradict this record.
        let again = try bench.started(try keyed("a"))
        #expect(again.id != first.id)
        let state = bench.engine.inspect { $0.snapshot() }
        #expect(try replayed(bench.journal) == state)
        #expect(try replayed(bench.journal, limits: retention(1).0) == state)
        #expect(try ArbiterStateMachine(snapshot: state).snapshot() == state)
    }

    @Test func `without a word of the journal, a replay under other limits contradicts it`() throws {
        let (limits, _) = retention(2)
        let bench = try Bench(MemoryJournal(keepsRecords: true), limits: limits)
        bench.end("end", try bench.started(try keyed("a")))
        for _ in 0..<3 { bench.end("end", try bench.started()) }
        _ = try bench.started(try keyed("a"))
        #expect(try replayed(bench.journal, limits: limits) == bench.engine.inspect { $0.snapshot() })
        #expect(throws: JournalError.self) { try replayed(bench.journal) }
    }

    @Test func `an engine that is to keep less forgets at once, by the record`() throws {
        let (limits, terms) = retention(3)
        let bench = try Bench(MemoryJournal(keepsRecords: true), limits: limits, terms: terms)
        for _ in 0..<5 { bench.end("end", try bench.started()) }
        #expect(try bench.all().count == 3)
        let (less, lessTerms) = retention(1)
        bench.engine.adopt(lessTerms)
        #expect(try bench.all().count == 1)
        #expect(try bench.journal.records().last?.record == .adopt(less.retention))
        #expect(try replayed(bench.journal) == bench.engine.inspect { $0.snapshot() })
    }
}
