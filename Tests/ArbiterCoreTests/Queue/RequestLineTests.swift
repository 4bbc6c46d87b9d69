import ArbiterTestKit
import Testing

@testable import ArbiterCore

struct RequestLineTests {
    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a line ranks and selects like an array`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var line = RequestLine()
        var naive: [LinePlace] = []
        var last: UInt64 = 0
        // Long periods of growing and shrinking, so that pieces are split and merged and the line becomes empty in
        // between.
        for step in 0..<3000 {
            let isGrowing = (step / 800).isMultiple(of: 2) != random.isOnce(in: 5)
            if isGrowing || naive.isEmpty {
                last += .random(in: 2...4, using: &random)
                let between = LinePlace(rawValue: .random(in: 1...last, using: &random))
                let order = random.isOnce(in: 3) && !naive.contains(between) ? between : LinePlace(rawValue: last)
                line.insert(order)
                naive.insert(order, at: naive.firstIndex { order < $0 } ?? naive.endIndex)
            } else {
                let index = random.isOnce(in: 4) ? 0 : Int.random(in: naive.indices, using: &random)
                line.remove(naive.remove(at: index))
            }
            #expect(line.count == naive.count, "seed \(seed)")
            #expect(line.isEmpty == naive.isEmpty, "seed \(seed)")
            #expect(line.first == naive.first, "seed \(seed)")
            let count = Int.random(in: 0...10, using: &random)
            let limit = LinePlace(rawValue: .random(in: 0...last + 1, using: &random))
            let all = line.prefix(count, before: nil)
            #expect(all == Array(naive.prefix(count)), "seed \(seed)")
            let some = line.prefix(count, before: limit)
            #expect(some == Array(naive.filter { $0 < limit }.prefix(count)), "seed \(seed)")
            #expect(line.last(before: limit) == naive.last { $0 < limit }, "seed \(seed)")
            #expect(line.first(after: limit) == naive.first { limit < $0 }, "seed \(seed)")
            #expect(Array(line.all) == naive, "seed \(seed)")
            #expect(Array(line.latest(count)) == naive.suffix(count).reversed(), "seed \(seed)")
            guard let middle = naive.indices.randomElement(using: &random) else { continue }
            for index in [0, middle, naive.count - 1] {
                let rank = line.rank(of: naive[index])
                #expect(rank == index + 1, "seed \(seed)")
            }
        }
    }

    @Test func `an emptied line begins anew`() {
        var line = RequestLine()
        for round in 0..<3 {
            let orders = (1...1000).map { LinePlace(rawValue: UInt64(1000 * round + $0)) }
            for order in orders { line.insert(order) }
            #expect(orders.map(line.rank(of:)) == Array(1...1000))
            for order in orders.reversed() { line.remove(order) }
            #expect(line.count == 0)
        }
    }
}
