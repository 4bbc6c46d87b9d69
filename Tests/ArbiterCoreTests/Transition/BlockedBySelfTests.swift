import Testing

@testable import ArbiterCore

/// Whether all that a request waits for is bound to its own session.
struct BlockedBySelfTests {
    private var arbiter = Arbiter()
    private let own: Session
    private let other: Session

    init() throws {
        own = try arbiter.openSession(client: "menu")
        other = try arbiter.openSession(client: "detail")
    }

    private func request(_ session: Session?, _ controllers: [String] = []) -> TransitionRequest {
        let scope: Scope? = controllers.isEmpty ? nil : .controllers(controllers.map { id($0) })
        return TransitionRequest(scope: scope, session: session?.token)
    }

    private func isBlockedBySelf(_ owner: Owner) -> Bool? { arbiter.view(of: owner)?.isBlockedBySelf }

    @Test mutating func `a ticket behind transitions of its own session`() throws {
        let holder = try arbiter.start(request(own))
        let first = try arbiter.serialize(request(own))
        let second = try arbiter.serialize(request(own))
        #expect(isBlockedBySelf(holder) == false)
        #expect(isBlockedBySelf(first) == true && isBlockedBySelf(second) == true)
        let busy = #expect(throws: ArbiterError.self) { try arbiter.start(request(own)) }?.busy
        #expect(busy?.isBySelf == true && busy?.blockers == [holder.id, first.id, second.id])
        try arbiter.end(holder)
        #expect(isBlockedBySelf(first) == false, "it is granted")
    }

    @Test mutating func `one of another session, or of none, is enough`() throws {
        _ = try arbiter.start(request(own))
        for session in [other, nil] {
            let stranger = try arbiter.serialize(request(session))
            #expect(isBlockedBySelf(stranger) == false)
            let ticket = try arbiter.serialize(request(own))
            #expect(isBlockedBySelf(ticket) == false)
            #expect(#expect(throws: ArbiterError.self) { try arbiter.start(request(own)) }?.busy?.isBySelf == false)
            for owner in [stranger, ticket] { try arbiter.end(owner, as: .cancelled) }
        }
        let ticket = try arbiter.serialize(request(own))
        #expect(isBlockedBySelf(ticket) == true)
    }

    @Test mutating func `transitions without a session are nobody's own`() throws {
        _ = try arbiter.start(request(nil))
        let ticket = try arbiter.serialize(request(nil))
        #expect(isBlockedBySelf(ticket) == false)
        #expect(#expect(throws: ArbiterError.self) { try arbiter.start(request(nil)) }?.busy?.isBySelf == false)
    }

    @Test mutating func `what is not in the way does not count`() throws {
        try arbiter.declare("split(master|detail)")
        _ = try arbiter.start(request(other, ["detail"]))
        _ = try arbiter.start(request(own, ["master"]))
        let ticket = try arbiter.serialize(request(own, ["master"]))
        #expect(isBlockedBySelf(ticket) == true)
        let whole = try arbiter.serialize(request(own))
        #expect(isBlockedBySelf(whole) == false)
    }

    /// More are shown to nobody, so all are counted before it is said.
    @Test mutating func `up to a hundred are looked at`() throws {
        _ = try arbiter.start(request(own))
        let tickets = try (1..<100).map { _ in try arbiter.serialize(request(own)) }
        let last = try arbiter.serialize(request(own))
        let tooMany = try arbiter.serialize(request(own))
        #expect(isBlockedBySelf(last) == true && isBlockedBySelf(tooMany) == false)
        for owner in [tickets[0], tooMany] { try arbiter.end(owner, as: .cancelled) }
        let stranger = try arbiter.serialize(request(other))
        let behind = try arbiter.serialize(request(own))
        #expect(isBlockedBySelf(behind) == false)
        try arbiter.end(stranger, as: .cancelled)
        #expect(isBlockedBySelf(behind) == true)
    }
}
