import ArbiterEngine
import ArbiterRelay
import Testing

@testable import ArbiterClient

/// What the client refuses before anything is sent.
struct MisuseTests {
    private let transport = Silence()

    private func arbiter(patience: Duration = .zero) -> Arbiter {
        Arbiter(transport, token: nil, client: nil, patience: patience, headers: [:])
    }

    private func expectRefusal(_ code: String, _ field: String?, _ body: () async throws -> Void) async throws {
        let error = await #expect(throws: ClientError.self) { try await body() }
        guard case .refused(let refusal) = error else { throw error ?? .closed }
        #expect(refusal.code == code)
        #expect(refusal.problem["field"]?.string == field)
        #expect(transport.requests == 0)
    }

    @Test func `a patience that is negative`() async throws {
        let impatient = arbiter(patience: .seconds(-1))
        try await expectRefusal("invalid-field", "patience") { _ = try await impatient.scene().start() }
        try await expectRefusal("invalid-field", "patience") { _ = try await impatient.scene().read() }
        try await expectRefusal("invalid-field", "patience") { for try await _ in impatient.events() {} }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
    func `a lease that is not positive`(lease: Duration) async throws {
        var options = TransitionOptions()
        options.lease = lease
        try await expectRefusal("invalid-field", "leaseSeconds") { _ = try await arbiter().scene().start(options) }
        try await expectRefusal("invalid-field", "leaseSeconds") { _ = try await arbiter().scene().serialize(options) }
    }

    @Test func `a duration or a timeout that is negative`() async throws {
        var options = TransitionOptions()
        options.duration = .milliseconds(-1)
        try await expectRefusal("invalid-field", "animation.duration") {
            _ = try await arbiter().scene().startInteractive(options)
        }
        try await expectRefusal("invalid-field", "timeout") {
            try await arbiter().scene().withTransition(timeout: .seconds(-1)) { _ in }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a number that JSON does not have`(number: Double) async throws {
        for name in ["leaseSeconds", "wait", "queueSeconds"] {
            var options = TransitionOptions()
            options.further = [name: .number(number)]
            try await expectRefusal("malformed-json", nil) { _ = try await arbiter().scene().serialize(options) }
        }
    }

    @Test func `a lock in the words of TransitionLock says so, too`() async throws {
        let lock = TransitionLock(arbiter(patience: .seconds(-1)).scene())
        let completion = await withCheckedContinuation { continuation in
            lock.pop("nav") { continuation.resume(returning: $0) }
        }
        guard case .cancelled(ClientError.refused(let refusal)) = completion else {
            throw ClientError.closed
        }
        #expect(refusal.code == "invalid-field")
        #expect(transport.requests == 0)
    }
}

/// A daemon that is not there, and counts what it is asked.
private final class Silence: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    private let count = Guarded(0)

    var requests: Int { count.withLock { $0 } }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        count.withLock { $0 += 1 }
        throw ClientError.unreachable("a test")
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        count.withLock { $0 += 1 }
        return LineSink.makeStream(limit: 1).stream
    }
}
