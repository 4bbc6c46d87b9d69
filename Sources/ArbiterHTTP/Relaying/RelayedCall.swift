internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// A request that cannot be carried out here and now, as the relay has it.
final class RelayedCall: RelayedRequest {
    private let request: Request
    private let exchange: DeferredExchange
    private let context: Call.Context
    private let router: Router
    private let forwarder: Forwarder

    /// - Parameters:
    ///   - request: the request.
    ///   - exchange: its exchange.
    ///   - context: what has been found out about it.
    ///   - router: what knows its endpoint.
    ///   - forwarder: what passes it on.
    init(
        _ request: Request, _ exchange: DeferredExchange, _ context: Call.Context, _ router: Router,
        _ forwarder: Forwarder
    ) {
        // The header fields are read again, when the connection may be closed already.
        self.request = request.kept
        (self.exchange, self.context, self.router, self.forwarder) = (exchange, context, router, forwarder)
    }

    var asker: Asker { context.asker }

    func carryOut(mayNeedGuest: Bool) -> Misplaced? {
        var context = context
        context.held = context.begun.duration(to: .now)
        context.mayNeedGuest = mayNeedGuest
        do throws(Problem) {
            try router.carryOut(request, exchange, context)
            return nil
        } catch {
            switch error.misplaced {
            case .elsewhere, .needsGuest: return error.misplaced
            case .untouched, nil: router.refuse(request, exchange, error, context)
            }
            return nil
        }
    }

    func forwarding(to owner: ClusterMap.Owner, _ elsewhere: Elsewhere) -> any Forwarding {
        forwarder.forwarding(
            Call(request, exchange, context, router: router), to: owner.address, waiting: elsewhere.wait)
    }

    func refuse(_ refusal: RelayRefusal) {
        router.refuse(request, exchange, Problem(refusal, of: request.peer), context)
    }

    func whenAbandoned(_ action: @escaping @Sendable () -> Void) { exchange.whenAbandoned(action) }
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
        let origin = origin(of: request)
        guard let misplaced = problem.misplaced, let relay, let forwarder, relay.mayHelp(misplaced, from: origin) else {
            return refuse(request, exchange, problem, context)
        }
        // Only calls that may wait need a place: those that keep or let go of a lock come through without.
        let needsPlace = misplaced.wait > .zero || context.isStream && request.method != "HEAD"
        guard !needsPlace || exchange.reservePlace() else {
            return refuse(
                request, exchange,
                Problem(
                    .tooManyConnections, "No more requests can wait for other nodes here; try again.",
                    retryAfter: Problem.retrySoon), context)
        }
        let exchange = DeferredExchange(exchange, hasPlace: needsPlace)
        relay.begin(RelayedCall(request, exchange, context, self, forwarder), from: origin, because: misplaced)
    }

    private func origin(of request: Request) -> Errand.Origin {
        guard request.peer.isNode else { return .client }
        guard request.headers.value(of: .part) == nil else { return .part }
        return .node(hops: ForwardedClient(request.headers).hops)
    }

    /// Asks the endpoint of a request.
    ///
    /// - Throws: what is wrong with it.
    func carryOut(_ request: Request, _ exchange: any Exchange, _ context: Call.Context) throws(Problem) {
        let call = Call(request, exchange, context, router: self)
        if request.isNodesOwn { return try hearNode(request, call) }
        guard let route = context.route else { throw nothing(at: request) }
        defer { hearWord(of: call) }
        try route.endpoint(call)
    }

    /// Handles what another node says for itself, and not for a client.
    private func hearNode(_ request: Request, _ call: Call) throws(Problem) {
        switch (request.path, relay?.guests) {
        case (Departures.path, _):
            if let name = request.headers.value(of: .forwarded) { departures.note(name) }
            call.respond(.noContent)
        case (GuestMessages.lending, let guests?): try guests.lend(for: request, call)
        case (GuestMessages.reporting, let guests?): try guests.take(reportsIn: request, call)
        default: throw nothing(at: request)
        }
    }
}
