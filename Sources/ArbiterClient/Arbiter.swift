public import Foundation
internal import Synchronization

/// A client of `arbiterd`, the lock of user interface transitions.
///
/// ```swift
/// let arbiter = Arbiter(client: "kiosk")
/// try await arbiter.scene("main").withTransition { transition in
///     await animate(until: transition)
/// }
/// ```
///
/// All transitions of one `Arbiter` are bound to one session: if this process dies, they end within two seconds; in the moment
/// between the grant and the first parked request, when the lease has run out.
public final class Arbiter: Sendable {
    /// The name by which people, and transitions with participants, know this client.
    public let client: String?
    /// How long a request is repeated while the daemon cannot be reached, or is starting.
    public let patience: Duration
    private let headers: [String: String]
    private let transport: any WireTransport
    private let session = SessionOfClient()
    private let state = Mutex(State())
    /// Why no request can be made, because of what the client was made with.
    private let misuse: Refusal?

    private struct State {
        var isClosed = false
        /// Whether the daemon has answered, or it was said that it does not.
        var hasSpoken = false
        /// What is held, and is lost when the client is closed.
        var held: [ObjectIdentifier: LeaseKeeper] = [:]
    }

    /// - Parameters:
    ///   - url: where the daemon listens, for example `http://127.0.0.1:8080`.
    ///   - token: a bearer token, if the daemon has access control.
    ///   - client: the name by which people, and transitions with participants, know this client.
    ///   - patience: how long a request is repeated while the daemon cannot be reached, or is starting; what waits for its turn,
    ///     the time of its wait longer. If it is negative, every request is refused with `invalid-field`; zero sends each request
    ///     once that does not wait.
    ///   - headers: header fields of every request, for example `traceparent`, of visible characters of ASCII, spaces and tabs.
    ///     If there are others, every request is refused with `invalid-header`.
    public convenience init(
        url: URL = Arbiter.defaultURL, token: String? = nil, client: String? = nil, patience: Duration = .seconds(30),
        headers: [String: String] = [:]
    ) {
        #if os(Linux)
            let transport = CurlTransport(url.absoluteString)
        #else
            let transport = URLSessionTransport(url)
        #endif
        self.init(transport, token: token, client: client, patience: patience, headers: headers)
    }

    /// A client with another way to the daemon.
    package init(
        _ transport: any WireTransport, token: String?, client: String?, patience: Duration, headers: [String: String]
    ) {
        self.client = client
        self.patience = patience
        // A token that is read from a file or a variable may end with a line break.
        let token = token?.trimmingCharacters(in: .whitespacesAndNewlines)
        self.headers = headers.merging(token.map { ["Authorization": "Bearer \($0)"] } ?? [:]) { $1 }
        self.transport = transport
        misuse = transport.misuse ?? Self.misuse(self.headers) ?? Self.misuse(patience: patience)
    }

    /// The environment's `ARBITER_URL`, or `http://127.0.0.1:8080`.
    public static var defaultURL: URL {
        let given = ProcessInfo.processInfo.environment["ARBITER_URL"].flatMap { URL(string: $0) }
        guard let url = given ?? URL(string: "http://127.0.0.1:8080") else { preconditionFailure("it is a URL") }
        return url
    }

    /// A scene by its name; nothing is asked.
    public func scene(_ name: String = "main") -> ArbiterScene { ArbiterScene(name, of: self) }

    /// What happens in all scenes; see ``ArbiterScene/events(since:isAttached:)``.
    public func events(since: String? = nil, isAttached: Bool = false) -> ArbiterEvents {
        ArbiterEvents(self, path: "/events", since: since, isAttached: isAttached)
    }

    /// Says that this client, by its name, is ready for a transition in which it takes part.
    ///
    /// - Returns: the transition.
    /// - Throws: `ClientError`, for example `refused` with `too-late`; `CancellationError`.
    @discardableResult
    public func ready(for transition: String) async throws -> JSONValue {
        try await report(["id": .string(transition)])
    }

    /// Says that a transition in which this client takes part must not run; only one that may veto is heard.
    ///
    /// - Parameters:
    ///   - transition: its id.
    ///   - reason: why, for people to read.
    /// - Returns: the transition, which has ended as `rejected` with the reason `vetoed`.
    /// - Throws: `ClientError`, for example `refused` with `too-late` or `forbidden`; `CancellationError`.
    @discardableResult
    public func veto(_ transition: String, reason: String? = nil) async throws -> JSONValue {
        var members: [String: JSONValue] = ["id": .string(transition), "ready": false]
        members["reason"] = reason.map { .string($0) }
        return try await report(.object(members))
    }

    private func report(_ body: JSONValue) async throws -> JSONValue {
        try await say("POST", "/transitions/ready", body).accepted()
    }

    /// Says something in the session of this client.
    func say(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> WireAnswer {
        try await inSession { token in
            try await ask(WireRequest(method, path, body, headers: [Self.sessionField: token]))
        }
    }

    /// Ends the session, and with it what is still held: that is lost, as `expired` with the reason `session-lost`.
    ///
    /// Requests that still wait, and all later ones, fail with `ClientError.closed`.
    public func close() async {
        let held = state.withLock { state in
            state.isClosed = true
            defer { state.held = [:] }
            return state.held.values
        }
        for keeper in held { keeper.loseSession() }
        guard let token = await session.forget() else { return }
        // Without a word, it ends by itself.
        let headers = headers.merging([Self.sessionField: token]) { $1 }
        _ = try? await transport.send(
            WireRequest("POST", "/sessions/end", headers: headers, timeout: WireTimes.margin))
    }

    // MARK: - Asking

    package static let sessionField = "Arbiter-Session"

    /// Sends a request once.
    package func sendOnce(_ request: WireRequest) async throws -> WireAnswer {
        try check(request.headers)
        guard request.body?.isFinite ?? true else { throw ClientError.infiniteNumber }
        var request = request
        request.headers.merge(headers) { own, _ in own }
        do {
            let answer = try await transport.send(request).ofDaemon()
            // What was on its way when the client was closed is of no use to anybody.
            guard !isClosed else { throw ClientError.closed }
            return answer
        } catch is ClientError where isClosed {
            throw ClientError.closed
        } catch ClientError.unreachable(let reason) {
            throw ClientError.unreachable("\(request.method) \(request.path) at \(transport.address): \(reason)")
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    /// - Throws: `closed`; `refused` if a request with these header fields cannot be sent.
    private func check(_ headers: [String: String]) throws(ClientError) {
        guard !isClosed else { throw .closed }
        if let refusal = misuse ?? Self.misuse(headers) { throw .refused(refusal) }
    }

    /// A line break would begin another field, or the body.
    private static func misuse(_ headers: [String: String]) -> Refusal? {
        guard headers.contains(where: { !$0.key.isToken || !$0.value.isVisible }) else { return nil }
        let detail = "A header field has a name or a value with other characters than visible ones of ASCII."
        return Refusal(status: 400, ["code": "invalid-header", "detail": .string(detail)])
    }

    private static func misuse(patience: Duration) -> Refusal? {
        patience < .zero ? Refusal(misuseOf: "patience", "The patience of a client must not be negative.") : nil
    }

    /// Has a transition lost when the client is closed, which it may be already.
    func note(held keeper: LeaseKeeper) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.held[ObjectIdentifier(keeper)] = keeper }
            return state.isClosed
        }
        if isClosed { keeper.loseSession() }
    }

    /// A transition is over.
    func note(over keeper: LeaseKeeper) {
        state.withLock { _ = $0.held.removeValue(forKey: ObjectIdentifier(keeper)) }
    }

    /// Sends a request until there is an answer, or the patience is over in which there should have been one.
    ///
    /// It may arrive several times, so it must be one that does the same then, by its nature or by its idempotency key.
    ///
    /// - Throws: `ClientError.unreachable`, `closed`, `refused` if it cannot be sent; `CancellationError`.
    package func ask(_ request: WireRequest) async throws -> WireAnswer { try await ask(request, room: .none) }

    private func ask(_ request: WireRequest, room: WaitForRoom) async throws -> WireAnswer {
        // What is parked is answered when its wait is over. If its connection is cut, its place is kept for two seconds.
        let began = ContinuousClock.now
        let deadline = began + (request.wait ?? .zero) + patience
        var backoff = request.wait == nil ? Backoff() : Backoff(longest: WireTimes.longestDelay)
        while true {
            var delay = backoff.next()
            do {
                let answer = try await sendOnce(request)
                state.withLock { $0.hasSpoken = true }
                let waitsForRoom = answer.isOutOfRoom && room.allows(.now + answer.retryAfter)
                guard answer.passes || waitsForRoom else { return answer }
                delay = max(delay, answer.retryAfter)
                guard ContinuousClock.now + answer.retryAfter <= deadline, .now < deadline else { return answer }
            } catch let error as ClientError {
                guard case .unreachable = error, .now < deadline else { throw error }
                noteSilence(error, since: began, until: deadline)
            }
            // The last attempt is made when the patience is over.
            try await Task.sleep(for: min(delay, max(.zero, deadline - .now)))
        }
    }

    /// Says that the daemon has not answered yet: once, and never if it has answered before.
    func noteSilence(
        _ error: ClientError, since began: ContinuousClock.Instant, until deadline: ContinuousClock.Instant
    ) {
        guard .now - began >= WireTimes.silenceBeforeWords else { return }
        let hasSpoken = state.withLock { state in
            defer { state.hasSpoken = true }
            return state.hasSpoken
        }
        guard !hasSpoken else { return }
        let text = "arbiter: \(error); it is asked for \((deadline - .now).components.seconds) s more\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Why a stream is given up that has never opened.
    func neverOpened(_ path: String, _ reason: String) -> ClientError {
        .unreachable("GET \(path) at \(transport.address): \(reason); the stream has never opened")
    }

    /// The lines of a stream.
    ///
    /// - Parameters:
    ///   - path: what is followed.
    ///   - own: further header fields.
    ///   - limit: how many lines may wait for their reader; when there are more, the stream breaks.
    ///   - silence: how long the head of the answer may take.
    /// - Returns: the lines, without their ends.
    /// - Throws: `closed`; `refused` if it cannot be asked for.
    package func lines(
        _ path: String, headers own: [String: String] = [:], limit: Int = WireLimits.waitingLines,
        silence: Duration = WireTimes.silence
    ) throws(ClientError) -> AsyncThrowingStream<String, any Error> {
        try check(own)
        var request = WireRequest("GET", path, headers: headers.merging(own) { $1 }, timeout: silence)
        request.lineLimit = limit
        return transport.lines(of: request)
    }

    // MARK: - The session

    /// The token of the session, which is opened once if there is none.
    func openSession() async throws -> String {
        try await session.token { [self] in
            let body: JSONValue = client.map { ["client": .string($0)] } ?? [:]
            let opened = try await ask(WireRequest("POST", "/sessions", body), room: .patiently)
            return try opened.accepted()["token"]?.string ?? ""
        }
    }

    func forgetSession(_ token: String) async { await session.forget(token) }

    /// Whether a refusal says that the session has ended.
    static func isOverForSession(_ refusal: Refusal) -> Bool {
        refusal.status == 401 && refusal.problem["field"]?.string == sessionField
    }

    /// Asks for a transition that is bound to the session.
    func askInSession(
        _ path: String, _ body: JSONValue, for ticket: PendingTransition, room: WaitForRoom = .none
    ) async throws -> WireAnswer {
        try await inSession { token in
            let headers = [Self.sessionField: token, "Idempotency-Key": ticket.key]
            let request = WireRequest("POST", path, body, headers: headers, timeout: WireTimes.margin)
            ticket.note(asked: request)
            return try await ask(request, room: room)
        }
    }

    /// Asks something of the session, with its token; a session that has ended is replaced once.
    private func inSession(_ ask: (_ token: String) async throws -> WireAnswer) async throws -> WireAnswer {
        let token = try await openSession()
        let answer = try await ask(token)
        guard Self.isOverForSession(Refusal(status: answer.status, answer.document)) else { return answer }
        await session.forget(token)
        return try await ask(try await openSession())
    }
}

/// The session of a client, opened by the first request that needs it.
private actor SessionOfClient {
    private var token: String?
    private var opening: Task<String, any Error>?

    func token(_ open: @escaping @Sendable () async throws -> String) async throws -> String {
        if let token { return token }
        let task = opening ?? Task { try await open() }
        opening = task
        defer { if opening == task { opening = nil } }
        let opened = try await task.value
        token = token ?? opened
        return opened
    }

    /// Forgets the session; with a token, only if it is that one.
    @discardableResult
    func forget(_ known: String? = nil) -> String? {
        guard known == nil || known == token else { return nil }
        defer { token = nil }
        return token
    }
}

extension String {
    /// Whether it can be the name of a header field (RFC 9110, 5.6.2).
    fileprivate var isToken: Bool {
        !isEmpty && utf8.allSatisfy { 0x21...0x7e ~= $0 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    }

    /// Whether it has only visible characters of ASCII, spaces and tabs.
    fileprivate var isVisible: Bool { utf8.allSatisfy { 0x20...0x7e ~= $0 || $0 == 0x09 } }
}
