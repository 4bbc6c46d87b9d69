import ArbiterEngine
import ArbiterRelay
import Testing

@testable import ArbiterClient

/// The hierarchy of a scene whose daemon cannot be reached for a moment.
struct LiveHierarchyRetryTests {
    @Test func `a second reading that fails is repeated`() async throws {
        let transport = Gaps()
        let arbiter = Arbiter(transport, token: nil, client: nil, patience: .zero, headers: [:])
        let live = try await arbiter.scene().hierarchy()
        for try await hierarchy in live.changes where hierarchy.revision == 9 {
            #expect(hierarchy.root?.id == "home")
            break
        }
        #expect(transport.readings == 4)
        live.close()
        // It ends without an error.
        for try await _ in live.changes {}
    }
}

/// A daemon whose scene is read, then has an event that cannot be applied, and can be read again at the fourth attempt.
private final class Gaps: WireTransport {
    let address = "nowhere"
    let misuse: Refusal? = nil
    private let count = Guarded(0)

    var readings: Int { count.withLock { $0 } }

    func send(_ request: WireRequest) async throws -> WireAnswer {
        let number = count.withLock { count in
            count += 1
            return count
        }
        switch number {
        case 1: return answer(200, ["revision": 1, "lastEvent": 1, "hierarchy": ["id": "nav", "kind": "view"]])
        case 2: throw ClientError.unreachable("a test")
        case 3: return answer(503, ["code": "draining"])
        default: return answer(200, ["revision": 9, "lastEvent": 9, "hierarchy": ["id": "home", "kind": "view"]])
        }
    }

    private func answer(_ status: Int, _ document: JSONValue) -> WireAnswer {
        WireAnswer(status: status, document: document, retryAfter: .zero, date: nil, sent: .now)
    }

    func lines(of request: WireRequest) -> AsyncThrowingStream<String, any Error> {
        let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
        for line in ["id: 9", "event: hierarchy.changed", #"data: {"number": 9, "revision": 9, "changes": []}"#, ""] {
            continuation.yield(line)
        }
        return stream
    }
}
