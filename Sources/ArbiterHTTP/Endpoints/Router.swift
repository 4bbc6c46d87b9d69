internal import ArbiterCore
internal import ArbiterEngine
package import ArbiterRelay
package import Logging
internal import Synchronization

/// Finds the endpoint for a request; everything that is wrong with one ends as a problem here.
package final class Router: Sendable {
    /// What handles a request of one route.
    typealias Endpoint = @Sendable (Call) throws(Problem) -> Void

    let plain: [String: [String: Route]]
    let templates: [Route]
    private let web: WebAccess
    private let access: AccessControl
    let logger: Logger
    let metrics: Metrics
    /// Every route, in the order of openapi.yaml.
    let routes: [Route]
    /// Whether the rates of clients are limited.
    private let limitsRates: Bool
    private let rates: Guarded<RequestRates>
    private let operatorLog: OperatorLog
    let shards: Shards
    let forwarder: Forwarder?
    /// What has requests carried out by other nodes, or later; `nil` if the daemon is no node of a cluster.
    let relay: Relay?
    /// The clients of other nodes that have left.
    let departures = Departures()
    /// Where large requests are carried out, and long answers are made.
    let longWork = LongWork()
    private let isDraining = Atomic(false)
    /// The last request id that was made; where it begins tells one run from another.
    private let lastRequestID = Atomic(UInt64.random(in: 0..<1 << 59))

    /// - Parameters:
    ///   - shards: what decides.
    ///   - hub: where events come from.
    ///   - web: which hosts and which web pages' origins requests may name.
    ///   - access: which clients may do what.
    ///   - logger: where requests are noted, at `debug`.
    ///   - operatorLog: where it is noted that there was no room for a connection; made from the logger by default.
    ///   - metrics: where everything is counted.
    ///   - places: the places of the server, for the metrics.
    ///   - version: the version of the daemon, which it tells.
    ///   - opensMetrics: whether the metrics need no role.
    ///   - requestsPerSecond: the requests that a client may make in a second; without it, there is no limit.
    ///   - forwarder: what passes on requests that another node serves; without it they are refused.
    package init(
        shards: Shards, hub: EventHub, web: WebAccess = WebAccess(), access: AccessControl = AccessControl(),
        logger: Logger, operatorLog: OperatorLog? = nil, metrics: Metrics = Metrics(),
        places: ServerPlaces = ServerPlaces(ServerLimits(parked: 0)), version: String = "",
        opensMetrics: Bool = false, requestsPerSecond: Int? = nil, forwarder: Forwarder? = nil
    ) {
        self.forwarder = forwarder
        relay = forwarder.map { Relay(shards, peers: $0, times: $0.times) }
        limitsRates = requestsPerSecond != nil
        rates = Guarded(RequestRates(perSecond: requestsPerSecond ?? 1))
        self.shards = shards
        self.web = web
        self.access = access
        self.logger = logger
        self.operatorLog = operatorLog ?? OperatorLog(logger)
        self.metrics = metrics
        routes = Route.all(
            shards: shards, hub: hub,
            MetricsEndpoint(
                shards: shards, hub: hub, metrics: metrics, places: places, longWork: longWork, version: version),
            IdentityEndpoint(version: version),
            TraceEndpoints(shards: shards, hub: hub, version: version), opensMetrics: opensMetrics)
        plain = Dictionary(grouping: routes.filter(\.isPlain), by: \.template).mapValues { routes in
            Dictionary(uniqueKeysWithValues: routes.map { ($0.method, $0) })
        }
        templates = routes.filter { !$0.isPlain }
    }

    /// Answers every request from now on with `draining`, the questions about the daemon's health apart.
    package func drain() {
        isDraining.store(true, ordering: .releasing)
        relay?.drain()
    }

    /// The longest body that is read where the request goes, in bytes; of a client that may do what it asks for.
    package func bodyBytes(for request: Request) -> Int {
        guard let route = (try? route(for: request))?.0, mayCall(route, request) else { return ServerLimits.bodyBytes }
        return route.bodyBytes
    }

    private func mayCall(_ route: Route, _ request: Request) -> Bool {
        guard let role = route.role else { return true }
        return (try? accessPermission(for: request).check(role)) != nil
    }

    /// What the client may do, whom another node names if the request comes from there.
    private func accessPermission(for request: Request) throws(Problem) -> Permission {
        request.peer.isTrustedNode
            ? try access.permission(of: ForwardedClient(request.headers)) : try access.permission(for: request)
    }

    /// Whether the request must come through where there is no room for others.
    package func mayUseReserve(_ request: Request) -> Bool {
        (try? route(for: request))?.0.mayUseReserve ?? false
    }

    /// Tells the operator that a connection was closed to make room.
    package func noteCrowd() {
        operatorLog.noteRefusal(Problem(.tooManyConnections, "A connection was closed to make room."))
    }

    /// Handles one request: the exchange is answered now or later, exactly once.
    ///
    /// The first of these conditions that does not hold decides the answer. Every answer goes through `Call`.
    ///
    /// 1. The host is one that may be named, and the origin is the daemon's own or allowed. A preflight request is
    ///    answered.
    /// 2. The route is found.
    /// 3. The client is authenticated and has the role that the route needs, if it needs these.
    /// 4. The daemon does not drain, or the request is one that is answered even then.
    /// 5. The client accepts what the route serves.
    /// 6. The body, if there is one, is JSON.
    /// 7. The query has the parameters that the route takes, and no others, unless the route leaves it to the client.
    /// 8. The endpoint reads header fields and body, checks that the client may use the scene, and asks the engine.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - exchange: what is answered.
    ///   - held: how long the request has waited since it was complete.
    package func handle(_ request: Request, _ exchange: any Exchange, after held: Duration = .zero) {
        var context = Call.Context(requestID: requestID(of: request), held: held)
        do throws(Problem) {
            if let known = request.known?.admission(in: access.generation) {
                return try carryOut(request, exchange, &context, as: known)
            }
            let generation = access.generation
            context.allowedOrigin = try admit(request)
            if request.isNodesOwn { return try carryOut(request, exchange, context) }
            if context.allowedOrigin != nil, CrossOrigin.isPreflight(request) {
                let methods = try methods(for: request)
                return Call(request, exchange, context, router: self)
                    .respond(CrossOrigin.preflightResponse(to: request, methods: methods))
            }
            let (route, parameters) = try route(for: request)
            context.route = route
            context.parameters = parameters
            if route.needsPrincipal { context.permission = try permission(for: request) }
            if let role = route.role { try context.permission.check(role) }
            context.client = request.peer.isNode ? ForwardedClient(request.headers).presence : request.client
            try checkDraining(route, request)
            try checkAccept(request, route)
            try checkBody(of: request)
            if !route.ignoresQuery { context.query = try Query(request.query, taking: route.query) }
            // What another node passes on names its own client.
            if !request.peer.isNode {
                request.known?.note(
                    KnownRequest.Admission(
                        generation: generation, allowedOrigin: context.allowedOrigin, route: route,
                        parameters: parameters, permission: context.permission, query: context.query))
            }
            noteSession(of: request, in: &context)
            try carryOut(request, exchange, context)
        } catch {
            carryOutElsewhere(request, exchange, context, because: error)
        }
    }

    /// Carries out a request of which everything is known that follows from its head; what may have changed is checked.
    private func carryOut(
        _ request: Request, _ exchange: any Exchange, _ context: inout Call.Context, as known: KnownRequest.Admission
    ) throws(Problem) {
        context.allowedOrigin = known.allowedOrigin
        context.route = known.route
        context.parameters = known.parameters
        context.permission = known.permission
        context.query = known.query
        context.client = request.client
        if known.route.needsPrincipal { try checkRate(of: known.permission, at: request.peer) }
        try checkDraining(known.route, request)
        noteSession(of: request, in: &context)
        try carryOut(request, exchange, context)
    }

    /// The origin of the page that may read the answer, if it is another's.
    ///
    /// What another node passes on has been admitted there.
    private func admit(_ request: Request) throws(Problem) -> String? {
        guard case .node(_, let isTrusted) = request.peer else { return try web.admit(request) }
        guard isTrusted else {
            throw Problem(.forbidden, "Only nodes of the cluster may use this address, each with its certificate.")
        }
        return nil
    }

    /// Authenticates the client and counts its request; one that is not authenticated is known by its address.
    private func permission(for request: Request) throws(Problem) -> Permission {
        let client = client(of: request)
        let permission: Permission
        do throws(Problem) {
            permission = try accessPermission(for: request)
        } catch {
            try checkRate(of: client.key)
            throw error
        }
        // A part of an answer is no request of its own.
        guard !request.peer.isNode || request.headers.value(of: .part) == nil else { return permission }
        try checkRate(of: permission, at: client)
        return permission
    }

    private func checkRate(of permission: Permission, at client: Peer) throws(Problem) {
        guard limitsRates else { return }
        try checkRate(of: permission.caller.principal?.description ?? client.key)
    }

    /// The other end of the client's connection, which may be one with another node.
    private func client(of request: Request) -> Peer {
        guard request.peer.isTrustedNode else { return request.peer }
        return ForwardedClient(request.headers).peer ?? request.peer
    }

    private func checkRate(of client: String) throws(Problem) {
        guard limitsRates, let wait = rates.withLock({ $0.take(client, at: .now) }) else { return }
        throw Problem(
            .tooManyRequests, "\(quoted(client)) makes more requests than --max-requests-per-second allows.",
            retryAfter: max(1, Int(wait.components.seconds) + 1))
    }

    /// Refuses a request that cannot even be read.
    package func refuse(_ request: Request, _ exchange: any Exchange, _ problem: Problem) {
        var context = Call.Context(requestID: requestID(of: request))
        context.allowedOrigin = (try? web.admit(request)) ?? nil
        context.route = (try? route(for: request))?.0
        refuse(request, exchange, problem, context)
    }

    /// The refusal of what is no request, and has no exchange.
    ///
    /// - Parameters:
    ///   - request: what is known of it.
    ///   - problem: what is wrong with it.
    /// - Returns: what has to be sent.
    package func refusal(of request: Request, _ problem: Problem) -> Response {
        var response = problem.response
        let requestID = requestID(of: request)
        response.requestID = requestID
        response.allowedOrigin = (try? web.admit(request)) ?? nil
        metrics.note(problem.code)
        logger.debug(
            "no request \(problem.status)",
            metadata: ["request": "\(loggable(requestID))", "code": "\(problem.code.rawValue)"])
        return response
    }

    func refuse(_ request: Request, _ exchange: any Exchange, _ problem: Problem, _ context: Call.Context) {
        switch problem.code {
        case .tooManyConnections, .tooManyRequests: operatorLog.noteRefusal(problem)
        case .unauthenticated, .forbidden:
            operatorLog.noteDenial(problem, of: client(of: request), context.permission.caller)
        default: break
        }
        var response = problem.response
        response.headers += PageEndpoints.headersOfRefusal(at: PercentEncoding.path(ofTarget: request.path))
        Call(request, exchange, context, router: self).respond(response)
    }

    /// The client's own id, if it is one that can be repeated in a header field and a log, or a new one.
    private func requestID(of request: Request) -> String {
        if let given = request.headers.value(of: .requestID), 1...128 ~= given.utf8.count,
            given.utf8.allSatisfy({ 0x21...0x7e ~= $0 })
        {
            return given
        }
        return hexadecimal(lastRequestID.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Takes notice that the client of a session is alive, whatever it asks for.
    ///
    /// A single daemon hears that in the turn of the request. If the body is long, its engine is told at once, because
    /// the body is read before the turn. In a cluster the session is always noted at once, because the home of the
    /// session may be elsewhere.
    private func noteSession(of request: Request, in context: inout Call.Context) {
        guard let text = request.headers.value(of: .session), let session = try? Token(text, field: "") else { return }
        if let guests = relay?.guests {
            guests.hear(session, from: context.asker)
        } else if shards.only != nil, request.body.count <= ServerLimits.shortBodyBytes {
            context.word = session
        } else {
            (try? shards.engine(at: session.slot))?.hear(session, from: context.asker)
        }
    }

    /// Has the engine hear the session that a call names, if the call has not told it already.
    func hearWord(of call: Call) {
        guard let asker = call.unheard, let session = asker.session else { return }
        shards.only?.hear(session, from: asker)
    }

    private func checkDraining(_ route: Route, _ request: Request) throws(Problem) {
        // What other nodes pass on is carried out until its shard is handed over.
        guard !route.answersWhileDraining, !request.peer.isNode, isDraining.load(ordering: .acquiring) else { return }
        throw Problem(drainingFor: request.peer)
    }

    private func checkAccept(_ request: Request, _ route: Route) throws(Problem) {
        let types = route.contentTypes
        guard !types.isEmpty, let accept = request.headers.value(of: .accept), accept != "*/*",
            !types.contains(where: { MediaType.accepts(accept, $0) })
        else { return }
        throw Problem(
            .notAcceptable, "This is served as \(types.joined(separator: " or ")).", field: HeaderName.accept.text)
    }

    /// A page may send a body of another type, or without a type, to any origin without a preflight.
    ///
    /// For JSON, its browser has to ask first.
    private func checkBody(of request: Request) throws(Problem) {
        guard !request.body.isEmpty else { return }
        let type = request.headers.value(of: .contentType)
        guard let type, MediaType.isJSON(type) else {
            let found = type.map { "not \(quoted($0))" } ?? "and say so"
            throw Problem(
                .unsupportedMediaType, "Send the body as Content-Type: application/json, \(found).",
                field: HeaderName.contentType.text)
        }
        if let encoding = request.headers.value(of: .contentEncoding), encoding.lowercased() != "identity" {
            throw Problem(
                .unsupportedMediaType, "Send the body as it is, not encoded as \(quoted(encoding)).",
                field: HeaderName.contentEncoding.text)
        }
    }
}
