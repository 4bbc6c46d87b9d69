import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import Testing

/// What is done with a request that cannot be carried out here and now.
struct ErrandTests {
    private static let times: RelayTimes = {
        var times = RelayTimes(lease: .seconds(5), comments: .seconds(5))
        times.asking = .milliseconds(500)
        return times
    }()

    /// An errand, and the time that passes for it.
    private struct Course {
        var errand: Errand
        var now = Instant(nanoseconds: 0)

        init(from origin: Errand.Origin = .client) { errand = Errand(from: origin, ErrandTests.times) }

        mutating func on(_ event: Errand.Event, after pause: Duration = .zero) -> String {
            now = now.advanced(by: pause)
            return errand.on(event, at: now).text
        }
    }

    private func misplaced(_ tenure: UInt64?) -> Errand.Event {
        .misplaced(
            .elsewhere(Elsewhere(shard: 3, owner: tenure.map { ClusterMap.Owner(address: "node-\($0)", tenure: $0) })))
    }

    private var needsGuest: Errand.Event {
        .misplaced(.needsGuest(GuestNeeded(session: Token(high: 1, low: 1), shard: 3)))
    }

    // MARK: - Clients

    @Test func `a request of a shard that another node serves goes there`() {
        var course = Course()
        #expect(course.on(misplaced(1)) == "forward to node-1")
        #expect(course.on(.answered) == "nothing")
    }

    @Test func `a request of a shard that nobody serves is held until somebody does`() {
        var course = Course()
        #expect(course.on(misplaced(nil)) == "hold for 7.0 seconds")
        #expect(course.on(.served, after: .seconds(1)) == "carry out")
        #expect(course.on(misplaced(1)) == "forward to node-1")
    }

    @Test func `a request is held for a limited time in all`() {
        var course = Course()
        #expect(course.on(misplaced(nil)) == "hold for 7.0 seconds")
        #expect(course.on(.served, after: .seconds(5)) == "carry out")
        #expect(course.on(misplaced(nil)) == "hold for 2.0 seconds")
        #expect(course.on(.alarm, after: .seconds(2)) == "refuse as misplaced")
        var late = Course()
        _ = late.on(misplaced(1))
        #expect(late.on(.untouched(reason: "r")) == "hold for 0.5 seconds, asked 1")
        #expect(late.on(.served, after: .seconds(7)) == "carry out")
        #expect(late.on(misplaced(nil)) == "refuse as misplaced")
    }

    @Test func `an owner that has carried out nothing is asked again after a while, or the next one at once`() {
        var course = Course()
        _ = course.on(misplaced(1))
        #expect(course.on(.untouched(reason: "r")) == "hold for 0.5 seconds, asked 1")
        #expect(course.on(.alarm, after: .milliseconds(500)) == "carry out")
        #expect(course.on(misplaced(1)) == "forward to node-1")
        #expect(course.on(.untouched(reason: "r")) == "hold for 0.5 seconds, asked 1")
        #expect(course.on(.served) == "carry out")
        #expect(course.on(misplaced(2)) == "forward to node-2")
        // An owner that has gone is not asked again, however long it takes.
        #expect(course.on(.untouched(reason: "r")) == "hold for 0.5 seconds, asked 2")
        #expect(course.on(.alarm, after: .milliseconds(500)) == "carry out")
        #expect(course.on(misplaced(nil)) == "hold for 6.0 seconds, asked 2")
    }

    @Test func `shortly before its time is over, no owner is asked again`() {
        var course = Course()
        _ = course.on(misplaced(nil))
        _ = course.on(.served, after: .milliseconds(6600))
        _ = course.on(misplaced(1))
        #expect(course.on(.untouched(reason: "r")) == "hold for 0.4 seconds, asked 1")
        #expect(course.on(.alarm, after: .milliseconds(400)) == "refuse as not served: r")
    }

    @Test func `a request is passed on to a few tenures only`() {
        var course = Course()
        for tenure in 1...UInt64(Errand.mostTries) {
            #expect(course.on(misplaced(tenure)) == "forward to node-\(tenure)")
            _ = course.on(.untouched(reason: "r"))
            _ = course.on(.served)
        }
        #expect(course.on(misplaced(99)) == "refuse as misplaced")
    }

    @Test func `a session becomes a guest once`() {
        var course = Course()
        #expect(course.on(needsGuest) == "lend")
        #expect(course.on(.lent(.success(()))) == "carry out, and ask no home")
        #expect(course.on(needsGuest) == "refuse as misplaced")
        var refused = Course()
        _ = refused.on(needsGuest)
        #expect(refused.on(.lent(.failure(.lost(shards: [1])))) == "refuse as lost")
    }

    @Test func `a session is borrowed anew when its shard or its home has moved, a few times only`() {
        var course = Course()
        for _ in 1..<Errand.mostLoans {
            #expect(course.on(needsGuest) == "lend")
            #expect(course.on(.movedWhileLending) == "carry out")
        }
        #expect(course.on(needsGuest) == "lend")
        #expect(course.on(.movedWhileLending) == "refuse as not served: it moves from node to node")
    }

    @Test func `a request for which there is no room is refused as it would be in the end`() {
        var course = Course()
        _ = course.on(misplaced(nil))
        #expect(course.on(.full) == "refuse as misplaced")
    }

    @Test func `nothing is done for a client that has left while its request was held`() {
        var course = Course()
        _ = course.on(misplaced(nil))
        #expect(course.on(.clientLeft) == "nothing")
        guard case .over = course.errand.state else { return #expect(Bool(false), "it goes on") }
    }

    @Test func `a shutdown refuses what clients have asked, held or about to be carried out`() {
        var held = Course()
        _ = held.on(misplaced(nil))
        #expect(held.on(.draining) == "refuse as draining")
        var served = Course()
        _ = served.on(misplaced(nil))
        _ = served.on(.served)
        #expect(served.on(.draining) == "refuse as draining")
    }

    // MARK: - Other nodes

    @Test func `what another node passes on is held only as long as it takes to begin a shard`() {
        var course = Course(from: .node(hops: 1))
        #expect(course.on(misplaced(nil)) == "hold for 3.0 seconds")
        #expect(course.on(.served, after: .seconds(1)) == "carry out")
        // The node that has passed it on holds it itself, and asks elsewhere.
        #expect(course.on(misplaced(2)) == "refuse as misplaced")
    }

    @Test func `what another node passes on is passed on once more, and not held then`() {
        var course = Course(from: .node(hops: 1))
        #expect(course.on(misplaced(2)) == "forward to node-2")
        #expect(course.on(.untouched(reason: "r")) == "refuse as not served: r")
        var far = Course(from: .node(hops: 2))
        #expect(far.on(misplaced(2)) == "refuse as misplaced")
    }

    @Test func `what another node passes on is carried out during a shutdown, but not held`() {
        var course = Course(from: .node(hops: 1))
        _ = course.on(needsGuest)
        _ = course.on(.lent(.success(())))
        #expect(course.on(.draining) == "carry out, and ask no home")
        #expect(course.on(misplaced(nil)) == "hold for 3.0 seconds")
        #expect(course.on(.draining) == "refuse as misplaced")
    }

    @Test(arguments: [
        (RelayRefusal.misplaced(.untouched), true), (.misplaced(.elsewhere(Elsewhere(shard: 0, owner: nil))), true),
        (.notServed(reason: "r"), true), (.engine(.notOwner(JournalError(.notOwner, reason: "r"))), true),
        (.draining, false), (.lost(shards: [1]), false), (.homeUnreachable(reason: "r"), false),
        (.misplaced(.needsGuest(GuestNeeded(session: Token(high: 1, low: 1), shard: 3))), false),
    ])
    func `only what belongs to another owner may be sent to the next one`(refusal: RelayRefusal, isUntouched: Bool) {
        #expect(refusal.isUntouched == isUntouched)
    }
}

extension Errand.Action {
    fileprivate var text: String {
        switch self {
        case .none: "nothing"
        case .carryOut(let mayNeedGuest): mayNeedGuest ? "carry out" : "carry out, and ask no home"
        case .lend: "lend"
        case .forward(let owner, _): "forward to \(owner.address)"
        case .hold(_, let asked, let limit): "hold for \(limit)" + (asked.map { ", asked \($0)" } ?? "")
        case .refuse(.misplaced): "refuse as misplaced"
        case .refuse(.notServed(let reason)): "refuse as not served: \(reason)"
        case .refuse(.lost): "refuse as lost"
        case .refuse(.homeUnreachable): "refuse as unreachable"
        case .refuse(.engine): "refuse as the engine"
        case .refuse(.draining): "refuse as draining"
        }
    }
}
