import ArbiterCore
import Testing

/// What the state may take, in all and of each.
struct MemoryTests {
    private static let memory = 1 << 20

    private func arbiter() -> Arbiter {
        var limits = Limits()
        limits.memory = Self.memory
        return Arbiter(limits: limits)
    }

    /// A request that takes about 4 KiB more than others.
    private func request(scene: String, session: Session? = nil) throws -> TransitionRequest {
        let animation = AnimationRequest(userInfo: Array(repeating: UInt8(ascii: " "), count: Limits.userInfoBytes))
        return TransitionRequest(
            scene: try #require(SceneName(scene)), animation: animation, session: session?.token)
    }

    /// Serializes until that is refused.
    private func fill(
        _ arbiter: inout Arbiter, _ request: (Int) throws -> TransitionRequest
    ) throws -> (tickets: [Owner], error: ArbiterError) {
        var tickets: [Owner] = []
        while true {
            do {
                tickets.append(try arbiter.serialize(try request(tickets.count)))
            } catch let error as ArbiterError {
                return (tickets, error)
            }
        }
    }

    @Test func `one scene takes no more than its share, and another has room`() throws {
        var arbiter = arbiter()
        let session = try arbiter.openSession()
        let other = try arbiter.openSession()
        let third = try arbiter.openSession()
        let (tickets, error) = try fill(&arbiter) { try request(scene: "a", session: [session, other, third][$0 % 3]) }
        let a: SceneName = try #require(SceneName("a"))
        #expect(error == .shareUsedUp(.scene(a), bytes: Self.memory / 4))
        try arbiter.end(arbiter.start(scene: "b"))
        // What is ended makes room.
        try arbiter.end(tickets[0], as: .cancelled)
        _ = try arbiter.serialize(try request(scene: "a", session: session))
    }

    @Test func `one session takes no more than its share, and another has room`() throws {
        var arbiter = arbiter()
        let (greedy, modest) = (try arbiter.openSession(), try arbiter.openSession())
        let (_, error) = try fill(&arbiter) { try request(scene: "s\($0)", session: greedy) }
        #expect(error == .shareUsedUp(.session(greedy.id), bytes: Self.memory / 8))
        _ = try arbiter.serialize(try request(scene: "s0", session: modest))
        _ = try arbiter.serialize(try request(scene: "s0"))
        // What is bound to a session ends with it, and so its share is free.
        arbiter.advance(by: Limits.defaultSession)
        #expect(throws: ArbiterError.unknownSession) { try arbiter.serialize(request(scene: "s0", session: greedy)) }
    }

    @Test func `all sessions together leave room for those without one`() throws {
        var arbiter = arbiter()
        var error: ArbiterError?
        for number in 0..<9 where error == nil || error.map(Self.isOfOneSession) == true {
            let session = try arbiter.openSession()
            error = try fill(&arbiter) { try request(scene: "s\(($0 + number) % 9)", session: session) }.error
        }
        #expect(error == .shareUsedUp(.sessions, bytes: Self.memory / 4 * 3))
        _ = try arbiter.serialize(try request(scene: "s9"))
    }

    private static func isOfOneSession(_ error: ArbiterError) -> Bool {
        if case .shareUsedUp(.session, _) = error { true } else { false }
    }

    @Test func `those without a session share, and leave room for those with one`() throws {
        var arbiter = arbiter()
        let (_, error) = try fill(&arbiter) { try request(scene: "s\($0 % 8)") }
        #expect(error == .shareUsedUp(.shared, bytes: Self.memory / 2))
        let session = try arbiter.openSession()
        _ = try arbiter.serialize(try request(scene: "s9", session: session))
    }

    @Test func `storyboards count for those without a session`() throws {
        var arbiter = arbiter()
        let controllers = try (0..<50).map { Controller(id: try #require(ControllerID("c\($0)"))) }
        let root = try #require(ControllerID("root"))
        let hierarchy = try Hierarchy(
            root: root, controllers: [Controller(id: root, content: .navigation(controllers.map(\.id)))] + controllers)
        let storyboard = try Storyboard(hierarchy: hierarchy)
        var refused: ArbiterError?
        for number in 0..<100 where refused == nil {
            let scene: SceneName = try #require(SceneName("s\(number)"))
            do {
                try arbiter.declare(storyboard, in: scene)
            } catch let error as ArbiterError {
                refused = error
            }
        }
        #expect(refused == .shareUsedUp(.shared, bytes: Self.memory / 2))
        let s0: SceneName = try #require(SceneName("s0"))
        // The same again takes nothing more; a scene that is deleted gives its room back.
        try arbiter.declare(storyboard, in: s0)
        try arbiter.delete(s0)
        let last: SceneName = try #require(SceneName("last"))
        try arbiter.declare(storyboard, in: last)
    }

    @Test func `a declaration counts the tickets that stay because they are set aside`() throws {
        var arbiter = arbiter()
        let sessions = try (0..<3).map { _ in try arbiter.openSession() }
        let (tickets, error) = try fill(&arbiter) { number in
            var request = try request(scene: "a", session: sessions[number % 3])
            (request.expectations, request.unmet) = ([.controller(id("nobody"), is: .exists)], .wait)
            request.queue = .seconds(60)
            return request
        }
        let a: SceneName = try #require(SceneName("a"))
        let full = ArbiterError.shareUsedUp(.scene(a), bytes: Self.memory / 4)
        #expect(error == full && arbiter.view(of: tickets[0])?.transition.unmet != nil)
        let views = try (0..<50).map { Controller(id: try #require(ControllerID("v\($0)"))) }
        let nav = Controller(id: id("nav"), content: .navigation(views.map(\.id)))
        let storyboard = try Storyboard(hierarchy: Hierarchy(root: nav.id, controllers: [nav] + views))
        #expect(throws: full) { try arbiter.declare(storyboard, in: a) }
        for ticket in tickets { try arbiter.end(ticket, as: .cancelled) }
        try arbiter.declare(storyboard, in: a)
    }

    @Test func `a patch that needs more than its share is refused, and one that frees room is not`() throws {
        var arbiter = arbiter()
        try arbiter.declare("nav[home]")
        func patch(_ number: Int, controllers: Int) throws -> StoryboardPatch {
            let views = try (0..<controllers).map { Controller(id: try #require(ControllerID("v\($0)"))) }
            let nav = Controller(id: id("list"), content: .navigation(views.map(\.id)))
            let identifier = try #require(SegueIdentifier("s\(number)"))
            let destination = try Hierarchy(root: nav.id, controllers: [nav] + views)
            return StoryboardPatch(segues: [
                .set(Segue(identifier: identifier, source: id("home"), kind: .present, destination: destination))
            ])
        }
        var refused: ArbiterError?
        var number = 0
        while refused == nil, number < Limits.segues {
            number += 1
            do { try arbiter.patch(patch(number, controllers: 50)) } catch let error as ArbiterError { refused = error }
        }
        guard case .shareUsedUp? = refused else {
            Issue.record("\(String(describing: refused))")
            return
        }
        try arbiter.patch(StoryboardPatch(segues: [.remove(SegueIdentifier(unchecked: "s1"), source: id("home"))]))
        try arbiter.patch(patch(number, controllers: 1))
    }

    @Test func `a hundred thousand idle scenes fit into the default`() throws {
        var limits = Limits()
        limits.memory = 128 << 20
        var machine = ArbiterStateMachine(limits: limits)
        let count = 1_000
        for number in 1...count {
            let moment = Moment(instant: Instant(nanoseconds: Int64(number)), timestamp: Timestamp(milliseconds: 0))
            let (id, token) = (TransitionID(rawValue: UInt64(number)), Token(high: 0, low: UInt64(number)))
            let scene: SceneName = try #require(SceneName("s\(number)"))
            _ = try machine.apply(.start(TransitionRequest(scene: scene), id: id, token: token), at: moment).answer
                .get()
            _ = try machine.apply(.end(id, token: token, .completed), at: moment).answer.get()
        }
        #expect(machine.heldMemory * 100_000 / count < (128 << 20) * 7 / 8)
    }

    @Test func `where room gets short the scenes that were used longest ago are forgotten, by records`() throws {
        var limits = Limits()
        limits.memory = 256 << 10
        var arbiter = Arbiter(limits: limits)
        try arbiter.declare("nav[home]")
        var forgotten: [Record] = []
        for number in 0..<400 {
            try arbiter.end(arbiter.start(scene: "s\(number)"))
            forgotten = arbiter.journal.map(\.record).filter { if case .delete = $0 { true } else { false } }
            if forgotten.count == 3 { break }
        }
        let names = try ["s0", "s1", "s2"].map { try #require(SceneName($0)) }
        #expect(forgotten == names.map { .delete($0) })
        #expect(arbiter.machine.lastEvents()[.main] != nil, "what is declared is not forgotten")
        #expect(arbiter.machine.heldMemory <= 256 << 10)
    }

    @Test func `a replay admits what was admitted, however little may be taken by then`() throws {
        var arbiter = arbiter()
        let (tickets, _) = try fill(&arbiter) { try request(scene: "s\($0 % 8)") }
        var replayed = ArbiterStateMachine()
        for entry in arbiter.journal {
            #expect(replayed.apply(entry.record, at: entry.moment).records == [entry.record])
        }
        var limits = Limits()
        limits.memory = Self.memory / 16
        replayed.enforce(limits)
        #expect(replayed.snapshot() == arbiter.machine.snapshot())
        #expect(replayed.memoryUse == arbiter.machine.memoryUse)
        #expect(try ArbiterStateMachine(snapshot: replayed.snapshot()).memoryUse == replayed.memoryUse)
        #expect(!tickets.isEmpty)
    }
}
