import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterEngine
@testable import ArbiterHTTP

/// Words that lie in a socket while the server's only thread is busy.
struct HearingTests {
    private let server: LoopbackServer

    init() throws { server = try LoopbackServer(parked: 10) }

    /// Keeps the thread busy with a request that waits for the engine.
    private func whileBusy(_ body: () throws -> Void) throws {
        let other = try server.connect()
        try server.engine.state.withLock { _ in
            try other.send("GET", "/scenes")
            try #require(eventually { server.loops.lag > .zero })
            try body()
        }
        #expect(try other.receive().status == 200)
    }

    @Test func `a renewal that came before the end of the lease counts, whatever it had to wait for`() throws {
        let client = try server.connect()
        let holder = try client.request("POST", "/transitions/start", body: #"{"leaseSeconds": 0.1}"#)
        let (id, token) = try (#require(holder["id"].string), #require(holder["token"].string))
        let due = SystemTimeSource().now().instant.advanced(by: .seconds(0.1))
        try whileBusy {
            try client.send("POST", "/transitions/renew", body: #"{"id": "\#(id)", "token": "\#(token)"}"#)
            try #require(eventually { SystemTimeSource().now().instant > due })
        }
        #expect(try client.receive().status == 200)
        // Then nobody says anything, and the lease ends.
        let ended = try client.request("GET", "/transitions/await?id=\(id)&until=ended&wait=60")
        #expect(ended["reason"] == "lease")
    }

    @Test func `a thread that has heard everything says so`() throws {
        try whileBusy {}
        #expect(eventually { server.loops.lag == .zero })
    }
}
