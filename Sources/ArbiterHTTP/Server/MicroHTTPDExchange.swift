internal import ArbiterCore
internal import ArbiterEngine
internal import Dispatch
internal import Glibc

/// One request, from its first line to the last byte of its response.
///
/// `@unchecked`, because everything that changes outside `phase` belongs to the one thread that serves the connection.
/// On other threads only answering, waking, `whenAbandoned` and taking places or room run. They touch `phase` alone, and what is
/// changed under its lock, and resume the connection once, if `phase` says that it is suspended.
final class MicroHTTPDExchange: Exchange, HeaderFields, @unchecked Sendable {
    private let server: MicroHTTPDServer
    let connection: MicroHTTPDConnection
    private var record: ConnectionRecord { connection.record }
    private let head: MicroHTTPDHead
    private let known: KnownRequest?
    private let peer: Peer
    private var method: String { head.method }
    private var path: String { head.path }
    /// Whether its connection has a place in the reserve; such a connection is closed after its answer.
    ///
    /// Written on the connection's own thread, before an answer is possible.
    private var isInReserve = false
    private var body: [UInt8] = []
    private var receivedBytes = 0
    /// The largest body that this route accepts; determined only for a body that is larger than most routes accept.
    private lazy var bodyBytes = server.router.bodyBytes(for: head.request(self, from: peer))
    private var largePlace = LargePlace.unasked
    private var progress = Progress.receiving
    private let phase = Guarded(Phase.handling)
    /// The answer until libmicrohttpd gets it; used under the lock of `phase`.
    private var kept: MicroHTTPDAnswer?
    /// Used under the lock of `phase`; when the exchange is parked, the loop gets it.
    private var whenAbandoned: (@Sendable () -> Void)?
    /// Changed under the lock of `phase`, and read when the exchange completes.
    private var hasPlace = false
    /// Changed under the lock of `phase`, and read when the exchange completes.
    private var hasLongAnswer = false
    /// The bytes that are reserved for its answer; changed and read as `hasLongAnswer` is.
    private var bytesOfAnswer = 0

    /// Whether it has one of the places for large bodies.
    private enum LargePlace {
        case unasked
        case taken
        case refused
    }

    /// What has become of the request on the connection's own thread.
    private enum Progress {
        case receiving
        /// It is carried out, and is answered at the end of the round, if nothing else holds it up.
        case carriedOut
        /// It is with somebody else, who may take long.
        case handedOver
    }

    private enum Phase {
        /// Handled on the connection's own thread, without an answer yet. Can transition to: `answered`, `parked`.
        case handling
        /// There is an answer, which is kept in `kept`. Can transition to: `streaming`, `over`.
        case answered
        /// The connection is suspended, and its peer is watched unless the answer comes soon. Can transition to: `answered`.
        case parked(isWatched: Bool)
        /// The answer's body is pulled from its source. Can transition to: `over`.
        case streaming(MicroHTTPDStream)
        /// libmicrohttpd has the whole answer. Can transition to: nothing.
        case over

        /// Whether places may be taken: once there is an answer, the exchange may have completed, and would not give them back.
        var lacksAnswer: Bool {
            switch self {
            case .handling, .parked: true
            case .answered, .streaming, .over: false
            }
        }
    }

    init(
        server: MicroHTTPDServer, connection: MicroHTTPDConnection, head: MicroHTTPDHead, known: KnownRequest?,
        peer: Peer
    ) {
        self.peer = peer
        self.server = server
        self.connection = connection
        self.head = head
        self.known = known
        server.exchanges.enter()
    }

    /// Releases everything; libmicrohttpd has finished the request.
    func complete() {
        let stream = phase.withLock { phase -> MicroHTTPDStream? in
            defer { (phase, whenAbandoned, kept) = (.over, nil, nil) }
            if case .streaming(let stream) = phase { return stream }
            return if case .stream(_, let stream) = kept { stream } else { nil }
        }
        stream?.finish()
        if hasPlace { server.places.parked.leave() }
        if hasLongAnswer { server.places.longAnswers.leave() }
        if bytesOfAnswer > 0 { server.places.bytesOfAnswers.leave(bytesOfAnswer) }
        if largePlace == .taken { server.places.largeBodies.leave() }
        record.answerHasLeft(head.isChunked ? .unknown : .bytes(head.bytes + receivedBytes))
        server.exchanges.leave()
    }

    // MARK: Receiving

    /// The answer to a request that can be refused before its body is read.
    func refusalBeforeBody() -> MicroHTTPDAnswer? {
        isInReserve = !server.connections.hasOrdinaryPlace(record)
        if isInReserve, !server.router.mayUseReserve(head.request(self, from: peer)) {
            refuse(
                Problem(
                    .tooManyConnections, "There are too many connections; try again.", retryAfter: Problem.retrySoon))
        } else if let ambiguity = head.ambiguity {
            refuse(ambiguity)
        } else if head.bytes > ServerLimits.headerBytes {
            refuse(.headersTooLarge)
        } else {
            let announced = connection.announcedBytes
            if announced > ServerLimits.bodyBytes, announced > bodyBytes + ServerLimits.discardedBytes {
                refuse(tooLarge)
            }
        }
        return takeAnswer()
    }

    /// - Returns: whether the body may continue.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        record.notePart()
        receivedBytes += bytes.count
        guard receivedBytes > ServerLimits.bodyBytes else {
            unsafe body.append(contentsOf: bytes)
            return true
        }
        if receivedBytes <= bodyBytes, takeLargePlace() {
            unsafe body.append(contentsOf: bytes)
        } else {
            body = []
        }
        return receivedBytes <= bodyBytes + ServerLimits.discardedBytes
    }

    private func takeLargePlace() -> Bool {
        guard largePlace == .unasked else { return largePlace == .taken }
        largePlace = server.places.largeBodies.take() ? .taken : .refused
        return largePlace == .taken
    }

    /// Handles the complete request, or asks once more for its answer.
    ///
    /// - Returns: the answer; `nil` if it comes at the end of the round, or if the connection has been suspended until there is
    ///   one.
    func handle() -> MicroHTTPDAnswer? {
        guard case .receiving = progress else { return takeAnswer() ?? park() }
        progress = .carriedOut
        record.loop.noteRequest()
        if record.requestIsWhole() { server.connections.establish(record) }
        if let answer = takeAnswer() { return answer }
        if receivedBytes > ServerLimits.bodyBytes, receivedBytes > bodyBytes {
            refuse(tooLarge)
        } else if largePlace == .refused {
            refuse(
                Problem(
                    .tooManyConnections, "There are too many large bodies on their way; try again.",
                    retryAfter: Problem.retrySoon))
        } else if head.isChunked, !connection.trailersAreSound {
            refuse(MicroHTTPDHead.Fault.trailer.problem)
        } else if let query = head.query {
            carryOut(query)
        } else {
            refuse(Problem(.invalidField, "A query may have \(ServerLimits.queryParameters) parameters at most."))
        }
        if let answer = takeAnswer() { return answer }
        if case .handedOver = progress { return park() }
        return phase.withLock({ _ in whenAbandoned == nil }) ? nil : park()
    }

    /// Has the router carry out the request: now, or as long work if its body is large.
    private func carryOut(_ query: [QueryItem]) {
        // The body is kept by those who read it only.
        let body = body
        self.body = []
        // What nodes say for themselves keeps sessions alive.
        guard body.count > ServerLimits.shortBodyBytes, !head.request(self, from: peer).isNodesOwn else {
            return server.router.handle(request(query, self, body), self)
        }
        progress = .handedOver
        // The connection may have been answered, and closed, before the work is over.
        server.router.longWork.add { [self, headers = KeptFields(self), complete = ContinuousClock.now] in
            server.router.handle(request(query, headers, body), self, after: complete.duration(to: .now))
        }
    }

    /// The whole request, and whether its client is gone, which matters for words of sessions, and of owners.
    private func request(_ query: [QueryItem], _ headers: any HeaderFields, _ body: [UInt8]) -> Request {
        let isGone = (method == "POST" || headers.value(of: .session) != nil) && record.peer.isClosed
        return Request(
            method: method, path: path, query: query, headers: headers, body: body, peer: peer,
            client: isGone ? .gone : .present, known: known)
    }

    private func refuse(_ problem: Problem) {
        server.router.refuse(head.request(self, from: peer), self, problem)
    }

    private var tooLarge: Problem {
        Problem(.bodyTooLarge, "A body may have \(bodyBytes) bytes here.")
    }

    func value(of name: HeaderName) -> String? { connection.value(of: name) }

    // MARK: Answering

    func respond(_ response: Response) {
        var response = response
        let close = HeaderField("Connection", "close")
        // Frees the place in the reserve for the next connection.
        if isInReserve, !response.headers.contains(close) { response.headers.append(close) }
        _ = answer(.response(response))
    }

    func stream(_ head: Response, from source: any StreamSource) {
        guard method != "HEAD" else {
            _ = answer(.headOfStream(head))
            return source.close()
        }
        let stream = MicroHTTPDStream(connection: connection, peer: record.peer, source: source)
        if !answer(.stream(head, stream)) { stream.finish() }
    }

    /// - Returns: whether it is the first answer; later ones are ignored.
    private func answer(_ answer: consuming MicroHTTPDAnswer) -> Bool {
        let (isFirst, wasParked, wasWatched) = phase.withLock { phase -> (Bool, Bool, Bool) in
            switch phase {
            case .handling:
                (phase, kept, whenAbandoned) = (.answered, answer, nil)
                return (true, false, false)
            case .parked(let isWatched):
                (phase, kept) = (.answered, answer)
                return (true, true, isWatched)
            case .answered, .streaming, .over:
                return (false, false, false)
            }
        }
        guard wasParked else { return isFirst }
        if wasWatched { record.peer.forget() }
        connection.resume()
        return true
    }

    private func takeAnswer() -> MicroHTTPDAnswer? {
        let answer = phase.withLock { phase -> MicroHTTPDAnswer? in
            guard case .answered = phase else { return nil }
            phase = if case .stream(_, let stream) = kept { .streaming(stream) } else { .over }
            return kept.take()
        }
        if case .stream(_, let stream) = answer { stream.begin() }
        return answer
    }

    func wake() {
        openStream?.wake()
    }

    func cut() {
        openStream?.cut()
    }

    /// The stream once it is open; before that a wake is unnecessary, because an opening stream reads its source.
    private var openStream: MicroHTTPDStream? {
        phase.withLock { phase in
            guard case .streaming(let stream) = phase else { return nil }
            return stream
        }
    }

    // MARK: Waiting

    func reservePlace() -> Bool {
        phase.withLock { phase in
            guard phase.lacksAnswer else { return false }
            hasPlace = hasPlace || server.places.parked.take()
            return hasPlace
        }
    }

    func reserve(_ room: AnswerRoom) -> Bool {
        phase.withLock { phase in
            guard phase.lacksAnswer else { return false }
            let places = server.places
            if room.isLong, room.isQuestion, !hasLongAnswer {
                guard places.longAnswers.take() else { return false }
                hasLongAnswer = true
            }
            let more = min(room.byteCount, ServerLimits.bytesOfOneAnswer) - bytesOfAnswer
            guard more > 0 else { return true }
            let limit = room.isQuestion ? ServerLimits.bytesOfAnswers : ServerLimits.bytesOfAllAnswers
            guard places.bytesOfAnswers.take(more, upTo: limit) else { return false }
            bytesOfAnswer += more
            return true
        }
    }

    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        phase.withLock { phase in
            switch phase {
            case .handling: whenAbandoned = action
            case .parked:
                watch(action)
                phase = .parked(isWatched: true)
            case .answered, .streaming, .over: break
            }
        }
    }

    private func watch(_ leave: @escaping @Sendable () -> Void) {
        record.peer.watch { [weak self] in self?.abandon(leave) }
    }

    /// Suspends the connection, unless there is an answer by now.
    ///
    /// Runs under the lock, so that a thread that answers finds the exchange either handling, or suspended and watched.
    private func park() -> MicroHTTPDAnswer? {
        let isParked = phase.withLock { phase in
            guard case .handling = phase else { return false }
            connection.suspend()
            // An exchange that waits only for a commit is answered soon, so its peer is not watched.
            let leave = whenAbandoned.take()
            if let leave { watch(leave) }
            phase = .parked(isWatched: leave != nil)
            return true
        }
        return isParked ? nil : takeAnswer()
    }

    /// The client has closed its side while parked; the answer makes libmicrohttpd notice that.
    ///
    /// Nobody reads it, so it is made without the request, whose connection may be gone: `leave` may have answered.
    private func abandon(_ leave: @Sendable () -> Void) {
        leave()
        let problem = Problem(
            .connectionClosed, "The client closed its side of the connection while it waited.", closesConnection: true)
        _ = answer(.response(problem.response))
    }
}
