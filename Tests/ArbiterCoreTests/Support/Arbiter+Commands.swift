import ArbiterCore
import Testing

/// What a requester has in hand.
struct Owner: Hashable {
    let id: TransitionID
    let token: Token
    /// Its await, where `serialize` was to park.
    var waiter: WaiterID?
}

// MARK: - Commands

extension Arbiter {
    mutating func start(
        client: String = "a", scene: String = "main", lease: Duration = Limits.defaultLease,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        let owner = newOwner()
        let request = try request(client: client, scene: scene, lease: lease)
        try perform(.start(request, id: owner.id, token: owner.token), at: location)
        return owner
    }

    mutating func serialize(
        client: String = "a", scene: String = "main", lease: Duration = Limits.defaultLease,
        ticket: Duration = Limits.defaultTicket, queue: Duration? = nil, parked: Bool = false,
        wait: Duration = Limits.waitDurations.upperBound, at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        var owner = newOwner()
        owner.waiter = parked ? nextWaiter() : nil
        let request = try request(client: client, scene: scene, lease: lease, ticket: ticket, queue: queue)
        let park = owner.waiter.map { Park(waiter: $0, wait: wait) }
        try perform(.serialize(request, id: owner.id, token: owner.token, park: park), at: location)
        return owner
    }

    /// An await that is answered at once.
    @discardableResult
    mutating func look(
        at owner: Owner, asOwner: Bool = true, until milestone: Milestone = .granted,
        at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let token = asOwner ? owner.token : nil
        return try view(in: perform(.await(owner.id, token: token, until: milestone, park: nil), at: location))
    }

    /// An await that parks, if there is anything to wait for.
    @discardableResult
    mutating func park(
        on owner: Owner, until milestone: Milestone = .granted, asOwner: Bool = true,
        wait: Duration = Limits.waitDurations.upperBound, at location: SourceLocation = #_sourceLocation
    ) throws -> WaiterID {
        let park = Park(waiter: nextWaiter(), wait: wait)
        let token = asOwner ? owner.token : nil
        try perform(.await(owner.id, token: token, until: milestone, park: park), at: location)
        return park.waiter
    }

    @discardableResult
    mutating func end(
        _ owner: Owner, as outcome: EndOutcome = .completed, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try view(in: perform(.end(owner.id, token: owner.token, outcome), at: location))
    }

    @discardableResult
    mutating func renew(_ owner: Owner, at location: SourceLocation = #_sourceLocation) throws -> TransitionView {
        try view(in: perform(.renew(owner.id, token: owner.token), at: location))
    }

    /// The connection of an await closes.
    mutating func leave(_ waiter: WaiterID?, at location: SourceLocation = #_sourceLocation) throws {
        try perform(.leave(#require(waiter, sourceLocation: location)), at: location)
    }

    private mutating func newOwner() -> Owner {
        let id = nextID()
        return Owner(id: id, token: Token(high: id.rawValue, low: ~id.rawValue))
    }

    private func request(
        client: String, scene: String, lease: Duration, ticket: Duration = Limits.defaultTicket,
        queue: Duration? = nil
    ) throws -> TransitionRequest {
        let scene: SceneName = try #require(SceneName(scene))
        let client: ClientName = try #require(ClientName(client))
        return TransitionRequest(
            scene: scene, client: client, lease: lease, ticket: ticket, queue: queue)
    }

    private func view(in reply: Reply) throws -> TransitionView {
        guard case .transition(let view) = reply else { throw Unexpected(reply: reply) }
        return view
    }

    private struct Unexpected: Error {
        let reply: Reply
    }
}

// MARK: - Questions

extension Arbiter {
    /// The transition as it stands now; `nil` if it is not known.
    func view(of owner: Owner) -> TransitionView? {
        try? machine.view(of: owner.id, at: now)
    }

    func state(of owner: Owner) -> TransitionState? { view(of: owner)?.state }

    func outcome(of owner: Owner) -> TransitionOutcome? { view(of: owner)?.outcome }

    func fence(of owner: Owner) -> Fence? { view(of: owner)?.fence }

    /// What the owner's parked `serialize` was answered.
    func answer(to owner: Owner) -> TransitionView? { owner.waiter.flatMap { answers[$0] } }

    /// All that are remembered, in request order.
    var transitions: [TransitionView] { machine.list(TransitionFilter(limit: .max), at: now) }

    func scene(_ name: String) throws -> SceneView {
        try machine.scene(#require(SceneName(name)), at: now)
    }
}

extension Owner {
    /// The same transition in the hands of someone who guesses.
    var guessing: Owner {
        Owner(id: id, token: Token(high: token.high, low: token.low ^ 1))
    }
}

// MARK: - Refusals

extension ArbiterError {
    var busy: Busy? {
        if case .busy(let busy) = self { busy } else { nil }
    }

    var alreadyEnded: TransitionView? {
        if case .alreadyEnded(let view) = self { view } else { nil }
    }

    var alreadyDecided: TransitionView? {
        if case .alreadyDecided(let view) = self { view } else { nil }
    }

    var endedWithoutOwner: TransitionView? {
        if case .endedWithoutOwner(let view) = self { view } else { nil }
    }
}
