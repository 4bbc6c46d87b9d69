internal import ArbiterEngine
internal import Dispatch
internal import Glibc
internal import Synchronization

/// One request, from its first line to the last byte of its response.
///
/// `@unchecked`, because of the body and what else changes outside `phase`: all of it belongs to the one thread that
/// serves the connection. What happens elsewhere is `respond`, which touches `phase` alone, and resumes the connection
/// once, while it is suspended, which `phase` proves.
final class MicroExchange: Exchange, HeaderFields, @unchecked Sendable {
    private let server: MicroHTTPDServer
    private let connection: MicroConnection
    private let record: ConnectionRecord
    private let head: MicroHead
    private var method: String { head.method }
    private var path: String { head.path }
    /// Whether it is on a connection of the reserve, and so the last exchange there.
    ///
    /// Written on the connection's own thread, before anybody can answer.
    private var isInReserve = false
    private var body: [UInt8] = []
    private var receivedBytes = 0
    /// The longest body that is read here; looked up only where more comes than most may have.
    private lazy var bodyBytes = server.router.bodyBytes(for: Request(method: method, path: path, headers: self))
    private var largePlace = LargePlace.unasked
    private let phase = Guarded(Phase.handling)
    /// Written and read on the connection's own thread, until it is parked with a copy.
    private var whenAbandoned: (@Sendable () -> Void)?
    /// Written and read on the connection's own thread.
    private var hasPlace = false
    /// Written before the answer is given, and read when all is over.
    private var hasLongAnswer = false

    /// Whether it has one of the places that there are for large bodies.
    private enum LargePlace {
        case unasked
        case taken
        case refused
    }

    private enum Phase {
        /// On its way to an answer, on the connection's own thread. Can transition to: `answered`, `parked`.
        case handling
        /// The answer is there. Can transition to: `streaming`, `over`.
        case answered(MicroAnswer)
        /// The connection is suspended, and watched under the key, if there is one. Can transition to: `answered`.
        case parked(watch: UInt64?)
        /// The answer's body is pulled from its source. Can transition to: `over`.
        case streaming(MicroStream)
        /// The answer is on its way out. Can transition to: nothing.
        case over
    }

    init(server: MicroHTTPDServer, connection: MicroConnection, record: ConnectionRecord, head: MicroHead) {
        self.server = server
        self.connection = connection
        self.record = record
        self.head = head
        server.exchanges.enter()
    }

    /// libmicrohttpd is done with it.
    func complete() {
        let phase = phase.withLock { phase in
            defer { phase = .over }
            return phase
        }
        switch phase {
        case .streaming(let stream), .answered(.stream(_, let stream)): stream.finish()
        case .handling, .answered(.response), .answered(.headOfStream), .parked, .over: break
        }
        if hasPlace { server.parked.subtract(1, ordering: .relaxed) }
        if hasLongAnswer { server.longAnswers.subtract(1, ordering: .relaxed) }
        if largePlace == .taken { server.largeBodies.subtract(1, ordering: .relaxed) }
        if head.isChunked { server.chunkedBodies.end(record) }
        record.answerHasLeft(head.isChunked ? .unknown : .bytes(head.bytes + receivedBytes))
        server.exchanges.leave()
    }

    // MARK: Receiving

    /// What can be said before the body is there.
    func refusalBeforeBody() -> MicroAnswer? {
        isInReserve = !server.connections.hasOrdinaryPlace(record)
        if isInReserve, !server.router.mayUseReserve(Request(method: method, path: path, headers: self)) {
            refuse(
                Problem(.tooManyConnections, "There are too many connections; try again.", retryAfter: Problem.briefly))
        } else if let ambiguity = head.ambiguity {
            refuse(ambiguity)
        } else if head.bytes > ServerLimits.headerBytes {
            refuse(
                Problem(
                    .headersTooLarge, "Request line and header fields may have \(ServerLimits.headerBytes) bytes.",
                    closesConnection: true))
        } else {
            let announced = connection.announcedBytes
            if announced > ServerLimits.bodyBytes, announced > bodyBytes + ServerLimits.discardedBytes {
                refuse(tooLarge)
            }
        }
        if let answer = takeAnswer() { return answer }
        if head.isChunked { watchChunks() }
        return nil
    }

    /// Sees to it that a line before a chunk that is too long is answered as it should be.
    private func watchChunks() {
        server.chunkedBodies.begin(record, thread: UInt(pthread_self()), headBytes: head.bytes) { [weak self] in
            self?.lastWords(
                Problem(
                    .invalidField, "The line before a chunk is too long; send no chunk extensions.",
                    field: HeaderName.transferEncoding.rawValue, closesConnection: true))
        }
    }

    /// The answer as it is sent without libmicrohttpd, on the connection's own thread.
    private func lastWords(_ problem: Problem) -> [UInt8]? {
        refuse(problem)
        guard case .response(let response) = takeAnswer() else { return nil }
        return response.asLastWords(at: time(nil))
    }

    /// - Returns: whether more may come.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        receivedBytes += bytes.count
        if head.isChunked { server.chunkedBodies.goOn(record) }
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
        if server.largeBodies.add(1, ordering: .relaxed).newValue <= ServerLimits.largeBodies {
            largePlace = .taken
        } else {
            server.largeBodies.subtract(1, ordering: .relaxed)
            largePlace = .refused
        }
        return largePlace == .taken
    }

    /// Has the complete request handled.
    ///
    /// - Returns: the answer, or `nil` if the connection has been suspended until there is one.
    func handle() -> MicroAnswer? {
        if head.isChunked { server.chunkedBodies.end(record) }
        if record.requestIsWhole() { server.connections.establish(record) }
        if let answer = takeAnswer() { return answer }
        if receivedBytes > ServerLimits.bodyBytes, receivedBytes > bodyBytes {
            refuse(tooLarge)
        } else if largePlace == .refused {
            refuse(
                Problem(
                    .tooManyConnections, "There are too many large bodies on their way; try again.",
                    retryAfter: Problem.briefly))
        } else if head.isChunked, !connection.trailersAreSound {
            refuse(MicroHead.Fault.trailer.problem)
        } else if let query = head.query {
            server.router.handle(
                Request(method: method, path: path, query: query, headers: self, body: body), self)
        } else {
            refuse(Problem(.invalidField, "A query may have \(ServerLimits.queryParameters) parameters."))
        }
        return takeAnswer() ?? park()
    }

    private func refuse(_ problem: Problem) {
        server.router.refuse(Request(method: method, path: path, headers: self), self, problem)
    }

    private var tooLarge: Problem {
        Problem(.bodyTooLarge, "A body may have \(bodyBytes) bytes here.")
    }

    /// Without the white space around it, which is no part of it (RFC 9110, section 5.5).
    func value(of name: HeaderName) -> String? {
        guard let value = connection.header(name) else { return nil }
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard value.utf8.first.map(isSpace) == true || value.utf8.last.map(isSpace) == true else { return value }
        let start = value.utf8.firstIndex { !isSpace($0) } ?? value.endIndex
        let last = value.utf8.lastIndex { !isSpace($0) }
        return last.map { String(value[start...$0]) } ?? ""
    }

    // MARK: Answering

    func respond(_ response: Response) {
        var response = response
        let close = HeaderField("Connection", "close")
        // So that the reserve is free for the next.
        if isInReserve, !response.headers.contains(close) { response.headers.append(close) }
        _ = answer(.response(response))
    }

    func stream(_ head: Response, from source: any StreamSource) {
        guard method != "HEAD" else {
            _ = answer(.headOfStream(head))
            return source.close()
        }
        let stream = MicroStream(connection: connection, watcher: server.watcher, source: source)
        if !answer(.stream(head, stream)) { stream.finish() }
    }

    /// - Returns: whether it is the first answer, and so the one that counts.
    private func answer(_ answer: MicroAnswer) -> Bool {
        let (isFirst, wasParked, watch) = phase.withLock { phase -> (Bool, Bool, UInt64?) in
            switch phase {
            case .handling:
                phase = .answered(answer)
                return (true, false, nil)
            case .parked(let watch):
                phase = .answered(answer)
                return (true, true, watch)
            case .answered, .streaming, .over:
                return (false, false, nil)
            }
        }
        guard wasParked else { return isFirst }
        if let watch { server.watcher.forget(connection.descriptor, key: watch) }
        connection.resume()
        return true
    }

    private func takeAnswer() -> MicroAnswer? {
        let answer = phase.withLock { phase -> MicroAnswer? in
            guard case .answered(let answer) = phase else { return nil }
            phase =
                switch answer {
                case .response, .headOfStream: .over
                case .stream(_, let stream): .streaming(stream)
                }
            return answer
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

    /// Before it is open nothing need be told: it is read when it opens.
    private var openStream: MicroStream? {
        phase.withLock { phase in
            guard case .streaming(let stream) = phase else { return nil }
            return stream
        }
    }

    // MARK: Waiting

    func reservePlace() -> Bool {
        guard server.parked.add(1, ordering: .relaxed).newValue <= server.limits.parked else {
            server.parked.subtract(1, ordering: .relaxed)
            return false
        }
        hasPlace = true
        return true
    }

    func reserveLongAnswer() -> Bool {
        guard server.longAnswers.add(1, ordering: .relaxed).newValue <= ServerLimits.longAnswers else {
            server.longAnswers.subtract(1, ordering: .relaxed)
            return false
        }
        hasLongAnswer = true
        return true
    }

    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        whenAbandoned = action
    }

    /// Suspends the connection, unless the answer has come meanwhile.
    ///
    /// Under the lock, so that whoever answers finds it suspended and watched, or not parked at all.
    private func park() -> MicroAnswer? {
        let isParked = phase.withLock { phase in
            guard case .handling = phase else { return false }
            connection.suspend()
            // Who waits for no more than a commit is answered soon, whether or not its end is still open.
            let watch = whenAbandoned.take().map { leave in
                server.watcher.watch(connection.descriptor) { [weak self] in
                    self?.abandon(leave)
                }
            }
            phase = .parked(watch: watch)
            return true
        }
        return isParked ? nil : takeAnswer()
    }

    /// The client has closed its end while it waited: whatever is answered, it is to let libmicrohttpd see that.
    private func abandon(_ leave: @Sendable () -> Void) {
        leave()
        refuse(Problem(.connectionClosed, "The client closed its side of the connection while it waited."))
    }
}

/// What libmicrohttpd is to send.
enum MicroAnswer {
    case response(Response)
    /// What `HEAD` gets of a stream.
    case headOfStream(Response)
    /// A head, and a body that is pulled.
    case stream(Response, MicroStream)
}
