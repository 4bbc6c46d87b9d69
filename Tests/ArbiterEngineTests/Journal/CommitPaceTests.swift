import Testing

@testable import ArbiterEngine

/// When a thread that flushes the journal commits by itself.
struct CommitPaceTests {
    /// What a pace allows after commits during which no crowd arrived.
    private static func turn(after commits: Int, in pace: inout CommitPace) -> Bool {
        for _ in 0..<commits { pace.noteCommit(followedBy: CommitPace.crowd - 1) }
        return pace.takesTurn()
    }

    @Test func `threads commit by themselves once no crowd has arrived during commits for a while`() {
        var pace = CommitPace()
        let early = Self.turn(after: CommitPace.calmCommits - 1, in: &pace)
        let late = Self.turn(after: 1, in: &pace)
        #expect(!early && late)
    }

    @Test func `one of many commits is left to the queue, which sees the load`() {
        var pace = CommitPace()
        var turns = [Self.turn(after: CommitPace.calmCommits, in: &pace)]
        while turns.count < 3 * (CommitPace.commitsInARow + 1) { turns.append(pace.takesTurn()) }
        let row = Array(repeating: true, count: CommitPace.commitsInARow) + [false]
        #expect(turns == row + row + row)
    }

    @Test func `a crowd that arrives during a commit ends it`() {
        var pace = CommitPace()
        let calm = Self.turn(after: CommitPace.calmCommits, in: &pace)
        pace.noteCommit(followedBy: CommitPace.crowd)
        let crowded = Self.turn(after: CommitPace.calmCommits - 1, in: &pace)
        let calmAgain = Self.turn(after: 1, in: &pace)
        #expect(calm && !crowded && calmAgain)
    }
}
