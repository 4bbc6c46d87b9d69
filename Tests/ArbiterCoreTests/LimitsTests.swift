import ArbiterCore
import Testing

struct LimitsTests {
    private func arbiter(_ adjust: (inout Limits) -> Void) -> Arbiter {
        var limits = Limits()
        adjust(&limits)
        return Arbiter(limits: limits)
    }

    @Test func `a queue holds no more tickets than its limit`() throws {
        var arbiter = arbiter { $0.queuedPerScene = 2 }
        let a = try arbiter.start()
        _ = try arbiter.serialize()
        let c = try arbiter.serialize()
        #expect(throws: ArbiterError.queueFull(limit: 2)) { try arbiter.serialize() }
        _ = try arbiter.serialize(scene: "other")
        try arbiter.end(a)
        _ = try arbiter.serialize()
        #expect(throws: ArbiterError.queueFull(limit: 2)) { try arbiter.serialize(parked: true) }
        try arbiter.end(c, as: .cancelled)
        let last = try arbiter.serialize()
        #expect(arbiter.view(of: last)?.position == 2)
    }

    @Test func `there are no more unfinished transitions than the limit, over all scenes`() throws {
        var arbiter = arbiter { $0.unfinished = 3 }
        let a = try arbiter.start(scene: "left")
        _ = try arbiter.serialize(scene: "left", ticket: .seconds(5))
        _ = try arbiter.start(scene: "right")
        #expect(throws: ArbiterError.tooManyTransitions(limit: 3)) { try arbiter.start(scene: "third") }
        #expect(throws: ArbiterError.tooManyTransitions(limit: 3)) { try arbiter.serialize(scene: "left") }
        try arbiter.end(a)
        _ = try arbiter.serialize(scene: "left")
        #expect(throws: ArbiterError.tooManyTransitions(limit: 3)) { try arbiter.start(scene: "third") }
    }

    @Test func `a busy start says so even where nothing more would be admitted`() throws {
        var arbiter = arbiter { $0.unfinished = 1 }
        let a = try arbiter.start()
        let error = #expect(throws: ArbiterError.self) { try arbiter.start() }
        #expect(error?.busy?.holder.transition.id == a.id)
    }

    @Test func `ended transitions do not count`() throws {
        var arbiter = arbiter { $0.unfinished = 1 }
        for _ in 0..<5 { try arbiter.end(arbiter.start()) }
        #expect(arbiter.transitions.count == 5)
    }

    @Test func `there are no more scenes than the limit while all of them are busy`() throws {
        var arbiter = arbiter { $0.scenes = 2 }
        let left = try arbiter.start(scene: "left")
        _ = try arbiter.start(scene: "right")
        #expect(throws: ArbiterError.tooManyScenes(limit: 2)) { try arbiter.start(scene: "third") }
        #expect(throws: ArbiterError.tooManyScenes(limit: 2)) { try arbiter.serialize(scene: "third") }
        _ = try arbiter.serialize(scene: "left")
        try arbiter.end(left)
        #expect(throws: ArbiterError.tooManyScenes(limit: 2)) { try arbiter.start(scene: "third") }
    }

    @Test func `an idle scene makes room for a new one`() throws {
        var arbiter = arbiter { $0.scenes = 2 }
        let left = try arbiter.start(scene: "left")
        let right = try arbiter.start(scene: "right")
        try arbiter.end(right)
        _ = try arbiter.start(scene: "third")
        #expect(arbiter.machine.scenes().map(\.name.description) == ["left", "third"])
        let unknown = ArbiterError.unknownScene(try #require(SceneName("right")))
        #expect(throws: unknown) { try arbiter.scene("right") }
        #expect([left, right].map(arbiter.state(of:)) == [.running, .ended])
    }

    @Test func `of several idle scenes the one used longest ago goes`() throws {
        var arbiter = arbiter { $0.scenes = 3 }
        for scene in ["a", "b", "c", "a"] { try arbiter.end(arbiter.start(scene: scene)) }
        _ = try arbiter.start(scene: "d")
        #expect(arbiter.machine.scenes().map(\.name.description) == ["a", "c", "d"])
    }

    @Test func `a known scene needs no room`() throws {
        var arbiter = arbiter { $0.scenes = 1 }
        try arbiter.end(arbiter.start(scene: "only"))
        _ = try arbiter.start(scene: "only")
        _ = try arbiter.serialize(scene: "only")
        #expect(arbiter.machine.scenes().count == 1)
    }

    @Test func `fences grow past the scenes that are forgotten`() throws {
        var arbiter = arbiter { $0.scenes = 1 }
        for number in 1...5 {
            let owner = try arbiter.start(scene: number.isMultiple(of: 2) ? "even" : "odd")
            #expect(arbiter.fence(of: owner) == Fence(rawValue: UInt64(number)))
            try arbiter.end(owner)
        }
    }
}
