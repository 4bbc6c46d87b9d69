import ArbiterCore
import Testing

struct FenceTests {
    private var arbiter = Arbiter()

    @Test mutating func `every grant has a greater fence than the grant before`() throws {
        var last = Fence(rawValue: 0)
        for round in 0..<10 {
            let a = round.isMultiple(of: 2) ? try arbiter.start() : try arbiter.serialize()
            let fence = try #require(arbiter.fence(of: a))
            #expect(last < fence)
            last = fence
            if round.isMultiple(of: 3) {
                arbiter.advance(by: .seconds(10))
            } else {
                try arbiter.end(a)
            }
        }
    }

    @Test mutating func `fences grow over all scenes`() throws {
        for (number, scene) in ["left", "right", "left.2", "main"].enumerated() {
            let owner = try arbiter.start(scene: scene)
            #expect(arbiter.fence(of: owner) == Fence(rawValue: UInt64(number + 1)))
        }
    }

    @Test mutating func `fences are in the order of grants, not of requests`() throws {
        let left = try arbiter.start(scene: "left")
        let waiting = try arbiter.serialize(scene: "left")
        let right = try arbiter.start(scene: "right")
        try arbiter.end(left)
        #expect(arbiter.fence(of: right) == Fence(rawValue: 2))
        #expect(arbiter.fence(of: waiting) == Fence(rawValue: 3))
    }

    @Test mutating func `the fence of a transition never changes`() throws {
        let a = try arbiter.start()
        try arbiter.renew(a)
        arbiter.advance(by: .seconds(1))
        try arbiter.park(on: a, until: .ended)
        #expect(try arbiter.end(a).fence == Fence(rawValue: 1))
    }

    @Test mutating func `a ticket that is never granted uses up no fence`() throws {
        let a = try arbiter.start()
        let b = try arbiter.serialize(ticket: .seconds(1))
        arbiter.advance(by: .seconds(1))
        try arbiter.end(a)
        let c = try arbiter.start()
        #expect(arbiter.fence(of: b) == nil)
        #expect(arbiter.fence(of: c) == Fence(rawValue: 2))
    }
}
