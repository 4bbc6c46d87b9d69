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
        #expect(!queue.isFree(Claim(paths: [right]), at: .end))
        queue.remove(LinePlace(rawValue: 1))
        #expect(granted(&queue) == [2])
        queue.remove(LinePlace(rawValue: 2))
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
        #expect(queue.blockers(of: LinePlace(rawValue: 3), limit: 8) == [TransitionID(rawValue: 2)])
        queue.remove(LinePlace(rawValue: 2))
        #expect(granted(&queue) == [3])
    }

    @Test func `the places above and below are taken, those beside are free`() throws {
        var queue = ScopeQueue()
        let tabs = try #require(ControllerID("tabs"))
        let first = try #require(ControllerID("first"))
        let second = try #require(ControllerID("second"))
        append(1, [[tabs, first]], to: &queue)
        #expect(!queue.isFree(Claim(paths: [[]]), at: .end))
        #expect(!queue.isFree(Claim(paths: [[tabs]]), at: .end))
        #expect(!queue.isFree(Claim(paths: [[tabs, first, second]]), at: .end))
        #expect(queue.isFree(Claim(paths: [[tabs, second]]), at: .end))
        #expect(queue.isFree(Claim(paths: [[first]]), at: .end))
        #expect(!queue.isFree(Claim(paths: [[first], [tabs, first]]), at: .end))
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
        queue.remove(LinePlace(rawValue: 3))
        // The missing controller has been inserted, and an operation on it now concerns everything inside it.
        queue.refile(LinePlace(rawValue: 4), scope: [[inner], [b]])
        #expect(granted(&queue) == [])
        queue.remove(LinePlace(rawValue: 1))
        #expect(granted(&queue) == [])
        queue.remove(LinePlace(rawValue: 2))
        #expect(granted(&queue) == [4])
        queue.remove(LinePlace(rawValue: 4))
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
        #expect(!queue.isFree(Claim(paths: [[new]], arrivals: ScopeQueue.Arrivals(named: [new])), at: .end))
        #expect(queue.blockers(of: LinePlace(rawValue: 2), limit: 8) == [TransitionID(rawValue: 1)])
        queue.remove(LinePlace(rawValue: 1))
        #expect(granted(&queue) == [2])
    }

    @Test func `an earlier one waits for what a later one brings in once that is granted`() throws {
        for rules in Rules.allCases {
            var queue = ScopeQueue()
            let (a, b, new) = try (
                #require(ControllerID("a")), #require(ControllerID("b")), #require(ControllerID("new"))
            )
            append(1, [[a]], to: &queue)
            append(2, [[a]], naming: [new], to: &queue)
            append(3, [[b]], bringing: [new], to: &queue)
            #expect(granted(&queue, under: rules) == [1, 3])
            queue.remove(LinePlace(rawValue: 1))
            // Under the first rules it waited only for what stands before it in the line.
            #expect(granted(&queue, under: rules) == (rules == .first ? [2] : []))
            queue.remove(LinePlace(rawValue: 3))
            #expect(granted(&queue, under: rules) == (rules == .first ? [] : [2]))
        }
    }

    @Test func `a higher priority goes before what waits, and never before what is granted`() throws {
        var queue = ScopeQueue()
        let (a, b) = try (#require(ControllerID("a")), #require(ControllerID("b")))
        append(1, [[a]], to: &queue)
        append(2, [[a], [b]], to: &queue)
        #expect(granted(&queue) == [1])
        let urgent = try LinePlace(RequestOrder(rawValue: 3), #require(Priority(1)))
        queue.append(urgent, id: TransitionID(rawValue: 3), Claim(paths: [[]]))
        #expect(granted(&queue) == [])
        #expect(queue.blockers(of: urgent, limit: 8) == [TransitionID(rawValue: 1)])
        #expect(queue.blockers(of: LinePlace(rawValue: 2), limit: 8) == [1, 3].map { TransitionID(rawValue: $0) })
        queue.remove(LinePlace(rawValue: 1))
        #expect(granted(&queue) == [3])
        queue.remove(urgent)
        #expect(granted(&queue) == [2])
    }

    @Test func `all who are in the way are named, however many places each of them has`() throws {
        var queue = ScopeQueue()
        let paths: [ScopePath] = try (0..<129).map { [try #require(ControllerID("c\($0)"))] }
        append(1, [[]], to: &queue)
        #expect(granted(&queue) == [1])
        append(2, Array(paths[..<64]), to: &queue)
        append(3, Array(paths[64..<128]), to: &queue)
        append(4, [paths[128]], to: &queue)
        append(5, [[]], to: &queue)
        let inTheWay = [1, 2, 3, 4].map { TransitionID(rawValue: $0) }
        #expect(queue.blockers(of: LinePlace(rawValue: 5), limit: 8) == inTheWay)
        #expect(queue.allBlockers(of: LinePlace(rawValue: 5), limit: 100) == inTheWay)
        #expect(queue.waiting(for: LinePlace(rawValue: 1), limit: 100) == 4)
    }

    @Test func `what is asked for at once does not see tickets of a lower priority`() throws {
        var queue = ScopeQueue()
        append(1, [[]], to: &queue)
        #expect(granted(&queue) == [1])
        append(2, [[]], to: &queue)
        queue.remove(LinePlace(rawValue: 1))
        for (priority, isFree) in [(-1, false), (0, false), (1, true)] {
            #expect(try queue.isFree(Claim(paths: [[]]), at: .behindAll(of: #require(Priority(priority)))) == isFree)
        }
    }

    private func append(
        _ number: UInt64, _ scope: [ScopePath], bringing brought: [ControllerID] = [],
        naming named: [ControllerID] = [],
        to queue: inout ScopeQueue
    ) {
        queue.append(
            LinePlace(rawValue: number), id: TransitionID(rawValue: number),
            Claim(paths: scope, arrivals: ScopeQueue.Arrivals(brought: brought, named: brought + named)))
    }

    private func granted(_ queue: inout ScopeQueue, under rules: Rules = .newest) -> [UInt64] {
        var granted: [UInt64] = []
        while let id = queue.grantNext(under: rules) { granted.append(id.rawValue) }
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
        guard let waiting = naive.members.filter({ !$0.isGranted && !$0.claim.isAny }).randomElement(using: &random)
        else { return }
        let scope = forest.scope(using: &random)
        queue.refile(waiting.order, scope: scope)
        naive.refile(waiting.order, scope: scope)
        guard random.isOnce(in: 2) else { return }
        var arrivals = forest.arrivals(using: &random)
        if waiting.claim.isShared { arrivals.brought = [] }
        queue.rename(waiting.order, names: [], arrivals: arrivals)
        naive.rename(waiting.order, arrivals: arrivals)
    }

    private mutating func append() {
        last += 1
        let claim = forest.claim(using: &random)
        let order = LinePlace(RequestOrder(rawValue: last), somePriority())
        queue.append(order, id: TransitionID(rawValue: last), claim)
        naive.append(order, id: TransitionID(rawValue: last), claim)
    }

    /// Mostly the same one, so that there are rows of equals.
    private mutating func somePriority() -> Priority {
        random.isOnce(in: 3) ? Priority(Int.random(in: -2...2, using: &random)) ?? .standard : .standard
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
        while let id = queue.grantNext(under: .newest) { granted.append(id) }
        #expect(granted == naive.grantAll(), comment)
    }

    mutating func check() {
        #expect(queue.count == naive.members.count, comment)
        #expect(queue.isEmpty == naive.members.isEmpty, comment)
        #expect(queue.unfinished == naive.members.map(\.id), comment)
        let claim = forest.claim(using: &random)
        let place = LinePlace.behindAll(of: somePriority())
        let conflicting = naive.conflicting(with: claim, at: place)
        #expect(queue.isFree(claim, at: place) == (naive.freePaths(of: claim, at: place) != nil), comment)
        #expect(queue.brokenCount() == nil, comment)
        let limit = Int.random(in: 1...10, using: &random)
        checkBlockers(queue.blockers(of: claim, at: place, limit: limit), among: conflicting, limit: limit)
        for limit in [limit, Limits.blockersLookedAt] {
            checkAll(queue.allBlockers(of: claim, at: place, limit: limit), conflicting, limit: limit)
        }
        checkWaiting(limit: limit)
        checkReplacing(claim)
        if let member = naive.members.randomElement(using: &random) {
            let blockers = queue.blockers(of: member.order, limit: limit)
            checkBlockers(blockers, among: naive.blockers(of: member), limit: limit)
            for limit in [limit, Limits.blockersLookedAt] {
                checkAll(
                    queue.allBlockers(of: member.order, limit: limit), naive.blockers(of: member), limit: limit)
            }
        }
    }

    /// As many are said to wait for a granted one as conflict with it.
    private func checkWaiting(limit: Int) {
        for member in naive.members where member.isGranted {
            let waiting = naive.members.filter { other in
                naive.blockers(of: other).contains { $0.id == member.id }
            }
            #expect(queue.waiting(for: member.order, limit: limit) == min(limit, waiting.count), comment)
        }
    }

    private mutating func checkReplacing(_ new: Claim) {
        let candidates = naive.members.filter { !$0.isGranted && random.isOnce(in: 2) }
        let place = LinePlace(RequestOrder(rawValue: last + 1), somePriority())
        let found = queue.replaceable(
            candidates.map(\.order).reversed(), by: new, at: place, under: .newest, aside: { _ in nil },
            where: { _ in true })
        #expect(found == naive.replaceable(candidates, by: new, at: place), comment)
        guard let first = found.first else { return }
        let taken = LinePlace(first.order, place.priority)
        #expect(queue.isFree(new, at: taken) == (naive.freePaths(of: new, at: taken) != nil), comment)
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
        #expect(queue.isFree(Claim(paths: [[]]), at: .end), comment)
    }
}
