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
