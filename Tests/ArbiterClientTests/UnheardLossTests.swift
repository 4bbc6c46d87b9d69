import ArbiterEngine
import ArbiterRelay
import Testing

@testable import ArbiterClient

/// A lock whose daemon does not say yet that what was started is lost.
struct UnheardLossTests {
    @Test(.timeLimit(.minutes(1))) func `an operation belongs to what was granted last`() async throws {
        let daemon = Unheard()
        let arbiter = Arbiter(daemon, token: nil, client: nil, patience: .zero, headers: [:])
        let lock = TransitionLock(arbiter.scene()) { _ in }
        #expect(try await lock.startTransition())
        lock.serializeTransition { lock.push("editor", onto: "nav") }
        for await id in daemon.performed {
            #expect(id == "t-2")
            break
        }
        await arbiter.close()
    }
}

/// A daemon that grants everything, and answers no `await`.
private final class Unheard: WireTransport {
    let misuse: Refusal? = nil
    let address = "nowhere"
    /// The transitions that operations were asked of.
    let performed: AsyncStream<String>
    private let perform: AsyncStream<String>.Continuation
    private let granted = Guarded(0)
    /// Has no element and no end, except for a task that is cancelled.
    private let silence: AsyncStream<Void>
    private let silent: AsyncStream<Void>.Continuation

    init() {
        (performed, perform) = AsyncStream.makeStream()
        (silence, silent) = AsyncStream.makeStream()
    }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        let id: String
        switch request.path {
        case "/transitions/await":
            for await _ in silence {}
            throw CancellationError()
        case "/transitions/start", "/transitions/serialize":
            let number = granted.withLock { granted in
                granted += 1
                return granted
            }
            id = "t-\(number)"
        default: id = request.body?["id"]?.string ?? "t-0"
        }
        if request.path == "/transitions/perform" { perform.yield(id) }
        let document: JSONValue = [
            "id": .string(id), "token": "a", "state": "running", "leaseSeconds": 300,
            "fence": .number(Double(id.dropFirst(2)) ?? 0),
        ]
        return WireAnswer(status: 200, document: document, retryAfter: .zero, date: nil, sent: .now)
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        LineSink.makeStream(limit: 1).stream
    }
}
