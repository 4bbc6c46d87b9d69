import ArbiterEngine
import ArbiterRelay
import Testing

@testable import ArbiterClient

/// What is said when a transition is lost, or the daemon cannot be reached.
struct LostTransitionTests {
    private func loss(_ keeping: Keeping) async throws -> EndedTransition {
        let arbiter = Arbiter(Daemon(keeping), token: nil, client: nil, patience: .zero, headers: [:])
        let transition = try #require(try await arbiter.scene().start())
        await transition.untilLost()
        #expect(transition.isLost)
        await #expect(throws: ClientError.self) { try await transition.complete() }
        return try #require(transition.ending)
    }

    @Test func `a daemon that does not know it any more has forgotten it`() async throws {
        let ending = try await loss(.refused([(404, "unknown-transition")]))
        #expect(ending == EndedTransition(unseen: Refusal(status: 404, ["code": "unknown-transition"])))
        #expect((ending.outcome, ending.reason, ending.document) == ("expired", "forgotten", nil))
        #expect("\(ClientError.ended(ending))".contains("the daemon no longer knows the transition"))
    }

    @Test func `if the session is not known any more, the daemon is asked without it`() async throws {
        let ending = try await loss(.refused([(401, "unauthenticated"), (404, "unknown-transition")]))
        #expect(ending.reason == "forgotten")
    }

    @Test func `a daemon that does not answer cannot be reached`() async throws {
        let ending = try await loss(.unanswered)
        #expect((ending.outcome, ending.reason, ending.code) == ("expired", "unreachable", nil))
        #expect("\(ClientError.ended(ending))".contains("no answer of the daemon kept it"))
    }

    @Test func `an end of what the daemon has forgotten says so`() async throws {
        let arbiter = Arbiter(Daemon(.kept), token: nil, client: nil, patience: .zero, headers: [:])
        let transition = try #require(try await arbiter.scene().start())
        let ending = EndedTransition(unseen: Refusal(status: 404, ["code": "unknown-transition"]))
        await #expect(throws: ClientError.ended(ending)) { try await transition.complete() }
        #expect(ending.reason == "forgotten")
    }

    @Test(.timeLimit(.minutes(1))) func `what a cancelled task ends is given back`() async throws {
        let daemon = Daemon(.kept)
        let arbiter = Arbiter(daemon, token: nil, client: nil, patience: .zero, headers: [:])
        let transition = try #require(try await arbiter.scene().start())
        let (untilCancelled, cancelled) = AsyncStream<Void>.makeStream()
        let ending = Task {
            for await _ in untilCancelled {}
            try await transition.complete()
        }
        ending.cancel()
        cancelled.finish()
        await #expect(throws: CancellationError.self) { try await ending.value }
        await daemon.untilCancelled()
    }

    @Test func `what a proxy says in the place of its daemon is no answer`() async throws {
        for status in [404, 500, 502, 504] {
            let answer = WireAnswer(
                status: status, document: ["message": "no route"], retryAfter: .zero, date: nil, sent: .now)
            #expect(throws: ClientError.self) { try answer.ofDaemon() }
        }
        let refusal = WireAnswer(
            status: 404, document: ["code": "unknown-scene"], retryAfter: .zero, date: nil, sent: .now)
        #expect(try refusal.ofDaemon() == refusal)
    }

    @Test func `another refusal is the reason`() async throws {
        let ending = try await loss(.refused([(403, "forbidden")]))
        #expect((ending.reason, ending.code) == ("forbidden", "forbidden"))
    }

    @Test func `what waits behind what could not reach the daemon fails with it`() async throws {
        let away = Away()
        let lock = TransitionLock(Arbiter(away, token: nil, client: nil, patience: .zero, headers: [:]).scene())
        let (failures, failed) = AsyncStream<Bool>.makeStream()
        for _ in 0..<3 { lock.pop("nav") { failed.yield($0.isFinished) } }
        away.fail()
        var finished: [Bool] = []
        for await isFinished in failures.prefix(3) { finished.append(isFinished) }
        #expect(finished == [false, false, false])
        #expect(away.asked.withLock { $0 } == ["/sessions"])
    }

    @Test func `over a Unix socket, an error names its path`() async throws {
        let arbiter = Arbiter(
            CurlTransport("unix:/nowhere/socket"), token: nil, client: nil, patience: .zero, headers: [:])
        let error = await #expect(throws: ClientError.self) { try await arbiter.scene().read() }
        let text = "\(try #require(error))"
        #expect(text.contains("/nowhere/socket"))
        #expect(!text.contains("localhost"))
    }
}

/// A daemon that is away, which is seen from a moment on.
private final class Away: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    let asked = Guarded<[String]>([])
    private let failing = AsyncStream<Void>.makeStream()

    func fail() { failing.continuation.finish() }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        asked.withLock { $0.append(request.path) }
        for await _ in failing.stream {}
        throw ClientError.unreachable("a test")
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        LineSink.makeStream(limit: 1).stream
    }
}

/// How a daemon answers the request that keeps the lease.
private enum Keeping {
    /// The lease is kept, but its end is refused, as if the transition were forgotten.
    case kept
    case unanswered
    /// With these statuses and codes, one after the other.
    case refused([(status: Int, code: String)])
}

/// A daemon that grants a transition: for 60 seconds, or for 0.2 if the end of the lease is what a test waits for.
private final class Daemon: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    private let keeping: Guarded<Keeping>
    private let leaseSeconds: Double
    private let cancelled = AsyncStream<Void>.makeStream()

    init(_ keeping: Keeping) {
        self.keeping = Guarded(keeping)
        leaseSeconds = if case .unanswered = keeping { 0.2 } else { 60 }
    }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        let running: JSONValue = ["id": "t-1", "token": "a", "state": "running", "leaseSeconds": .number(leaseSeconds)]
        switch request.path {
        case "/sessions": return answer(201, ["token": "session"])
        case "/transitions/start": return answer(201, running)
        case "/transitions/await" where request.body?["until"] == "running": return answer(200, running)
        case "/transitions/end":
            try Task.checkCancellation()
            if request.body?["outcome"] == "cancelled" { cancelled.continuation.finish() }
            return answer(404, ["code": "unknown-transition"])
        default:
            if case .kept = keeping.withLock({ $0 }) { return answer(200, running) }
            let refusal = keeping.withLock { keeping -> (status: Int, code: String)? in
                guard case .refused(var left) = keeping, !left.isEmpty else { return nil }
                let first = left.removeFirst()
                keeping = .refused(left)
                return first
            }
            guard let refusal else { throw ClientError.unreachable("a test") }
            // The header field is wrong only if it is sent.
            let field = request.headers["Arbiter-Session"].map { _ in JSONValue.string("Arbiter-Session") }
            return answer(refusal.status, ["code": .string(refusal.code), "field": field ?? .null])
        }
    }

    /// Returns when it has been asked to cancel the transition.
    func untilCancelled() async { for await _ in cancelled.stream {} }

    private func answer(_ status: Int, _ document: JSONValue) -> WireAnswer {
        WireAnswer(status: status, document: document, retryAfter: .zero, date: nil, sent: .now)
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        LineSink.makeStream(limit: 1).stream
    }
}
