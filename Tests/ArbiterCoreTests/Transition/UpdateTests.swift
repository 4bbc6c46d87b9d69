import Testing

@testable import ArbiterCore

/// An owner changes how its transition is animated.
struct UpdateTests {
    private var arbiter = Arbiter()

    private static func request(key: String? = nil) -> TransitionRequest {
        TransitionRequest(
            animation: AnimationRequest(duration: .seconds(1), curve: .linear),
            idempotencyKey: key.map { IdempotencyKey(unchecked: $0) })
    }

    private func animation(of owner: Owner) -> Animation? { arbiter.view(of: owner)?.transition.grant?.animation }

    private func updates(of owner: Owner) -> Int {
        arbiter.events.count { event in
            if case .transition(.updated, let view) = event.kind { view.transition.id == owner.id } else { false }
        }
    }

    @Test mutating func `what runs is animated otherwise from now on, and its lease begins again`() throws {
        let owner = try arbiter.start(Self.request())
        arbiter.advance(by: .seconds(9))
        try arbiter.update(owner, AnimationUpdate(duration: .seconds(2), userInfo: Array("[1]".utf8)))
        #expect(animation(of: owner)?.duration == .seconds(2))
        #expect(animation(of: owner)?.curve == .linear)
        #expect(animation(of: owner)?.userInfo == Array("[1]".utf8))
        #expect(updates(of: owner) == 1)
        arbiter.advance(by: .seconds(9))
        try arbiter.update(owner, AnimationUpdate(duration: .seconds(2)))
        #expect(updates(of: owner) == 1, "nothing has changed")
        try arbiter.restart()
        #expect(animation(of: owner)?.duration == .seconds(2))
        try arbiter.end(owner)
        #expect(throws: ArbiterError.self) { try arbiter.update(owner, AnimationUpdate(duration: .zero)) }
    }

    @Test mutating func `what is queued is granted with the new values, and so is what gets its operation later`()
        throws
    {
        let holder = try arbiter.start()
        let ticket = try arbiter.serialize(Self.request())
        try arbiter.update(ticket, AnimationUpdate(duration: .seconds(3)))
        #expect(updates(of: ticket) == 0, "a ticket shows no animation")
        try arbiter.restart()
        try arbiter.update(ticket, AnimationUpdate(curve: .easeIn))
        try arbiter.end(holder)
        #expect(animation(of: ticket)?.duration == .seconds(3))
        #expect(animation(of: ticket)?.curve == .easeIn)
        try arbiter.end(ticket)
        try arbiter.declare("nav[list]")
        let bare = try arbiter.start(TransitionRequest())
        try arbiter.update(bare, AnimationUpdate(duration: .seconds(4)))
        #expect(animation(of: bare)?.duration == .seconds(4), "as if it had been asked for with one")
        try arbiter.restart()
        #expect(animation(of: bare)?.duration == .seconds(4))
        try arbiter.give(bare, .push(navigation: id("nav"), controller: .outlined("editor")))
        #expect(animation(of: bare)?.duration == .seconds(4))
        let next = try arbiter.serialize()
        try arbiter.update(next, AnimationUpdate(curve: .linear))
        try arbiter.end(bare)
        #expect(animation(of: next)?.curve == .linear)
        try arbiter.restart()
        #expect(animation(of: next)?.curve == .linear)
    }

    @Test mutating func `a repeated request is the same one, whatever has been changed since`() throws {
        let request = Self.request(key: "0123456789abcdef")
        let owner = try arbiter.start(request)
        try arbiter.update(owner, AnimationUpdate(duration: .seconds(2)))
        let again = try arbiter.perform { machine, step throws(ArbiterError) in
            try machine.start(request, id: TransitionID(rawValue: 99), token: Token(high: 9, low: 9), in: &step)
        }
        #expect(again.transition.id == owner.id)
    }

    @Test mutating func `what it keeps counts towards the memory, and is given back`() throws {
        let before = arbiter.machine.heldMemory
        let owner = try arbiter.start(Self.request())
        let held = arbiter.machine.heldMemory
        try arbiter.update(owner, AnimationUpdate(userInfo: Array(repeating: UInt8(ascii: "1"), count: 4_000)))
        #expect(arbiter.machine.heldMemory == held + 4_000)
        try arbiter.restart()
        #expect(arbiter.machine.heldMemory == held + 4_000)
        try arbiter.end(owner)
        #expect(arbiter.machine.heldMemory <= before + Limits.bytesPerScene)
    }

    @Test func `the first rules know no updates`() throws {
        var arbiter = Arbiter(rules: .first)
        let owner = try arbiter.start(Self.request())
        #expect(throws: ArbiterError.olderRules) { try arbiter.update(owner, AnimationUpdate(duration: .zero)) }
    }
}
