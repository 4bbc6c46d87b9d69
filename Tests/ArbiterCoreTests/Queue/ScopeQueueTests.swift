import ArbiterTestKit
import Testing

@testable import ArbiterCore

struct ScopeQueueTests {
    @Test(arguments: Forest.all, Seeds.first(3, atNight: 20))
    func `the queue grants what one who compares everything would grant`(forest: Forest, seed: UInt64) {
        var run = Run(forest: forest, seed: seed, refiles: false)
        for _ in 0..<forest.steps {
            run.step()
            run.check()
        }
        run.finish()
    }

    @Test(arguments: Forest.all, Seeds.first(3, atNight: 20))
    func `so it does where scopes change while they wait`(forest: Forest, seed: UInt64) {
        var run = Run(forest: forest, seed: seed, refiles: true)
        for _ in 0..<forest.steps {
            run.step()
            run.check()
        }
        run.finish()
    }

    @Test func `a wide request is not starved by narrow ones`() throws {
        var queue = ScopeQueue()
        let left = try [#require(ControllerID("left"))]
        let right = try [#require(ControllerID("right"))]
        append(1, [left], to: &queue)
        append(2, [[]], to: &queue)
        append(3, [right], to: &queue)
        #expect(granted(&queue) == [1])
        #expect(!queue.isFree([right]))
        queue.remove(RequestOrder(rawValue: 1))
        #expect(granted(&queue) == [2])
        queue.remove(RequestOrder(rawValue: 2))
        #expect(granted(&queue) == [3])
    }

    @Test func `disjoint scopes run side by side and a scope is granted whole`() throws {
        var queue = ScopeQueue()
        let left = try [#require(ControllerID("left"))]
        let right = try [#require(ControllerID("right"))]
        append(1, [left], to: &queue)
        append(2, [left, right], to: &queue)
        append(3, [right], to: &queue)
        #expect(granted(&queue) == [1])
        #expect(queue.blockers(of: RequestOrder(rawValue: 3), limit: 8) == [TransitionID(rawValue: 2)])
        queue.remove(RequestOrder(rawValue: 2))
        #expect(granted(&queue) == [3])
    }

    @Test func `the places above and below are taken, those beside are free`() throws {
        var queue = ScopeQueue()
        let tabs = try #require(ControllerID("tabs"))
        let first = try #require(ControllerID("first"))
        let second = try #require(ControllerID("second"))
        append(1, [[tabs, first]], to: &queue)
        #expect(!queue.isFree([[]]))
        #expect(!queue.isFree([[tabs]]))
        #expect(!queue.isFree([[tabs, first, second]]))
        #expect(queue.isFree([[tabs, second]]))
        #expect(queue.isFree([[first]]))
        #expect(!queue.isFree([[first], [tabs, first]]))
    }

    @Test func `who comes to stand over the free part of a later one is waited for`() throws {
        var queue = ScopeQueue()
        let (a, b, inner) = try (#require(ControllerID("a")), #require(ControllerID("b")), #require(ControllerID("in")))
        let (c, d, absent) = try (#require(ControllerID("c")), #require(ControllerID("d")), #require(ControllerID("z")))
        append(1, [[a]], to: &queue)
        append(2, [[b]], to: &queue)
        append(3, [[inner, c]], to: &queue)
        append(4, [[absent], [b]], to: &queue)
        append(5, [[inner, d], [a]], to: &queue)
        #expect(granted(&queue) == [1, 2, 3])
        queue.remove(RequestOrder(rawValue: 3))
        // The missing controller has been inserted, and an operation on it now concerns everything inside it.
        queue.refile(RequestOrder(rawValue: 4), scope: [[inner], [b]])
        #expect(granted(&queue) == [])
        queue.remove(RequestOrder(rawValue: 1))
        #expect(granted(&queue) == [])
        queue.remove(RequestOrder(rawValue: 2))
        #expect(granted(&queue) == [4])
        queue.remove(RequestOrder(rawValue: 4))
        #expect(granted(&queue) == [5])
    }

    @Test func `a transition that names what an earlier one brings in waits for it, whatever their places are`() throws
    {
        var queue = ScopeQueue()
        let (a, b, new) = try (#require(ControllerID("a")), #require(ControllerID("b")), #require(ControllerID("new")))
        append(1, [[a]], bringing: [new], to: &queue)
        append(2, [[b]], naming: [new], to: &queue)
        append(3, [[b]], to: &queue)
        #expect(granted(&queue) == [1])
        #expect(!queue.isFree([[new]], naming: [new]))
        #expect(queue.blockers(of: RequestOrder(rawValue: 2), limit: 8) == [TransitionID(rawValue: 1)])
        queue.remove(RequestOrder(rawValue: 1))
        #expect(granted(&queue) == [2])
    }

    @Test func `an earlier one does not wait for what a later one brings in`() throws {
        var queue = ScopeQueue()
        let (a, b, new) = try (#require(ControllerID("a")), #require(ControllerID("b")), #require(ControllerID("new")))
        append(1, [[a]], to: &queue)
        append(2, [[a]], naming: [new], to: &queue)
        append(3, [[b]], bringing: [new], to: &queue)
        #expect(granted(&queue) == [1, 3])
        queue.remove(RequestOrder(rawValue: 1))
        #expect(granted(&queue) == [2])
    }

    private func append(
        _ number: UInt64, _ scope: [ScopePath], bringing brought: [ControllerID] = [],
        naming named: [ControllerID] = [],
        to queue: inout ScopeQueue
    ) {
        queue.append(
            RequestOrder(rawValue: number), id: TransitionID(rawValue: number), scope: scope,
            arrivals: ScopeQueue.Arrivals(brought: brought, named: brought + named))
    }

    private func granted(_ queue: inout ScopeQueue) -> [UInt64] {
        var granted: [UInt64] = []
        while let id = queue.grantNext() { granted.append(id.rawValue) }
        return granted
    }
}

/// A random run of the queue, compared with the naive one.
private struct Run {
    let forest: Forest
    let seed: UInt64
    /// Whether scopes change.
    let refiles: Bool
    private var random: SplitMix64
    private var queue = ScopeQueue()
    private var naive = NaiveQueue()
    private var last: UInt64 = 0

    private var comment: Comment { "seed \(seed), \(forest)" }

    init(forest: Forest, seed: UInt64, refiles: Bool) {
        self.forest = forest
        self.seed = seed
        self.refiles = refiles
        random = SplitMix64(seed: seed)
    }

    /// Appends or removes a transition, then grants; sometimes two changes happen before the grants.
    mutating func step() {
        repeat { change() } while random.isOnce(in: 4)
        grant()
    }

    mutating func change() {
        if refiles, random.isOnce(in: 3) { refile() }
        // Mostly full, so that transitions wait; sometimes drained.
        let fullness = naive.members.count * 10 / forest.members
        if naive.members.isEmpty || fullness < Int.random(in: 0..<10, using: &random) || random.isOnce(in: 8) {
            append()
        } else if let member = memberToRemove() {
            queue.remove(member.order)
            naive.remove(member.order)
        }
    }

    private mutating func refile() {
        guard let waiting = naive.members.filter({ !$0.isGranted }).randomElement(using: &random) else { return }
        let scope = forest.scope(using: &random)
        queue.refile(waiting.order, scope: scope)
        naive.refile(waiting.order, scope: scope)
        guard random.isOnce(in: 2) else { return }
        let arrivals = forest.arrivals(using: &random)
        queue.rename(waiting.order, names: [], arrivals: arrivals)
        naive.rename(waiting.order, arrivals: arrivals)
    }

    private mutating func append() {
        last += 1
        let scope = forest.scope(using: &random)
        let order = RequestOrder(rawValue: last)
        let arrivals = forest.arrivals(using: &random)
        queue.append(order, id: TransitionID(rawValue: last), scope: scope, arrivals: arrivals)
        naive.append(order, id: TransitionID(rawValue: last), scope: scope, arrivals: arrivals)
    }

    /// Mostly a transition that runs, else one that waits.
    private mutating func memberToRemove() -> NaiveQueue.Member? {
        let running = naive.members.filter(\.isGranted)
        let waiting = naive.members.filter { !$0.isGranted }
        let preferred = random.isOnce(in: 3) ? waiting : running
        return preferred.randomElement(using: &random) ?? naive.members.randomElement(using: &random)
    }

    private mutating func grant() {
        var granted: [TransitionID] = []
        while let id = queue.grantNext() { granted.append(id) }
        #expect(granted == naive.grantAll(), comment)
    }

    mutating func check() {
        #expect(queue.count == naive.members.count, comment)
        #expect(queue.isEmpty == naive.members.isEmpty, comment)
        #expect(queue.unfinished == naive.members.map(\.id), comment)
        let scope = forest.scope(using: &random)
        let named = forest.arrivals(using: &random).named
        let conflicting = naive.conflicting(with: scope, naming: named)
        #expect(queue.isFree(scope, naming: named) == conflicting.isEmpty, comment)
        let limit = Int.random(in: 1...10, using: &random)
        checkBlockers(queue.blockers(of: scope, naming: named, limit: limit), among: conflicting, limit: limit)
        for limit in [limit, Limits.blockersLookedAt] {
            checkAll(queue.allBlockers(of: scope, naming: named, limit: limit), conflicting, limit: limit)
        }
        checkReplacing(Claim(paths: scope, arrivals: forest.arrivals(using: &random)))
        if let member = naive.members.randomElement(using: &random) {
            let blockers = queue.blockers(of: member.order, limit: limit)
            checkBlockers(blockers, among: naive.blockers(of: member), limit: limit)
            for limit in [limit, Limits.blockersLookedAt] {
                checkAll(
                    queue.allBlockers(of: member.order, limit: limit), naive.blockers(of: member), limit: limit)
            }
        }
    }

    private mutating func checkReplacing(_ new: Claim) {
        let candidates = naive.members.filter { !$0.isGranted && random.isOnce(in: 2) }
        let found = queue.replaceable(candidates.map(\.order).reversed(), by: new) { _ in true }
        #expect(found == naive.replaceable(candidates, by: new), comment)
        guard let place = found.first else { return }
        let inTheWay = naive.members.filter { other in
            guard !found.contains(other.order) else { return false }
            if other.order < place, new.arrivals.named.contains(where: { other.arrivals.brought.contains($0) }) {
                return true
            }
            return (other.order < place || other.isGranted) && NaiveQueue.conflict(other.scope, new.paths)
        }
        #expect(queue.isFree(new, at: place) == inTheWay.isEmpty, comment)
        checkBlockers(queue.blockers(of: new, at: place, limit: 8), among: inTheWay, limit: 8)
    }

    /// If it is said that these are all blockers, they are; and it is said, unless they are too many or the limit is small.
    private func checkAll(_ told: [TransitionID]?, _ members: [NaiveQueue.Member], limit: Int) {
        guard let told else {
            #expect(members.count > limit || limit < Limits.blockersLookedAt, comment)
            return
        }
        #expect(told.count == members.count && members.count <= limit, comment)
        #expect(Set(told) == Set(members.map(\.id)), comment)
    }

    /// The blockers are a part of the true ones: all that are granted, as far as they fit, then others.
    private func checkBlockers(_ told: [TransitionID], among members: [NaiveQueue.Member], limit: Int) {
        let granted = Set(members.filter(\.isGranted).map(\.id))
        let waiting = Set(members.filter { !$0.isGranted }.map(\.id))
        #expect(told.isEmpty == members.isEmpty, comment)
        #expect(told.count <= limit, comment)
        #expect(Set(told).count == told.count, comment)
        let head = told.prefix { granted.contains($0) }
        #expect(head.count == min(limit, granted.count), comment)
        #expect(told.dropFirst(head.count).allSatisfy(waiting.contains), comment)
    }

    /// Ends all running transitions until none is left, so none waits for ever.
    mutating func finish() {
        while let running = naive.members.first(where: \.isGranted) {
            queue.remove(running.order)
            naive.remove(running.order)
            grant()
        }
        #expect(queue.isEmpty, comment)
        #expect(queue.isFree([[]]), comment)
    }
}
