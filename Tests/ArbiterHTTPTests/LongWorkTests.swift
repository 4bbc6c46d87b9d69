import ArbiterCore
import ArbiterTestKit
import Dispatch
import Testing

@testable import ArbiterEngine
@testable import ArbiterHTTP

/// Requests with large bodies, and answers that are long to make, are worked on apart from the only thread that serves connections.
final class LongWorkTests {
    private let server: LoopbackServer
    private let client: WireClient
    private let other: WireClient
    private let gate = DispatchSemaphore(value: 0)

    private var work: LongWork { server.server.router.longWork }

    init() throws {
        server = try LoopbackServer(parked: 1)
        client = try server.connect()
        other = try server.connect()
    }

    /// Opens the gate also after a test that failed: the server answers everything before it stops.
    deinit { gate.signal() }

    /// Does nothing else until the gate is opened.
    private func hold() {
        work.add { [gate] in gate.wait() }
    }

    /// Whether so many things wait for the gate before long.
    private func waits(_ count: Int) -> Bool { eventually(within: .seconds(20)) { work.count == 1 + count } }

    /// The same object, in more bytes than a short body has.
    private func large(_ body: String) -> String {
        body + String(repeating: " ", count: ServerLimits.shortBodyBytes)
    }

    @Test func `short requests are answered while a large one waits to be worked on`() throws {
        hold()
        try other.send("POST", "/transitions/start", body: large(#"{"scene": "one"}"#))
        try #require(waits(1))
        let started = try client.request("POST", "/transitions/start", body: #"{"scene": "two"}"#)
        #expect(started.status == 201)
        let credentials = JSONValue.object(["id": started["id"], "token": started["token"]]).text
        #expect(try client.request("POST", "/transitions/renew", body: credentials).status == 200)
        #expect(try client.request("GET", "/metrics").text.contains("\narbiter_long_work 2\n"))
        #expect(!other.hasAnswer)
        gate.signal()
        let later = try other.receive()
        #expect(later.status == 201)
        #expect(later["scene"] == "one")
    }

    @Test func `a body that just counts as short is not waited for`() throws {
        hold()
        let body = "{}"
        let padding = String(repeating: " ", count: ServerLimits.shortBodyBytes - body.utf8.count)
        #expect(try client.request("POST", "/transitions/start", body: body + padding).status == 201)
        gate.signal()
    }

    @Test(arguments: ["/openapi.json", "/trace"])
    func `short requests are answered while a long answer waits to be made`(path: String) throws {
        let started = try client.request("POST", "/transitions/start")
        hold()
        try other.send("GET", path)
        try #require(waits(1))
        let credentials = JSONValue.object(["id": started["id"], "token": started["token"]]).text
        #expect(try client.request("POST", "/transitions/end", body: credentials).status == 200)
        #expect(!other.hasAnswer)
        gate.signal()
        #expect(try other.receive().status == 200)
    }

    @Test func `requests on one connection are answered in their order`() throws {
        hold()
        try other.send("POST", "/transitions/start", body: large("{}"))
        try other.send("GET", "/livez")
        try #require(waits(1))
        #expect(try client.request("GET", "/livez").status == 200)
        #expect(!other.hasAnswer)
        gate.signal()
        #expect(try other.receive().status == 201)
        #expect(try other.receive()["status"] == "live")
    }

    @Test func `a large request waits for its turn as a short one does`() throws {
        let holder = try client.request("POST", "/transitions/start")
        try other.send("POST", "/transitions/serialize", body: large(#"{"wait": 60}"#))
        try #require(server.parks(1))
        #expect(server.placesTaken == 1)
        let credentials = JSONValue.object(["id": holder["id"], "token": holder["token"]]).text
        #expect(try client.request("POST", "/transitions/end", body: credentials).status == 200)
        #expect(try other.receive().status == 201)
        #expect(server.takes(0))
    }

    @Test func `the ticket of a large request is given up if its client goes while it waits for its turn`() throws {
        #expect(try client.request("POST", "/transitions/start").status == 201)
        try other.send("POST", "/transitions/serialize", body: large(#"{"wait": 60}"#))
        try #require(server.parks(1))
        other.close()
        #expect(server.takes(0))
        #expect(try reasonsOfEnded() == ["abandoned"])
    }

    @Test func `the ticket of a large request is given up if its client went before it was worked on`() throws {
        #expect(try client.request("POST", "/transitions/start").status == 201)
        hold()
        try other.send("POST", "/transitions/serialize", body: large(#"{"wait": 60}"#))
        try #require(waits(1))
        other.close()
        gate.signal()
        #expect(try eventually(within: .seconds(20)) { try reasonsOfEnded() == ["abandoned"] })
        #expect(server.takes(0))
    }

    @Test func `what waits to be worked on when the daemon stops is refused`() throws {
        hold()
        try other.send("POST", "/transitions/start", body: large("{}"))
        try #require(waits(1))
        server.server.router.drain()
        gate.signal()
        let refused = try other.receive()
        #expect(refused.status == 503)
        #expect(refused["code"] == "draining")
    }

    private func reasonsOfEnded() throws -> [JSONValue] {
        try client.request("GET", "/transitions?state=ended")["transitions"].elements.map { $0["reason"] }
    }
}
