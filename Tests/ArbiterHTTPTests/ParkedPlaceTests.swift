import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterEngine
@testable import ArbiterHTTP

/// A place to wait is freed after every kind of wait, and the engine learns of clients that have gone.
struct ParkedPlaceTests {
    private let server: LoopbackServer
    private let client: WireClient
    private let waiter: WireClient
    private let holder: WireResponse

    init() throws {
        server = try LoopbackServer(parked: 1)
        client = try server.connect()
        waiter = try server.connect()
        holder = try client.request("POST", "/transitions/start", body: #"{"leaseSeconds": 300}"#)
        try #require(holder.status == 201)
    }

    private func credentials(of transition: WireResponse) -> String {
        JSONValue.object(["id": transition["id"], "token": transition["token"]]).text
    }

    /// Takes the only place.
    private func park(_ body: String = #"{"wait": 60}"#) throws {
        try waiter.send("POST", "/transitions/serialize", body: body)
        try #require(server.takes(1))
    }

    private func end() throws {
        #expect(try client.request("POST", "/transitions/end", body: credentials(of: holder)).status == 200)
    }

    @Test func `a place is given back when the wait is answered`() throws {
        try park()
        try end()
        #expect(try waiter.receive().status == 201)
        #expect(server.takes(0))
    }

    @Test func `a place is given back when the wait runs out`() throws {
        try waiter.send("POST", "/transitions/serialize", body: #"{"wait": 0.1}"#)
        #expect(try waiter.receive().status == 202)
        #expect(server.takes(0))
    }

    @Test func `a place is given back where nothing has to be waited for`() throws {
        try end()
        let granted = try waiter.request("POST", "/transitions/serialize", body: #"{"wait": 60}"#)
        #expect(granted.status == 201)
        #expect(server.takes(0))
    }

    @Test(arguments: ["t-7f3k9v0m2c5xq", "nobody"])
    func `a place is given back where the wait is refused`(id: String) throws {
        #expect(try waiter.request("GET", "/transitions/await?id=\(id)&wait=60").status >= 400)
        #expect(server.takes(0))
    }

    @Test func `who finds no place takes none`() throws {
        try park()
        for _ in 0..<3 {
            let refused = try client.request("POST", "/transitions/serialize", body: #"{"wait": 60}"#)
            #expect(refused.status == 503)
            #expect(server.takes(1))
        }
        try end()
        #expect(try waiter.receive().status == 201)
        #expect(server.takes(0))
    }

    @Test(arguments: [WireClient.closeSending, WireClient.close, WireClient.reset])
    func `a client that goes gives its place back, and its ticket up`(go: @Sendable (WireClient) -> () -> Void) throws {
        try park()
        go(waiter)()
        #expect(server.takes(0))
        let list = try client.request("GET", "/transitions?state=ended")
        #expect(list["transitions"].elements.map { $0["reason"] } == ["abandoned"])
        #expect(server.engine.state.withLock { $0.parked.count } == 0)
    }

    @Test func `the engine forgets an await whose client goes`() throws {
        let id = try #require(holder["id"].string)
        try waiter.send("GET", "/transitions/await?id=\(id)&until=ended&wait=60")
        try #require(server.takes(1) && server.parks(1))
        waiter.close()
        #expect(server.takes(0))
        #expect(server.engine.state.withLock { $0.parked.count } == 0)
        #expect(try client.request("GET", "/transitions/\(id)")["state"] == "running")
    }

    @Test func `a stream gives its place back when its client goes`() throws {
        try waiter.send("GET", "/scenes/main/events")
        #expect(try waiter.receiveHead().status == 200)
        try #require(server.takes(1))
        waiter.close()
        #expect(server.takes(0))
    }
}
