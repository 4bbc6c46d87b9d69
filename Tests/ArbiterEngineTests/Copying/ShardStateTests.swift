import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// How the state of a daemon is divided among shards, and put together again.
struct ShardStateTests {
    private static let seeds: ClosedRange<UInt64> = Seeds.first(2, atNight: 4)
    private static let counts = [1, 3, 4, 64]

    private func crowd(_ seed: UInt64, records: Int = 1200) -> RecordedCrowd {
        var crowd = RecordedCrowd(seed: seed)
        crowd.live(records)
        return crowd
    }

    private func differences(_ source: [ShardState], _ copy: [ShardState]) -> [String] {
        CopiedFacts(of: source).differences(in: CopiedFacts(of: copy))
    }

    /// What is wrong with a state that an engine continues from.
    private func brokenInvariant(_ state: ShardState) -> String? {
        var machine = state.machine
        if let moment = state.moment { machine.recover(at: moment.instant) }
        return machine.brokenInvariant()
    }

    /// All transitions in the order of their requests.
    private func transitions(of state: ShardState) -> [Transition] {
        guard let moment = state.moment else { return [] }
        var machine = state.machine
        machine.recover(at: moment.instant)
        return machine.list(TransitionFilter(limit: .max), at: moment.instant).map(\.transition)
    }

    @Test(arguments: seeds, counts)
    func `what is divided and put together again is the same`(seed: UInt64, count: Int) throws {
        let source = crowd(seed).state
        let shards = try source.divided(among: count)
        #expect(shards.count == count)
        #expect(differences([source], shards) == [])
        #expect(shards.compactMap(brokenInvariant) == [])
        let merged = try ShardState.merged(shards)
        #expect(differences([source], [merged]) == [])
        #expect(differences(shards, [merged]) == [])
        #expect(brokenInvariant(merged) == nil)
        #expect(merged.moment == source.moment && merged.sequence == source.sequence)
        // Orders are not given anew, as none was given twice.
        #expect(transitions(of: merged).map(\.order) == transitions(of: source).map(\.order))
        let all = shards.enumerated().map { $1.counts(in: Shard($0, of: count)) }.reduce(.none, +)
        var once = all
        once.guests = 0
        #expect(once == source.counts(in: .only))
        #expect(count == 1 || all.guests > 0)
    }

    @Test(arguments: seeds, [3, 4])
    func `shards that went on by themselves are put together`(seed: UInt64, count: Int) throws {
        let source = crowd(seed)
        let parts = try source.state.divided(among: count).enumerated().map { index, state in
            var crowd = source.inside(Shard(index, of: count), state, seed: seed * 100 + UInt64(index))
            crowd.live(100 * (index + 1), pausing: 20 * Int64(index + 1))
            return crowd.state
        }
        let (shards, lost) = ShardState.endingLostGuests(of: parts)
        #expect(lost > 0)
        #expect(ShardState.endingLostGuests(of: shards).count == 0)
        let merged = try ShardState.merged(shards)
        #expect(differences(shards, [merged]) == [])
        #expect(brokenInvariant(merged) == nil)
        let times = transitions(of: merged).map(\.requestedAt.instant)
        #expect(times == times.sorted())
        #expect(merged.moment?.instant == parts.compactMap(\.moment?.instant).max())
        // It goes on, and can be divided again, among as many shards as one likes.
        var again = source.inside(.only, merged, seed: seed + 1_000_000)
        again.live(200)
        #expect(differences([again.state], try again.state.divided(among: 5)) == [])
    }

    @Test(arguments: [1, 4])
    func `nothing is given again that was given before`(count: Int) throws {
        let before = crowd(1, records: 200)
        let source = before.state
        let fence = try #require(transitions(of: source).compactMap(\.grant?.fence).max())
        let order = try #require(transitions(of: source).map(\.order).max())
        var given = 0
        for (index, shard) in try source.divided(among: count).enumerated() {
            var crowd = before.inside(Shard(index, of: count), shard, seed: 99)
            crowd.live(400)
            let known = Set(transitions(of: shard).map(\.id))
            let new = transitions(of: crowd.state).filter { !known.contains($0.id) }
            #expect(new.allSatisfy { $0.order > order })
            #expect(new.compactMap(\.grant?.fence).allSatisfy { $0 > fence })
            given += new.count { $0.grant != nil }
        }
        #expect(given > 0)
    }

    @Test func `a copy that lacks something differs`() throws {
        let source = crowd(3)
        var later = source
        later.live(20)
        #expect(differences([later.state], [source.state]) != [])
        #expect(differences([source.state], [later.state]) != [])
        var shards = try source.state.divided(among: 4)
        let full = try #require(shards.indices.first { shards[$0].counts(in: Shard($0, of: 4)).scenes > 0 })
        shards[full] = ShardState(machine: ArbiterStateMachine(), sequence: 1, moment: shards[full].moment)
        let found = differences([source.state], shards)
        #expect(found.contains { $0.contains("is missing there") })
        #expect(found.contains("fences, orders or numbers of events"))
    }
}
