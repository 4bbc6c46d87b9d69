import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct MemoryJournalTests {
    @Test(arguments: JournalConformance.Check.allCases)
    func `the memory journal passes the conformance suite`(check: JournalConformance.Check) throws {
        let first = MemoryJournal(keepsRecords: true)
        // A journal in memory cannot be opened again, so a copy stands in for it.
        let latest = Guarded(first)
        try JournalConformance(make: { first }) {
            let copy = MemoryJournal(keepsRecords: true)
            for record in try latest.withLock({ $0 }).records() { _ = copy.append(record) }
            latest.withLock { $0 = copy }
            return copy
        }.run(check)
    }

    @Test func `a memory journal that is told to keep no records keeps none`() throws {
        let bench = try Bench(MemoryJournal(keepsRecords: false))
        #expect(try bench.started().state == .running)
        #expect(try bench.journal.records() == [])
    }
}
