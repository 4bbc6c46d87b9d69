import ArbiterCore
import Testing

/// What the owner of a transition holds.
struct Owner: Hashable {
    let id: TransitionID
    let token: Token
    /// The waiter of its `serialize`, if that was to park.
    var waiter: WaiterID?
}

// MARK: - Events

extension Arbiter {
    mutating func start(
        client: String = "a", scene: String = "main", lease: Duration = Limits.defaultLease,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        try start(request(client: client, scene: scene, lease: lease), at: location)
    }

    mutating func serialize(
        client: String = "a", scene: String = "main", lease: Duration = Limits.defaultLease,
        ticket: Duration = Limits.defaultTicket, queue: Duration? = nil, parked: Bool = false,
        wait: Duration = Limits.waitDurations.upperBound, at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        let request = try request(client: client, scene: scene, lease: lease, ticket: ticket, queue: queue)
        return try serialize(request, parked: parked, wait: wait, at: location)
    }

    /// An await that does not park.
    @discardableResult
    mutating func look(
        at owner: Owner, asOwner: Bool = true, until milestone: Milestone = .granted,
        at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let token = asOwner ? owner.token : nil
        let answer = try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.wait(on: owner.id, token: token, until: milestone, park: nil, in: &step)
        }
        guard case .now(let view) = answer else { throw Parked() }
        return view
    }

    /// An await that parks unless the milestone is reached.
    @discardableResult
    mutating func park(
        on owner: Owner, until milestone: Milestone = .granted, asOwner: Bool = true, claims: Bool = false,
        wait: Duration = Limits.waitDurations.upperBound, at location: SourceLocation = #_sourceLocation
    ) throws -> WaiterID {
        let park = Park(waiter: nextWaiter(), wait: wait)
        let token = asOwner ? owner.token : nil
        try parking(park.waiter, at: location) { machine, step throws(ArbiterError) in
            try machine.wait(on: owner.id, token: token, until: milestone, claims: claims, park: park, in: &step)
        }
        return park.waiter
    }

    @discardableResult
    mutating func end(
        _ owner: Owner, as outcome: EndOutcome? = .completed, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.end(owner.id, token: owner.token, as: outcome, in: &step)
        }
    }

    @discardableResult
    mutating func revoke(
        _ owner: Owner, because reason: String = "it hangs", at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let reason = try #require(GivenReason(reason), sourceLocation: location)
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.revoke(owner.id, Revocation(reason), in: &step)
        }
    }

    /// Ends all of a scene, or of a client or principal in it.
    mutating func revokeAll(
        in scene: SceneName = .main, of client: String? = nil, ownedBy principal: PrincipalName? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> [TransitionID] {
        let revocation = Revocation(GivenReason(unchecked: "it is cleaned"))
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.revokeAll(
                in: scene, of: client.map { ClientName(unchecked: $0) }, ownedBy: principal, revocation, in: &step)
        }
    }

    /// Changes how a transition is animated.
    @discardableResult
    mutating func update(
        _ owner: Owner, _ update: AnimationUpdate, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.update(owner.id, token: owner.token, update, in: &step)
        }
    }

    @discardableResult
    mutating func renew(_ owner: Owner, at location: SourceLocation = #_sourceLocation) throws -> TransitionView {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.renew(owner.id, token: owner.token, in: &step)
        }
    }

    /// Starts any request.
    mutating func start(
        _ request: TransitionRequest, at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        let owner = newOwner()
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.start(request, id: owner.id, token: owner.token, in: &step)
        }
        return owner
    }

    /// Serializes any request.
    mutating func serialize(
        _ request: TransitionRequest, parked: Bool = false, wait: Duration = Limits.waitDurations.upperBound,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Owner {
        var owner = newOwner()
        owner.waiter = parked ? nextWaiter() : nil
        let (id, token, park) = (owner.id, owner.token, owner.waiter.map { Park(waiter: $0, wait: wait) })
        try parking(owner.waiter, at: location) { machine, step throws(ArbiterError) in
            try machine.serialize(request, id: id, token: token, park: park, in: &step)
        }
        return owner
    }

    @discardableResult
    mutating func declare(
        _ storyboard: Storyboard, in scene: SceneName = .main, ifMatch revision: UInt64? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> StoryboardVersion {
        let version = revision.map { StoryboardVersion(revision: Revision(rawValue: $0)) }
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.declare(scene, storyboard, if: version.map { .version([$0]) } ?? .none, in: &step)
        }
    }

    @discardableResult
    mutating func patch(
        _ patch: StoryboardPatch, if precondition: Precondition = .none, at location: SourceLocation = #_sourceLocation
    ) throws -> StoryboardVersion {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.patch(.main, patch, if: precondition, in: &step)
        }
    }

    /// Declares the hierarchy of an outline, without segues, transition types and defaults.
    mutating func declare(_ outline: String, at location: SourceLocation = #_sourceLocation) throws {
        try declare(Storyboard(hierarchy: .outlined(outline)), at: location)
    }

    mutating func delete(_ scene: SceneName, at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.delete(scene, if: .none, in: &step)
        }
    }

    mutating func drain(at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step in machine.drain(in: &step) }
    }

    /// Opens the session of a client.
    mutating func openSession(
        client: String? = nil, timeToLive: Duration = Limits.defaultSession, by caller: Caller = .anyone,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Session {
        let id = nextID().rawValue
        let client = client.flatMap { ClientName($0) }
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.openSession(
                client: client, timeToLive: timeToLive, by: caller, id: SessionID(rawValue: id),
                token: Token(high: ~id, low: id), in: &step)
        }.session
    }

    mutating func renewSession(_ session: Session, at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.renewSession(session.token, in: &step)
        }
    }

    mutating func endSession(_ session: Session, at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.endSession(session.token, in: &step)
        }
    }

    /// Attaches a connection to a session.
    mutating func attach(_ session: Session, at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.attach(session.token, in: &step)
        }
    }

    mutating func detach(_ session: Session, at location: SourceLocation = #_sourceLocation) throws {
        try perform(at: location) { machine, step in machine.detach(session.id, in: &step) }
    }

    @discardableResult
    mutating func ready(
        _ owner: Owner, client: String, _ session: Session, at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let client: ClientName = try #require(ClientName(client))
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.report(.ready, on: owner.id, client: client, session: session.token, in: &step)
        }
    }

    @discardableResult
    mutating func veto(
        _ owner: Owner, client: String, _ session: Session, because reason: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        let client: ClientName = try #require(ClientName(client))
        let reason = try reason.map { try #require(GivenReason($0)) }
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.report(.veto(reason), on: owner.id, client: client, session: session.token, in: &step)
        }
    }

    /// A client wants to be asked before controllers are removed.
    mutating func guarding(
        _ controllers: [String], _ session: Session, onSilence: UnreadyAction = .proceed,
        in scene: SceneName = .main, at location: SourceLocation = #_sourceLocation
    ) throws -> Guard {
        let id = GuardID(rawValue: nextID().rawValue)
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.addGuard(
                of: controllers.map { ControllerID(unchecked: $0) }, in: scene, onSilence: onSilence, id: id,
                session: session.token, in: &step)
        }
    }

    mutating func removeGuard(
        _ known: Guard, _ session: Session?, at location: SourceLocation = #_sourceLocation
    ) throws {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.removeGuard(known.id, of: .main, session: session?.token, in: &step)
        }
    }

    @discardableResult
    mutating func progress(
        _ owner: Owner, _ fraction: Double, velocity: Double? = nil, sequence: UInt64? = nil,
        at location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let progress = GestureProgress(fraction: fraction, velocity: velocity, sequence: sequence)
        return try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.progress(owner.id, token: owner.token, progress, in: &step)
        }.isApplied
    }

    /// Gives a running transition its operation.
    @discardableResult
    mutating func give(
        _ owner: Owner, _ operation: Operation, expecting expectations: [ArbiterCore.Expectation] = [],
        ignoresGuards: Bool = false, at location: SourceLocation = #_sourceLocation
    ) throws -> PerformAnswer {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.perform(
                owner.id, token: owner.token, operation, expecting: expectations, ignoresGuards: ignoresGuards,
                in: &step)
        }
    }

    @discardableResult
    mutating func release(
        _ owner: Owner, _ release: GestureRelease = GestureRelease(), at location: SourceLocation = #_sourceLocation
    ) throws -> TransitionView {
        try perform(at: location) { machine, step throws(ArbiterError) in
            try machine.release(owner.id, token: owner.token, release, in: &step)
        }
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

    private struct Parked: Error {}
}

// MARK: - Questions

extension Arbiter {
    /// The transition now; `nil` if it is not known.
    func view(of owner: Owner) -> TransitionView? {
        try? machine.view(of: owner.id, at: now)
    }

    func state(of owner: Owner) -> TransitionState? { view(of: owner)?.state }

    func outcome(of owner: Owner) -> TransitionOutcome? { view(of: owner)?.outcome }

    func fence(of owner: Owner) -> Fence? { view(of: owner)?.fence }

    /// The answer to the owner's parked `serialize`, if there is one yet.
    func answer(to owner: Owner) -> TransitionView? { owner.waiter.flatMap { answers[$0] } }

    /// All remembered transitions, in request order.
    var transitions: [TransitionView] { machine.list(TransitionFilter(limit: .max), at: now) }

    /// The hierarchy of the main scene.
    var outline: String { machine.hierarchy(of: .main)?.0.outline ?? "" }

    var revision: UInt64? { machine.hierarchy(of: .main)?.1.rawValue }

    func scene(_ name: String) throws -> SceneView {
        try machine.scene(#require(SceneName(name)), at: now)
    }
}

extension Owner {
    /// The same transition with a guessed token, which is wrong.
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

    var endedWithoutOwner: TransitionView? {
        if case .endedWithoutOwner(let view) = self { view } else { nil }
    }
}
