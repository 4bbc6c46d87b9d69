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
        _ owner: Owner, as outcome: EndOutcome? = .completed, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try view(in: perform(.end(owner.id, token: owner.token, outcome), at: location))
    }

    @discardableResult
    mutating func revoke(
        _ owner: Owner, because reason: String = "it hangs", at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let reason = try #require(RevocationReason(reason), sourceLocation: location)
        return try view(in: perform(.revoke(owner.id, reason), at: location))
    }

    @discardableResult
    mutating func renew(_ owner: Owner, at location: SourceLocation = #_sourceLocation) throws -> TransitionView {
        try view(in: perform(.renew(owner.id, token: owner.token), at: location))
    }

    /// The connection of an await closes.
    mutating func leave(_ waiter: WaiterID?, at location: SourceLocation = #_sourceLocation) throws {
        try perform(.leave(#require(waiter, sourceLocation: location)), at: location)
    }

    /// Asks with a request of any kind.
    mutating func start(
        _ request: TransitionRequest, at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        let owner = newOwner()
        try perform(.start(request, id: owner.id, token: owner.token), at: location)
        return owner
    }

    /// Takes a place in line with a request of any kind.
    mutating func serialize(
        _ request: TransitionRequest, parked: Bool = false, at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        var owner = newOwner()
        owner.waiter = parked ? nextWaiter() : nil
        let park = owner.waiter.map { Park(waiter: $0, wait: Limits.waitDurations.upperBound) }
        try perform(.serialize(request, id: owner.id, token: owner.token, park: park), at: location)
        return owner
    }

    @discardableResult
    mutating func declare(
        _ storyboard: Storyboard, ifMatch revision: UInt64? = nil, at location: SourceLocation = #_sourceLocation
    ) throws -> Revision {
        let reply = try perform(
            .declare(.main, storyboard, ifMatch: revision.map { Revision(rawValue: $0) }), at: location)
        guard case .declared(let revision) = reply else { throw Unexpected(reply: reply) }
        return revision
    }

    /// Declares a hierarchy, as outlined, and nothing else.
    mutating func declare(_ outline: String, at location: SourceLocation = #_sourceLocation) throws {
        try declare(Storyboard(hierarchy: .outlined(outline)), at: location)
    }

    /// A client that shows that it lives.
    mutating func openSession(
        client: String? = nil, timeToLive: Duration = Limits.defaultSession,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Session {
        let id = nextID().rawValue
        let reply = try perform(
            .openSession(
                client: client.flatMap { ClientName($0) }, timeToLive: timeToLive, id: SessionID(rawValue: id),
                token: Token(high: ~id, low: id)), at: location)
        guard case .session(let view) = reply else { throw Unexpected(reply: reply) }
        return view.session
    }

    @discardableResult
    mutating func ready(
        _ owner: Owner, client: String, _ session: Session, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let client: ClientName = try #require(ClientName(client))
        return try view(in: perform(.ready(owner.id, client: client, session: session.token), at: location))
    }

    @discardableResult
    mutating func progress(
        _ owner: Owner, _ fraction: Double, velocity: Double? = nil, sequence: UInt64? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let progress = GestureProgress(fraction: fraction, velocity: velocity, sequence: sequence)
        let reply = try perform(.progress(owner.id, token: owner.token, progress), at: location)
        guard case .progress(_, let isApplied) = reply else { throw Unexpected(reply: reply) }
        return isApplied
    }

    @discardableResult
    mutating func release(
        _ owner: Owner, _ release: GestureRelease = GestureRelease(), at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try view(in: perform(.release(owner.id, token: owner.token, release), at: location))
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

    /// The hierarchy of the main scene.
    var outline: String { (try? machine.storyboard(of: .main))?.0.hierarchy.outline ?? "" }

    var revision: UInt64? { (try? machine.storyboard(of: .main))?.1.rawValue }

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
