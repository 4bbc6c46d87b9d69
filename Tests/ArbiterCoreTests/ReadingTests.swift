import ArbiterCore
import Testing

struct ReadingTests {
    private var arbiter = Arbiter()

    private func listed(_ filter: TransitionFilter) -> [TransitionID] {
        arbiter.machine.list(filter, at: arbiter.now).map(\.transition.id)
    }

    @Test mutating func `a list shows the newest that fit, oldest first`() throws {
        var owners: [Owner] = []
        for _ in 0..<5 { owners.append(try arbiter.serialize()) }
        #expect(listed(TransitionFilter()) == owners.map(\.id))
        #expect(listed(TransitionFilter(limit: 2)) == owners.suffix(2).map(\.id))
    }

    @Test mutating func `a list can be asked for behind a transition, whether or not that is remembered`() throws {
        var limits = Limits()
        limits.retainedCount = 0
        limits.retainedDuration = .zero
        arbiter = Arbiter(limits: limits)
        var owners: [Owner] = []
        for number in 0..<20 { owners.append(try arbiter.start(scene: "s\(number)")) }
        let orders = arbiter.transitions.map(\.transition.order)
        for number in stride(from: 1, to: 20, by: 2) { try arbiter.end(owners[number]) }
        arbiter.advance(by: .seconds(1))
        let kept = stride(from: 0, to: 20, by: 2).map { (orders[$0], owners[$0].id) }
        for order in orders + [RequestOrder(rawValue: 0), RequestOrder(rawValue: .max)] {
            let older = kept.filter { $0.0 < order }.map(\.1)
            #expect(listed(TransitionFilter(state: .running, before: order)) == older)
            #expect(listed(TransitionFilter(state: .running, before: order, limit: 3)) == older.suffix(3))
        }
    }

    @Test mutating func `scenes can be asked for behind a name`() throws {
        for name in ["b", "a", "d"] { _ = try arbiter.start(scene: name) }
        #expect(arbiter.machine.scenes(after: SceneName("a")).map(\.name.description) == ["b", "d"])
        #expect(arbiter.machine.scenes(after: SceneName("c")).map(\.name.description) == ["d"])
        #expect(arbiter.machine.scenes(after: SceneName("d")).isEmpty)
        #expect(arbiter.machine.scenes(limit: 2).map(\.name.description) == ["a", "b"])
    }

    @Test mutating func `a list can be narrowed by scene, state and client`() throws {
        let a = try arbiter.start(client: "a", scene: "left")
        let b = try arbiter.serialize(client: "b", scene: "left")
        let c = try arbiter.start(client: "a", scene: "right")
        try arbiter.end(c)
        #expect(listed(TransitionFilter(scene: SceneName("left"))) == [a.id, b.id])
        #expect(listed(TransitionFilter(state: .queued)) == [b.id])
        #expect(listed(TransitionFilter(client: ClientName("a"))) == [a.id, c.id])
        #expect(listed(TransitionFilter(scene: SceneName("left"), state: .ended)) == [])
        #expect(listed(TransitionFilter(state: .running, limit: 1)) == [a.id])
    }

    @Test mutating func `scenes are listed by name with their counts`() throws {
        _ = try arbiter.start(scene: "right")
        _ = try arbiter.serialize(scene: "right")
        _ = try arbiter.serialize(scene: "right")
        try arbiter.end(arbiter.start(scene: "left"))
        let scenes = arbiter.machine.scenes()
        #expect(scenes.map(\.name.description) == ["left", "right"])
        #expect(scenes.map(\.running) == [0, 1])
        #expect(scenes.map(\.queued) == [0, 2])
    }

    @Test mutating func `a scene shows what runs and what waits, in request order`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize()
        let c = try arbiter.serialize()
        let scene = try arbiter.scene("main")
        #expect(scene.running.map(\.transition.id) == [a.id])
        #expect(scene.queue.map(\.transition.id) == [b.id, c.id])
        #expect(scene.queue.map(\.position) == [1, 2])
        #expect(scene.summary.queued == 2)
    }

    @Test func `a scene that nobody has used is unknown`() throws {
        let name = try #require(SceneName("nowhere"))
        #expect(throws: ArbiterError.unknownScene(name)) { try arbiter.scene("nowhere") }
    }

    @Test mutating func `a list stays right while much is forgotten`() throws {
        var limits = Limits()
        limits.retainedCount = 2
        limits.retainedDuration = .zero
        arbiter = Arbiter(limits: limits)
        let running = try arbiter.start(scene: "left", lease: .seconds(3600))
        for _ in 0..<1200 { try arbiter.end(arbiter.start()) }
        #expect(listed(TransitionFilter(limit: 10)).count == 3)
        #expect(listed(TransitionFilter(limit: 10)).first == running.id)
    }
}
