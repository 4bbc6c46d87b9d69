internal import ArbiterEngine
internal import Dispatch
internal import Synchronization

/// One request, from its first line to the last byte of its response.
///
/// `@unchecked`, because of the body and what else changes outside `phase`: all of it belongs to the one thread that
/// serves the connection. What happens elsewhere is `respond`, which touches `phase` alone, and resumes the connection
/// once, while it is suspended, which `phase` proves.
final class MicroExchange: Exchange, HeaderFields, @unchecked Sendable {
    private let server: MicroHTTPDServer
    private let connection: MicroConnection
    private let method: String
    private let path: String
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

    /// Whether it has one of the places that there are for large bodies.
    private enum LargePlace {
        case unasked
        case taken
        case refused
    }

    private enum Phase {
        /// On its way to an answer, on the connection's own thread. Can transition to: `answered`, `parked`.
        case handling
        /// The answer is there. Can transition to: `over`.
        case answered(Response)
        /// The connection is suspended, and watched under the key, if there is one. Can transition to: `answered`.
        case parked(watch: UInt64?)
        /// The answer is on its way out. Can transition to: nothing.
        case over
    }

    init(server: MicroHTTPDServer, connection: MicroConnection, method: String, path: String) {
        self.server = server
        self.connection = connection
        self.method = method
        self.path = path
        server.exchanges.enter()
    }

    /// libmicrohttpd is done with it.
    func complete() {
        if hasPlace { server.parked.subtract(1, ordering: .relaxed) }
        if largePlace == .taken { server.largeBodies.subtract(1, ordering: .relaxed) }
        server.exchanges.leave()
    }

    // MARK: Receiving

    /// What can be said before the body is there.
    func refusalBeforeBody() -> Response? {
        if server.isOverfull {
            refuse(
                Problem(.tooManyConnections, "There are too many connections; try again.", retryAfter: Problem.briefly))
        } else if let ambiguity {
            refuse(ambiguity)
        } else if connection.headerBytes > ServerLimits.headerBytes {
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
        return takeAnswer()
    }

    /// Why it is not clear where the request ends or for whom it is, so that whoever stands between client and daemon
    /// may see another one (RFC 9112, sections 3.2, 6.1 and 6.3).
    private var ambiguity: Problem? {
        switch connection.framing {
        case .clear:
            return nil
        case .severalHosts:
            return Problem(.invalidField, "Say once which host is meant.", field: "Host", closesConnection: true)
        case .unknownEncoding:
            return Problem(
                .invalidField, "The only transfer encoding that is read here is chunked.", field: "Transfer-Encoding",
                closesConnection: true)
        case .severalLengths:
            return Problem(
                .invalidField, "Say once where the body ends: by its length, or by chunks.",
                field: HeaderName.contentLength.rawValue, closesConnection: true)
        }
    }

    /// - Returns: whether more may come.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
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
    func handle() -> Response? {
        if let answer = takeAnswer() { return answer }
        if receivedBytes > ServerLimits.bodyBytes, receivedBytes > bodyBytes {
            refuse(tooLarge)
        } else if largePlace == .refused {
            refuse(
                Problem(
                    .tooManyConnections, "There are too many large bodies on their way; try again.",
                    retryAfter: Problem.briefly))
        } else {
            server.router.handle(request, self)
        }
        return takeAnswer() ?? park()
    }

    private var request: Request {
        Request(method: method, path: path, query: connection.query, headers: self, body: body)
    }

    private func refuse(_ problem: Problem) {
        server.router.refuse(Request(method: method, path: path, headers: self), self, problem)
    }

    private var tooLarge: Problem {
        Problem(.bodyTooLarge, "A body may have \(bodyBytes) bytes here.")
    }

    func value(of name: HeaderName) -> String? {
        connection.header(name)
    }

    // MARK: Answering

    func respond(_ response: Response) {
        let (wasParked, watch) = phase.withLock { phase -> (Bool, UInt64?) in
            switch phase {
            case .handling:
                phase = .answered(response)
                return (false, nil)
            case .parked(let watch):
                phase = .answered(response)
                return (true, watch)
            case .answered, .over:
                return (false, nil)
            }
        }
        guard wasParked else { return }
        if let watch { server.watcher.forget(connection.descriptor, key: watch) }
        connection.resume()
    }

    private func takeAnswer() -> Response? {
        phase.withLock { phase in
            guard case .answered(let response) = phase else { return nil }
            phase = .over
            return response
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

    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        whenAbandoned = action
    }

    /// Suspends the connection, unless the answer has come meanwhile.
    ///
    /// Under the lock, so that whoever answers finds it suspended and watched, or not parked at all.
    private func park() -> Response? {
        phase.withLock { phase in
            if case .answered(let response) = phase {
                phase = .over
                return response
            }
            connection.suspend()
            // Who waits for no more than a commit is answered soon, whether or not its end is still open.
            let watch = whenAbandoned.take().map { leave in
                server.watcher.watch(connection.descriptor) { [weak self] in
                    self?.abandon(leave)
                }
            }
            phase = .parked(watch: watch)
            return nil
        }
    }

    /// The client has closed its end while it waited: whatever is answered, it is to let libmicrohttpd see that.
    private func abandon(_ leave: @Sendable () -> Void) {
        leave()
        refuse(Problem(.connectionClosed, "The client closed its side of the connection while it waited."))
    }
}
