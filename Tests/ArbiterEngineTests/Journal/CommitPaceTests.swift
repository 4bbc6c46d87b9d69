import Testing

@testable import ArbiterEngine

/// When a thread that flushes the journal commits by itself.
struct CommitPaceTests {
    /// What a pace allows after groups of one record.
    private static func turn(after groups: Int, in pace: inout CommitPace) -> Bool {
        for _ in 0..<groups { pace.noteGroup(of: 1) }
        return pace.takesTurn()
    }

    @Test func `threads commit by themselves once groups have had one record for a while`() {
        var pace = CommitPace()
        let early = Self.turn(after: CommitPace.calmGroups - 1, in: &pace)
        let late = Self.turn(after: 1, in: &pace)
        #expect(!early && late)
    }

    @Test func `one of many commits is left to the queue, which sees the load`() {
        var pace = CommitPace()
        var turns = [Self.turn(after: CommitPace.calmGroups, in: &pace)]
        while turns.count < 3 * (CommitPace.commitsAtOnce + 1) { turns.append(pace.takesTurn()) }
        let row = Array(repeating: true, count: CommitPace.commitsAtOnce) + [false]
        #expect(turns == row + row + row)
    }

    @Test func `a group of several records ends it`() {
        var pace = CommitPace()
        let calm = Self.turn(after: CommitPace.calmGroups, in: &pace)
        pace.noteGroup(of: 2)
        let crowded = Self.turn(after: CommitPace.calmGroups - 1, in: &pace)
        let calmAgain = Self.turn(after: 1, in: &pace)
        #expect(calm && !crowded && calmAgain)
    }
}
