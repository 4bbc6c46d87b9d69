internal import ArbiterCore
internal import ArbiterRelay

// Requests that cannot be carried out here and now, and what other nodes say for themselves.

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
