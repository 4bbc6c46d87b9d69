internal import ArbiterCore
internal import ArbiterEngine

// Requests that have to wait before they can be carried out: for another node, for a shard, or for a session.

/// A request on its way to the engine of its shard, wherever that is.
struct Errand: Sendable {
    let request: Request
    let exchange: DeferredExchange
    var context: Call.Context
    /// The tenure that was asked last.
    var tried: UInt64?
    /// Whether that one may be asked again, because it has carried out nothing.
    var mayAskAgain = false
    /// To how many tenures it was passed on.
    var tries = 0
    /// Until when it may be held; `nil` if it was not held yet.
    var heldUntil: ContinuousClock.Instant?

    /// To how many tenures a request is passed on, at most.
    static let mostTries = 4
}

extension Router {
    /// Carries out a request elsewhere or later, if that helps; else refuses it.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - exchange: its exchange, on the thread of its connection.
    ///   - context: what has been found out about it.
    ///   - problem: why it cannot be carried out here and now.
    func carryOutElsewhere(
        _ request: Request, _ exchange: any Exchange, _ context: Call.Context, because problem: Problem
    ) {
        let isForGuest = problem.guest != nil && guests != nil
        guard isForGuest || problem.elsewhere != nil && forwarder?.mayHelp(request) == true else {
            return refuse(request, exchange, problem, context)
        }
        let wait = problem.guest?.wait ?? problem.elsewhere?.wait ?? .zero
        // Only calls that may wait need a place: those that keep or let go of a lock come through without.
        let needsPlace = wait > .zero || context.isStream && request.method != "HEAD"
        guard !needsPlace || exchange.reservePlace() else {
            return refuse(
                request, exchange,
                Problem(
                    .tooManyConnections, "No more requests can wait for other nodes here; try again.",
                    retryAfter: Problem.briefly), context)
        }
        // The header fields are read again, when the connection may be closed already.
        let errand = Errand(
            request: request.kept, exchange: DeferredExchange(exchange, hasPlace: needsPlace), context: context)
        go(on: errand, after: problem)
    }

    /// Carries out a request again, on any thread.
    private func carryOut(_ errand: Errand) {
        var errand = errand
        errand.context.held = errand.context.begun.duration(to: .now)
        do throws(Problem) {
            if errand.request.isNodesOwn { return try hearNode(errand.request, errand.exchange, errand.context) }
            guard let route = errand.context.route else { throw nothing(at: errand.request) }
            if !errand.request.peer.isNode, let problem = problemOfDraining(errand.request) { throw problem }
            try route.endpoint(Call(errand.request, errand.exchange, errand.context, router: self))
        } catch {
            go(on: errand, after: error)
        }
    }

    private func go(on errand: Errand, after problem: Problem) {
        if let needed = problem.guest, let guests, errand.context.mayNeedGuest {
            admit(needed, to: guests, for: errand)
        } else if let elsewhere = problem.elsewhere, let forwarder {
            guard let owner = elsewhere.owner, owner.tenure != errand.tried || errand.mayAskAgain else {
                return hold(errand, for: elsewhere, forwarder, else: problem)
            }
            let mayTry = owner.tenure == errand.tried || errand.tries < Errand.mostTries
            guard forwarder.mayForward(errand.request), mayTry,
                // Another node holds the request itself.
                !errand.request.peer.isNode || errand.heldUntil == nil
            else { return refuse(errand, problem) }
            forward(errand, to: owner, elsewhere, forwarder)
        } else {
            refuse(errand, problem)
        }
    }

    private func refuse(_ errand: Errand, _ problem: Problem) {
        refuse(errand.request, errand.exchange, problem, errand.context)
    }

    // MARK: - To another node

    private func forward(
        _ errand: Errand, to owner: ClusterMap.Owner, _ elsewhere: Elsewhere, _ forwarder: Forwarder
    ) {
        var errand = errand
        if owner.tenure != errand.tried { errand.tries += 1 }
        errand.tried = owner.tenure
        errand.mayAskAgain = false
        let call = Call(errand.request, errand.exchange, errand.context, router: self)
        forwarder.forward(call, to: owner, elsewhere) { [self, errand] problem in
            if let draining = problemOfDraining(errand.request) { return refuse(errand, draining) }
            guard !errand.request.peer.isNode else { return refuse(errand, problem) }
            hold(errand, for: elsewhere, forwarder, else: problem)
        }
    }

    // MARK: - When the shard is served

    /// Holds a request until its shard is served by another owner than the one that was asked, or that one is asked again.
    ///
    /// - Parameters:
    ///   - errand: the request, of which nothing was carried out.
    ///   - elsewhere: its shard.
    ///   - forwarder: says for how long.
    ///   - problem: what it is answered if nobody serves the shard in time.
    private func hold(_ errand: Errand, for elsewhere: Elsewhere, _ forwarder: Forwarder, else problem: Problem) {
        let limit = errand.request.peer.isNode ? forwarder.times.settling : forwarder.times.holding
        var errand = errand
        let heldUntil = errand.heldUntil ?? .now + limit
        errand.heldUntil = heldUntil
        errand.mayAskAgain = elsewhere.owner.map { $0.tenure == errand.tried } ?? false
        let rest = ContinuousClock.now.duration(to: heldUntil)
        let asksAgain = errand.mayAskAgain && forwarder.times.asking < rest
        guard rest > .zero, problemOfDraining(errand.request) == nil, forwarder.held.take() else {
            return refuse(errand, problem)
        }
        // The first one that ends the wait takes the request.
        let waiting = Guarded<Errand?>(errand)
        let end = { @Sendable () -> Errand? in
            let errand = waiting.withLock { $0.take() }
            if errand != nil { forwarder.held.leave() }
            return errand
        }
        let goOn = { @Sendable [self] in
            guard let errand = end() else { return }
            forwarder.later { [self] in carryOut(errand) }
        }
        guard let number = shards.hold(HeldRequest(shard: elsewhere.shard, tried: errand.tried, goOn: goOn)) else {
            return goOn()
        }
        // The shutdown may have begun just before; then it has not seen this request.
        if let draining = problemOfDraining(errand.request), shards.release(number), let errand = end() {
            return refuse(errand, draining)
        }
        errand.exchange.whenAbandoned { [shards] in
            _ = shards.release(number)
            _ = end()
        }
        forwarder.later(after: asksAgain ? forwarder.times.asking : rest) { [self] in
            guard shards.release(number), let errand = end() else { return }
            if asksAgain { carryOut(errand) } else { refuse(errand, problem) }
        }
    }

    // MARK: - When the session is a guest

    /// Has a session become a guest of the scene's shard, and carries out the request then.
    private func admit(_ needed: GuestNeeded, to guests: Guests, for errand: Errand) {
        var errand = errand
        errand.context.mayNeedGuest = false
        guard let engine = shards.place(of: needed.shard).engine else {
            return refuse(errand, Problem(lost: [needed.shard]))
        }
        guests.admit(needed.session, to: needed.shard, engine, for: errand.context.caller) {
            [self, errand] result in
            switch result {
            case .failure(let problem): refuse(errand, problem)
            case .success: carryOut(errand)
            }
        }
    }
}
