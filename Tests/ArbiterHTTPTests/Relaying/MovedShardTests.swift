import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// What is under way to a node that does not answer any more, while another one serves its shard.
struct MovedShardTests {
    @Test func `a request that the earlier owner has is answered when there is another one, and sent nowhere else`()
        throws
    {
        let (frozen, next) = (StubServer { _ in .silence }, StubServer { _ in .json(201, "{}") })
        defer { for server in [frozen, next] { server.stop() } }
        let node = RelayNode()
        node.note(frozen, tenure: 1)
        let exchange = node.send("POST", "/transitions/serialize?wait=60", "{}")
        _ = try frozen.request()
        // Nobody has taken over yet.
        node.note(frozen, tenure: 1)
        #expect(exchange.responses.isEmpty)
        node.note(next, tenure: 2)
        let answer = try exchange.laterAnswer()
        #expect(answer.code == "journal-unavailable")
        #expect(next.requests.isEmpty)
    }

    @Test func `what only reads is asked of the next owner`() throws {
        let (frozen, next) = (StubServer { _ in .silence }, StubServer { _ in .json(200, #"{"name":"a"}"#) })
        defer { for server in [frozen, next] { server.stop() } }
        let node = RelayNode()
        node.note(frozen, tenure: 1)
        let exchange = node.send("GET", "/scenes/a")
        _ = try frozen.request()
        node.note(next, tenure: 2)
        #expect(try exchange.laterAnswer().body == ["name": "a"])
    }

    @Test func `a stream is cut when its shard has another owner`() throws {
        let frozen = StubServer { _ in
            .beginning(fields: ["Content-Type: text/event-stream"], body: ": connected\n\n")
        }
        defer { frozen.stop() }
        let node = RelayNode()
        node.note(frozen, tenure: 1)
        let exchange = node.send("GET", "/scenes/a/events")
        try #require(eventually { exchange.source != nil })
        node.note(nil, tenure: 0)
        #expect(try exchange.ending() == .cut)
    }

    @Test func `an answer that comes shortly after the move still counts`() throws {
        let owner = StubServer { _ in .json(201, "{}") }
        defer { owner.stop() }
        let node = RelayNode { $0.grace = .seconds(60) }
        node.note(owner, tenure: 1)
        let exchange = node.send("POST", "/transitions/start", "{}")
        node.note(nil, tenure: 0)
        #expect(try exchange.laterAnswer().status == 201)
    }

    // MARK: - How long others are waited for

    @Test func `a request that does not wait is not waited for long`() throws {
        let frozen = StubServer { _ in .silence }
        defer { frozen.stop() }
        let node = RelayNode { $0.answering = .milliseconds(200) }
        node.note(frozen, tenure: 1)
        let begun = ContinuousClock.now
        #expect(try node.send("POST", "/transitions/start", "{}").laterAnswer().code == "journal-unavailable")
        #expect(begun.duration(to: .now) >= .milliseconds(200))
    }

    @Test func `a stream that is silent is cut`() throws {
        let frozen = StubServer { _ in
            .beginning(fields: ["Content-Type: text/event-stream"], body: ": connected\n\n")
        }
        defer { frozen.stop() }
        let node = RelayNode { $0.silence = .milliseconds(200) }
        node.note(frozen, tenure: 1)
        #expect(try node.send("GET", "/scenes/a/events").ending() == .cut)
    }

    @Test func `two comments of a stream may be missing`() {
        let times = RelayTimes(lease: .seconds(5), comments: .milliseconds(1250))
        #expect(times.silence == .milliseconds(2500))
        // A node that has claimed the shard holds the request first, and borrows its session.
        #expect(times.silenceBeforeHead == .seconds(9))
        #expect(times.answering > times.settling + times.lending)
        #expect(times.holding == .seconds(7))
    }

    @Test func `the owner is told how long the client still waits, and waits no longer`() throws {
        let owner = StubServer { _ in .json(200, "{}") }
        defer { owner.stop() }
        let relay = RelayNode()
        relay.note(owner, tenure: 1)
        for (method, target, body, wait) in [
            ("POST", "/transitions/serialize?wait=7", "", 7), ("GET", "/scenes/a/await?wait=8", "", 8),
            ("POST", "/transitions/start", "", 0), ("POST", "/transitions/serialize", #"{"wait": 9}"#, 9),
        ] {
            #expect(try relay.send(method, target, body).laterAnswer().status == 200)
            let remaining = owner.requests.last?.value(of: "Arbiter-Remaining").flatMap { Int($0) } ?? -1
            #expect((wait * 1000 - 1000...wait * 1000).contains(remaining))
        }
        let node = RelayNode()
        try node.serve()
        _ = try node.send("POST", "/transitions/start", "{}").laterAnswer()
        let target = "/transitions/serialize?wait=60"
        let waits = node.send("POST", target, headers: [.remaining: "0"])
        #expect(waits.responses.isEmpty)
        let trusted = Peer.node(address: "192.0.2.1", isTrusted: true)
        #expect(try node.send("POST", target, headers: [.remaining: "0"], peer: trusted).laterAnswer().status == 202)
    }
}
