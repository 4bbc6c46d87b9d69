import ArbiterCore
import Testing

@testable import ArbiterRelay

/// The newest moves of shards.
struct ShardMovesTests {
    @Test func `only the newest moves are kept`() {
        var moves = ShardMoves()
        for tenure in 0...UInt64(ShardMoves.most) + 1 {
            moves.note([0: .init(address: "a", tenure: tenure)], at: Timestamp(milliseconds: 0))
        }
        #expect(moves.newest.count == ShardMoves.most)
        #expect(moves.newest.first?.owner.tenure == 2)
        #expect(moves.newest.last?.owner.tenure == UInt64(ShardMoves.most) + 1)
    }
}
