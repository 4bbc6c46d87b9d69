import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Requests that are held until their shard is served.
struct HeldRequestTests {
    /// A server that says that it does not serve the shard.
    private func notOwner() -> StubServer { StubServer { _ in .problem(503, "not-owner", isUntouched: true) } }

    @Test func `a request of a shard that nobody serves goes to the next owner`() throws {
        let owner = StubServer { _ in .json(201, #"{"id":"t"}"#) }
        defer { owner.stop() }
        let node = RelayNode()
        let exchange = node.send(
            "POST", "/transitions/start", #"{"client":"c"}"#, headers: [.idempotencyKey: "0123456789-0123456789-held"])
        #expect(exchange.responses.isEmpty)
        node.note(owner, tenure: 3)
        #expect(try exchange.laterAnswer().body == ["id": "t"])
        #expect(owner.requests.map(\.body) == [#"{"client":"c"}"#])
        #expect(owner.requests.first?.value(of: "Idempotency-Key") == "0123456789-0123456789-held")
    }

    @Test func `a request of a shard that nobody serves is carried out here when this node begins to serve it`() throws
    {
        let node = RelayNode()
        let exchange = node.send("POST", "/transitions/start", "{}")
        #expect(exchange.responses.isEmpty)
        try node.serve()
        #expect(try exchange.laterAnswer().status == 201)
    }

    @Test func `a request of which an earlier owner has carried out nothing goes to the next one, once`() throws {
        let (earlier, next) = (notOwner(), StubServer { _ in .json(201, "{}") })
        defer { for server in [earlier, next] { server.stop() } }
        let node = RelayNode { $0.grace = .seconds(60) }
        node.note(earlier, tenure: 1)
        let exchange = node.send("POST", "/transitions/serialize", "{}")
        _ = try earlier.request()
        node.note(next, tenure: 2)
        #expect(try exchange.laterAnswer().status == 201)
        #expect(earlier.requests.count == 1)
        #expect(next.requests.count == 1)
    }

    @Test func `an owner that cannot be reached has carried out nothing`() throws {
        let (gone, next) = (StubServer { _ in .close }, StubServer { _ in .json(201, "{}") })
        gone.stop()
        defer { next.stop() }
        let node = RelayNode()
        node.note(gone, tenure: 1)
        let exchange = node.send("POST", "/transitions/start", "{}")
        node.note(next, tenure: 2)
        #expect(try exchange.laterAnswer().status == 201)
    }

    @Test(arguments: [
        StubServer.Reaction.close, .problem(503, "journal-unavailable"), .problem(503, "not-owner"),
    ])
    func `what may have been carried out is sent nowhere else`(reaction: StubServer.Reaction) throws {
        let (earlier, next) = (StubServer { _ in reaction }, StubServer { _ in .json(201, "{}") })
        defer { for server in [earlier, next] { server.stop() } }
        let node = RelayNode()
        node.note(earlier, tenure: 1)
        let exchange = node.send("POST", "/transitions/start", "{}")
        #expect(try exchange.laterAnswer().status == 503)
        node.note(next, tenure: 2)
        #expect(exchange.responses.count == 1)
        #expect(next.requests.isEmpty)
    }

    @Test func `a request is held for a limited time`() throws {
        let node = RelayNode { $0.holding = .milliseconds(100) }
        let answer = try node.send("POST", "/transitions/start", "{}").laterAnswer()
        #expect(answer.code == "not-owner")
        #expect(answer.headers("Retry-After") == ["1"])
        #expect(answer.headers(Response.untouched).isEmpty)
        #expect(node.shards.heldCount == 0)
    }

    @Test func `a request is passed on only a few times`() throws {
        let earlier = notOwner()
        defer { earlier.stop() }
        let node = RelayNode { $0.grace = .seconds(60) }
        node.note(earlier, tenure: 1)
        let exchange = node.send("POST", "/transitions/start", "{}")
        for tenure in 2...UInt64(Errand.mostTries) + 1 {
            _ = try earlier.request(Int(tenure) - 2)
            node.note(earlier, tenure: tenure)
        }
        #expect(try exchange.laterAnswer().code == "not-owner")
        #expect(earlier.requests.count == Errand.mostTries)
    }

    @Test func `an owner that has carried out nothing is asked again until it serves the shard`() throws {
        let asked = Guarded(0)
        let owner = StubServer { _ in
            let count = asked.withLock { count in
                count += 1
                return count
            }
            return count <= Errand.mostTries ? .problem(503, "not-owner", isUntouched: true) : .json(201, "{}")
        }
        defer { owner.stop() }
        let node = RelayNode { $0.asking = .milliseconds(20) }
        node.note(owner, tenure: 1)
        #expect(try node.send("POST", "/transitions/start", "{}").laterAnswer().status == 201)
        #expect(owner.requests.count == Errand.mostTries + 1)
    }

    @Test func `an owner is asked again for a limited time`() throws {
        let owner = notOwner()
        defer { owner.stop() }
        let node = RelayNode { times in
            times.asking = .milliseconds(20)
            times.holding = .seconds(3)
        }
        node.note(owner, tenure: 1)
        #expect(try node.send("POST", "/transitions/start", "{}").laterAnswer().code == "not-owner")
        #expect(node.shards.heldCount == 0)
        // An owner that is gone is not asked again.
        let count = owner.requests.count
        #expect(count > 1)
        node.note(nil, tenure: 0)
        #expect(try node.send("POST", "/transitions/start", "{}").laterAnswer().code == "not-owner")
        #expect(owner.requests.count == count)
    }

    @Test func `a client that leaves leaves no request behind`() throws {
        let node = RelayNode()
        let exchange = node.send("POST", "/transitions/start", "{}")
        #expect(node.shards.heldCount == 1)
        exchange.abandon()
        #expect(node.shards.heldCount == 0)
        try node.serve()
        #expect(exchange.responses.isEmpty)
    }

    // MARK: - For other nodes

    private let node = Peer.node(address: "192.0.2.1", isTrusted: true)

    @Test func `a node that has just claimed a shard holds what others pass on until it serves it`() throws {
        let owner = RelayNode()
        let exchange = owner.send("POST", "/transitions/start", "{}", peer: node)
        #expect(exchange.responses.isEmpty)
        try owner.serve()
        #expect(try exchange.laterAnswer().status == 201)
    }

    @Test func `a node that does not serve a shard tells another one that nothing was carried out`() throws {
        let owner = RelayNode { $0.settling = .milliseconds(50) }
        let answer = try owner.send("POST", "/transitions/start", "{}", peer: node).laterAnswer()
        #expect(answer.code == "not-owner")
        #expect(answer.headers(Response.untouched) == ["1"])
    }

    @Test func `a node that shuts down tells other nodes to ask the next owner, and clients to ask another node`()
        throws
    {
        let owner = RelayNode()
        try owner.serve()
        owner.router.drain()
        // The shard is served until it is handed over.
        #expect(try owner.send("POST", "/transitions/start", "{}", peer: node).laterAnswer().status == 201)
        owner.shards.end(0)
        let answer = try owner.send("POST", "/transitions/start", "{}", peer: node).laterAnswer()
        #expect(answer.code == "not-owner")
        #expect(answer.headers(Response.untouched) == ["1"])
        #expect(try owner.send("POST", "/transitions/start", "{}").laterAnswer().code == "draining")
    }

    @Test func `requests that are held are refused when the node shuts down`() throws {
        let relay = RelayNode()
        let exchange = relay.send("POST", "/transitions/start", "{}")
        relay.router.drain()
        #expect(try exchange.laterAnswer().code == "draining")
    }
}
