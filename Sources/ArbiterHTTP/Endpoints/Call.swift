internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import Logging
internal import Synchronization

/// One request on its way to its one answer.
///
/// `Router.handle` is the place before every request; `respond` and `stream` are the place after it, through which every
/// answer passes. A class, because every answer that comes later keeps it.
final class Call: Sendable {
    /// What the router has found out about a request.
    struct Context: Sendable {
        let requestID: String
        /// How long it has waited for long work, or for its shard, before its endpoint was asked.
        var held = Duration.zero
        /// The origin of the page that asks, where it is another's and allowed.
        var allowedOrigin: String?
        /// What the client may do; nothing has been checked if the route needs no role.
        var permission = Permission.everything
        /// Where the request goes; `nil` if that is nowhere, or was not looked up.
        var route: Route?
        /// The parts of the path that its route names, percent-decoded.
        var parameters: [String: String] = [:]
        /// The parameters of the query.
        var query = Query()
        /// Whether its session may still have to become a guest; false once its home has been asked.
        var mayNeedGuest = true
        /// Whether its client was there when the request was read.
        var client = ClientPresence.present
        /// The session that the request names, whose word is to be heard in the turn of the request.
        var word: Token?
        /// When the request was complete.
        let begun: ContinuousClock.Instant

        init(requestID: String, held: Duration = .zero) {
            (self.requestID, self.held, begun) = (requestID, held, .now - held)
        }

        /// To whom the client's sessions and keys belong, which scenes there are for it, and whether it was there.
        var asker: Asker { Asker(permission.caller, client, naming: word) }
    }

    /// The request without its body.
    let request: Request
    /// The body until it is read, so that a request that waits does not keep it.
    private let body: Guarded<[UInt8]>
    let exchange: any Exchange
    private let context: Context
    private let router: Router
    /// What its answer needs of its header, which is gone when its connection is.
    private let kept: KeptFields
    /// Whether an engine was given its asker.
    private let hasSpoken = Atomic(false)

    private struct KeptFields {
        /// The versions that the client has, of a request that only reads.
        var ifNoneMatch: String?
        /// The trace that it is part of, if that is logged.
        var trace: TraceParent?
        /// The name under which another node has passed it on.
        var forwarded: String?
        /// How long the client of that node still waits.
        var remaining: Duration?
    }

    private var logger: Logger { router.logger }

    init(_ request: Request, _ exchange: any Exchange, _ context: Context, router: Router) {
        self.request = request.withoutBody
        body = Guarded(request.body)
        self.exchange = exchange
        self.context = context
        self.router = router
        let headers = request.headers
        var kept = KeptFields()
        if request.method == "GET" || request.method == "HEAD" { kept.ifNoneMatch = headers.value(of: .ifNoneMatch) }
        if router.logger.logLevel <= .debug {
            kept.trace = headers.value(of: .traceParent).flatMap { TraceParent($0) }
        }
        if request.peer.isNode {
            kept.forwarded = headers.value(of: .forwarded)
            kept.remaining = ForwardedClient(headers).remaining
        }
        self.kept = kept
    }

    /// The versions that the client has, of a request that only reads.
    var ifNoneMatch: String? { kept.ifNoneMatch }

    /// The parts of the path that its route names, percent-decoded.
    var parameters: [String: String] { context.parameters }

    /// The parameters of the query.
    var query: Query { context.query }

    /// The id of the request.
    var requestID: String { context.requestID }

    /// Whether the client is gone, if the connection is closed.
    ///
    /// Of a client of another node only that node knows; the loss of the node says nothing about the client.
    var clientAtClose: ClientPresence {
        guard request.peer.isNode else { return .gone }
        return kept.forwarded.map { router.departures.take($0) } == true ? .gone : .present
    }

    /// Whether its session may still have to become a guest; false once its home has been asked.
    var mayNeedGuest: Bool { context.mayNeedGuest }

    /// Whether what it asks for is a stream.
    var isStream: Bool { context.isStream }

    /// How long it may wait if it asks for that: no longer than its client still does.
    func bounded(_ wait: Duration) -> Duration {
        max(.zero, min(wait, kept.remaining ?? wait) - context.held)
    }

    /// What the client may do.
    var permission: Permission { context.permission }

    /// To whom the client's sessions and keys belong, and which scenes there are for it.
    var caller: Caller { context.permission.caller }

    /// The caller, whether it was there when the request was read, and the session that the request names; for the engine that is
    /// asked, which hears the word of that session in the same turn.
    func takeAsker() -> Asker {
        hasSpoken.store(true, ordering: .relaxed)
        return context.asker
    }

    /// The asker, if no engine was given it and it names a session.
    var unheard: Asker? { context.word == nil || hasSpoken.load(ordering: .relaxed) ? nil : context.asker }

    /// Answers; without the content if the client has it already.
    func respond(_ response: consuming Response) {
        if let unchanged = unchanged(response.status, response.headers) { response = unchanged }
        guard
            request.method == "HEAD" || response.body.count <= ServerLimits.answerBytes
                || reserve(response.body.count, for: response.contentType)
        else { return leaveUnanswered(response.status) }
        note(response)
        addCommonHeaders(to: &response)
        exchange.respond(response)
    }

    /// Answers with a head, and with a body that is pulled from the source until that says it is over.
    func stream(_ head: consuming Response, from source: any StreamSource) {
        note(head)
        addCommonHeaders(to: &head)
        exchange.stream(head, from: source)
    }

    private func addCommonHeaders(to response: inout Response) {
        response.requestID = context.requestID
        response.allowedOrigin = context.allowedOrigin
        if response.isUntouched, request.peer.isNode { response.headers.append(HeaderField(Response.untouched, "1")) }
    }

    /// Every route.
    var routes: [Route] { router.routes }

    /// Does what takes more than a few milliseconds, and answers, on a thread that serves no connection.
    func asLongWork(_ work: @escaping @Sendable () -> Void) { router.longWork.add(work) }

    /// What asks other nodes; `nil` if the daemon is no node of a cluster.
    var forwarder: Forwarder? { router.forwarder }

    /// What has requests carried out by other nodes; `nil` if the daemon is no node of a cluster.
    var relay: Relay? { router.relay }

    private func note(_ response: borrowing Response) {
        log(response)
        context.route?.metrics.note(response.status, after: context.begun.duration(to: .now))
        if let code = response.problem { router.metrics.note(code) }
    }

    private func log(_ response: borrowing Response) {
        guard logger.logLevel <= .debug else { return }
        var metadata: Logger.Metadata = ["request": "\(loggable(context.requestID))"]
        if let route = context.route {
            metadata["route"] = "\(route.name)"
            if let role = route.role { metadata["role"] = "\(role.rawValue)" }
        }
        if let trace = kept.trace {
            metadata["trace"] = "\(trace.traceID)"
        }
        if let principal = caller.principal { metadata["principal"] = "\(loggable(principal.description))" }
        if let scene = response.scene { metadata["scene"] = "\(loggable(scene.description))" }
        if let transition = response.transition { metadata["id"] = "\(transition)" }
        if let code = response.problem { metadata["code"] = "\(code.rawValue)" }
        logger.debug(
            "\(loggable(request.method)) \(loggablePath(request.path)) \(response.status)", metadata: metadata)
    }

    /// Answers with the transition, or with what went wrong.
    ///
    /// - Parameters:
    ///   - result: the transition, or what went wrong.
    ///   - showingToken: whether the answer has the token.
    ///   - headers: further header fields.
    ///   - hasBegun: whether a part of the request may have been carried out, whatever went wrong.
    ///   - status: the status of the answer.
    func respond(
        _ result: Result<TransitionView, EngineError>, showingToken: Bool = false, headers: [HeaderField] = [],
        hasBegun: Bool = false, status: (TransitionView) -> Int = { _ in 200 }
    ) {
        switch result {
        case .success(let view): respond(status(view), view, showingToken: showingToken, headers: headers)
        case .failure(let error):
            var problem = Problem(error)
            if hasBegun { problem.misplaced = nil }
            respond(problem.response)
        }
    }

    /// Answers with a transition, behind the members that this answer alone has.
    func respond(
        _ status: Int, _ view: TransitionView, showingToken: Bool = false, headers: [HeaderField] = [],
        behind members: @escaping @Sendable (inout JSONWriter) -> Void = { _ in }
    ) {
        guard view.listedControllers <= ServerLimits.controllersAtOnce else {
            return respond(status, view.document(showingToken: showingToken, behind: members), headers: headers)
        }
        var response = Response.json(status) { writer in
            members(&writer)
            writer.members(of: view, showingToken: showingToken)
        }
        if !headers.isEmpty { response.headers += headers }
        response.transition = view.transition.id
        response.scene = view.transition.request.scene
        respond(response)
    }

    /// Answers with a document: whole, or piece by piece if it is long.
    func respond(
        _ status: Int, _ document: JSONDocument, as type: ContentType = .json, headers: [HeaderField] = []
    ) {
        if let unchanged = unchanged(status, headers) { return respond(unchanged) }
        var document = document
        let beginning = document.take(atLeast: ServerLimits.answerBytes)
        if document.isOver {
            respond(Response(status, type, body: beginning, headers: headers))
        } else if request.method != "HEAD",
            !reserve(document.byteCount + ServerLimits.answerBytes, isLong: true, for: type)
        {
            leaveUnanswered(status)
        } else {
            stream(Response(status, type, body: [], headers: headers), from: DocumentSource(beginning, document))
        }
    }

    /// Takes room for an answer; what has been done, and what operators ask, may take more of it than other questions.
    private func reserve(_ bytes: Int, isLong: Bool = false, for type: ContentType?) -> Bool {
        exchange.reserve(
            AnswerRoom(byteCount: bytes, isLong: isLong, isQuestion: request.onlyReads && type != .metrics))
    }

    /// Gives up an answer for which there is no room.
    ///
    /// A question is refused. A request that has changed something cannot be refused any more, so the connection is
    /// closed within its answer.
    private func leaveUnanswered(_ status: Int) {
        guard !request.onlyReads else { return respond(Problem.tooManyLongAnswers.response) }
        stream(Response(status, .json, body: []), from: CutSource())
    }

    /// Answers with what was found, or with what went wrong.
    func respond<Value>(_ result: Result<Value, EngineError>, with response: (Value) -> Response) {
        switch result {
        case .success(let value): respond(response(value))
        case .failure(let error): respond(Problem(error).response)
        }
    }
}

extension Call.Context {
    /// Whether what it asks for is a stream.
    var isStream: Bool { route?.contentTypes.contains("text/event-stream") ?? false }
}

// MARK: - What the request says

extension Call {
    /// Reads the body's members, if there is a body.
    ///
    /// - Throws: `malformed-json`, and what `member` throws.
    func readBody(_ member: (String, inout JSONReader) throws(Problem) -> Void) throws(Problem) {
        let body = takeBody()
        guard !body.isEmpty else { return }
        try JSONReader.readObject(body, member)
    }

    /// Reads the body's members, where a body is required because the request says nothing without one.
    ///
    /// - Throws: `malformed-json` also if there is no body, and what `member` throws.
    func readRequiredBody(_ member: (String, inout JSONReader) throws(Problem) -> Void) throws(Problem) {
        try JSONReader.readObject(takeBody(), member)
    }

    /// The body, which can be taken once.
    func takeBody() -> [UInt8] {
        body.withLock { body in
            defer { body = [] }
            return body
        }
    }
}
