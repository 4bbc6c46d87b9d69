package import ArbiterCore

/// A request on its way to the engine of its shard, wherever that is.
///
/// It does nothing itself: each event is answered with the action that follows from it. A request is passed on again, to the
/// same owner or to another one, only if the one that was asked has said that nothing of it was carried out.
package struct Errand: Sendable {
    /// Who has brought a request.
    package enum Origin: Hashable, Sendable {
        case client
        /// Another node, and by how many nodes it was passed on.
        case node(hops: Int)
        /// Another node, which asks for this node's part of an answer. Such a request is never passed on.
        case part
    }

    package enum State: Sendable {
        /// It is carried out here. Can transition to: lending, forwarding, held, over.
        case fresh
        /// Its session is borrowed. Can transition to: fresh, over.
        case lending
        /// Another node has it. Can transition to: held, over.
        case forwarding(Elsewhere)
        /// It waits until its shard is served. Can transition to: fresh, over.
        case held(Hold)
        /// It is answered, here or by another node, or its client has left.
        case over
    }

    /// A request that waits until its shard is served.
    package struct Hold: Sendable {
        /// What it is answered if nobody serves the shard in time.
        let refusal: RelayRefusal
        /// Whether the owner that was asked is asked again when the alarm rings.
        let asksAgain: Bool
    }

    package enum Event: Sendable {
        /// It cannot be carried out here and now.
        case misplaced(Misplaced)
        /// It was carried out here, or the other node has answered, whatever that is.
        case answered
        /// Nothing of it was carried out by the node that it was passed on to.
        case untouched(reason: String)
        /// Borrowing its session has ended.
        ///
        /// After a success the session is a guest of the shard, or it does not exist. If it does not, the engine of the
        /// shard refuses the request.
        case lent(Result<Void, RelayRefusal>)
        /// Its shard, or the home of its session, has moved before the session was borrowed.
        case movedWhileLending
        /// Its shard is served here, or the map shows an owner that was not asked.
        case served
        /// The time is over for which it was to be held.
        case alarm
        /// There is no room to hold it.
        case full
        /// Its client has closed the connection while it was held.
        case clientLeft
        /// This node shuts down.
        case draining
    }

    package enum Action: Sendable {
        case none
        /// Ask its endpoint; whether its session may still have to become a guest.
        case carryOut(mayNeedGuest: Bool)
        /// Have its session become a guest of its shard.
        case lend(GuestNeeded)
        case forward(to: ClusterMap.Owner, Elsewhere)
        /// Hold it until its shard is served, but not by the tenure that was asked; no longer than this.
        case hold(shard: Int, asked: UInt64?, limit: Duration)
        case refuse(RelayRefusal)
    }

    /// To how many tenures a request is passed on, at most.
    package static let mostTries = 4
    /// How often its session is borrowed, at most: again if its shard or its home moves meanwhile.
    package static let mostLoans = 4
    /// By how many nodes a request may be passed on: the second one may know of a move that the first one has not heard of.
    private static let mostHops = 2

    package private(set) var state = State.fresh
    private let origin: Origin
    private let times: RelayTimes
    /// The tenure that was asked last.
    private var asked: UInt64?
    /// Whether that one may be asked again, because it has carried out nothing.
    private var mayAskAgain = false
    /// To how many tenures it was passed on.
    private var tries = 0
    /// Until when it may be held; `nil` if it was not held yet.
    private var heldUntil: Instant?
    private var mayNeedGuest = true
    /// How often its session was to be borrowed.
    private var loans = 0

    /// - Parameters:
    ///   - origin: who has brought it.
    ///   - times: how long it may be held.
    package init(from origin: Origin, _ times: RelayTimes) { (self.origin, self.times) = (origin, times) }

    /// Whether it comes from a node, which holds it itself and asks elsewhere.
    private var isOfNode: Bool {
        switch origin {
        case .client: false
        case .node, .part: true
        }
    }

    /// Whether another node may still be asked.
    private var mayForward: Bool {
        switch origin {
        case .client: true
        case .node(let hops): hops < Self.mostHops && heldUntil == nil
        case .part: false
        }
    }

    /// Takes notice of what has happened.
    ///
    /// - Returns: what is to be done now.
    package mutating func on(_ event: Event, at now: Instant) -> Action {
        switch (event, state) {
        case (.misplaced(let misplaced), .fresh): return goOn(misplaced, at: now)
        case (.answered, .fresh), (.answered, .forwarding): return end()
        case (.untouched(let reason), .forwarding(let elsewhere)):
            let refusal = RelayRefusal.notServed(reason: reason)
            return isOfNode ? refuse(refusal) : hold(for: elsewhere, else: refusal, at: now)
        case (.lent(.success), .lending): return carryOut()
        case (.lent(.failure(let refusal)), .lending): return refuse(refusal)
        case (.movedWhileLending, .lending):
            guard loans < Self.mostLoans else { return refuse(.notServed(reason: "it moves from node to node")) }
            mayNeedGuest = true
            return carryOut()
        case (.served, .held): return carryOut()
        case (.alarm, .held(let hold)): return hold.asksAgain ? carryOut() : refuse(hold.refusal)
        case (.full, .held(let hold)): return refuse(hold.refusal)
        case (.draining, .held(let hold)): return refuse(isOfNode ? hold.refusal : .draining)
        // What other nodes pass on is carried out until its shard is handed over.
        case (.draining, .fresh): return isOfNode ? carryOut() : refuse(.draining)
        case (.clientLeft, .held): return end()
        case (.misplaced, _), (.answered, _), (.untouched, _), (.lent, _), (.movedWhileLending, _), (.served, _),
            (.alarm, _), (.full, _), (.clientLeft, _), (.draining, _):
            preconditionFailure("\(event) while a request is \(state)")
        }
    }

    private mutating func goOn(_ misplaced: Misplaced, at now: Instant) -> Action {
        switch misplaced {
        case .needsGuest(let needed):
            guard mayNeedGuest else { return refuse(.misplaced(misplaced)) }
            mayNeedGuest = false
            loans += 1
            state = .lending
            return .lend(needed)
        case .elsewhere(let elsewhere):
            guard let owner = elsewhere.owner, owner.tenure != asked || mayAskAgain else {
                return hold(for: elsewhere, else: .misplaced(misplaced), at: now)
            }
            return forward(elsewhere, to: owner)
        case .untouched: return refuse(.misplaced(misplaced))
        }
    }

    private mutating func forward(_ elsewhere: Elsewhere, to owner: ClusterMap.Owner) -> Action {
        let isNew = owner.tenure != asked
        guard mayForward, !isNew || tries < Self.mostTries else { return refuse(.misplaced(.elsewhere(elsewhere))) }
        if isNew { tries += 1 }
        (asked, mayAskAgain) = (owner.tenure, false)
        state = .forwarding(elsewhere)
        return .forward(to: owner, elsewhere)
    }

    /// Holds it until its shard is served by another owner than the one that was asked, or that one is asked again.
    private mutating func hold(for elsewhere: Elsewhere, else refusal: RelayRefusal, at now: Instant) -> Action {
        let until = heldUntil ?? now.advanced(by: isOfNode ? times.settling : times.holding)
        heldUntil = until
        let rest = now.duration(to: until)
        guard rest > .zero else { return refuse(refusal) }
        mayAskAgain = elsewhere.owner.map { $0.tenure == asked } ?? false
        let asksAgain = mayAskAgain && times.asking < rest
        state = .held(Hold(refusal: refusal, asksAgain: asksAgain))
        return .hold(shard: elsewhere.shard, asked: asked, limit: asksAgain ? times.asking : rest)
    }

    private mutating func carryOut() -> Action {
        state = .fresh
        return .carryOut(mayNeedGuest: mayNeedGuest)
    }

    private mutating func refuse(_ refusal: RelayRefusal) -> Action {
        state = .over
        return .refuse(refusal)
    }

    private mutating func end() -> Action {
        state = .over
        return .none
    }
}
