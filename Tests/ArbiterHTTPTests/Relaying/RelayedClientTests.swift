import ArbiterCore
import ArbiterRelay
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// What a node knows of a client that another one passes on, and what the client gets back.
struct RelayedClientTests {
    private static let node = Peer.node(address: "192.0.2.1", isTrusted: true)

    @Test func `calls that keep or let go of a lock need no place to wait, and calls that wait do`() throws {
        let owner = StubServer { _ in .json(200, "{}") }
        defer { owner.stop() }
        let relay = RelayNode()
        relay.note(owner, tenure: 1)
        let acting = #"{"id":"t-7f3k9v0m2c5xq","token":"00000000000000000000000000000000"}"#
        func ask(_ method: String, _ target: String, _ body: String) throws -> Answer {
            try relay.send(method, target, body, to: RecordingExchange(hasPlace: false)).laterAnswer()
        }
        for path in ["renew", "end", "progress", "release"] {
            let more = path == "progress" ? #","fraction":0.5}"# : path == "release" ? #","velocity":1}"# : "}"
            let answer = try ask("POST", "/transitions/\(path)", acting.dropLast() + more)
            #expect(answer.status == 200, "\(path): \(answer.body)")
        }
        #expect(try ask("POST", "/transitions/start", "").status == 200)
        #expect(try ask("POST", "/transitions/await?wait=5", acting).code == "too-many-connections")
        #expect(try ask("GET", "/scenes/a/events", "").code == "too-many-connections")
    }

    @Test(arguments: ["/scenes/a/events", "/events"])
    func `a client that reads late gets all of a long stream, and makes its owner wait`(target: String) throws {
        let count = 20_000
        let padding = String(repeating: "x", count: 1000)
        let frames = (0..<count).map { number in
            "event: transition.queued\ndata: {\"number\":\(number),\"note\":\"\(padding)\"}\n\n"
        }
        let stream = frames.joined()
        let owner = StubServer { request in
            request.target.contains("/events")
                ? .answer(status: 200, fields: ["Content-Type: text/event-stream"], body: stream) : .json(200, "{}")
        }
        defer { owner.stop() }
        let relay = RelayNode()
        relay.note(owner, tenure: 1)
        let client = relay.send("GET", target)
        try #require(eventually { client.source != nil && client.wakes > 0 })
        // Nothing more arrives while others are served, until the client reads.
        let isWaiting = try eventually {
            let before = client.wakes
            for _ in 0..<20 { _ = try relay.send("GET", "/scenes/b").laterAnswer() }
            return client.wakes == before
        }
        #expect(isWaiting)
        #expect(eventually { owner.sentCount == owner.requests.count - 1 })
        let read = try #require(client.wholeStream())
        let numbers = read.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: "data: ".utf8) }
        #expect(numbers == count)
    }

    @Test func `a client may take longer for a long answer than its owner may`() throws {
        let answer = #"{"note":"\#(String(repeating: "x", count: 20 << 20))"}"#
        let owner = StubServer { request in request.target == "/scenes/a" ? .json(200, answer) : .silence }
        defer { owner.stop() }
        let relay = RelayNode { $0.answering = .seconds(5) }
        relay.note(owner, tenure: 1)
        let client = relay.send("GET", "/scenes/a")
        try #require(eventually { client.source != nil })
        // A request that is not answered has failed, so the time that an owner has is over.
        #expect(try relay.send("POST", "/transitions/start").laterAnswer().code == "journal-unavailable")
        #expect(owner.sentCount == 0)
        #expect(try #require(client.wholeStream()) == Array(answer.utf8))
    }

    @Test func `the answer to HEAD has the length that the owner tells`() throws {
        let owner = StubServer { _ in .json(200, #"{"name":"a"}"#) }
        defer { owner.stop() }
        let relay = RelayNode()
        relay.note(owner, tenure: 1)
        let exchange = relay.send("HEAD", "/scenes/a")
        try #require(eventually { !exchange.responses.isEmpty })
        #expect(exchange.responses.first?.announcedBytes == 12)
    }

    @Test func `the owner is told where the client is`() throws {
        let owner = StubServer { _ in .json(201, "{}") }
        defer { owner.stop() }
        let relay = RelayNode()
        relay.note(owner, tenure: 1)
        _ = try relay.send("POST", "/transitions/start").laterAnswer()
        #expect(owner.requests.last?.value(of: "Arbiter-Client") == "192.0.2.7")
        let user = Peer.local(LocalUser(user: 7, groups: []))
        _ = try relay.send("POST", "/transitions/start", peer: user).laterAnswer()
        #expect(
            owner.requests.last?.value(of: "Arbiter-Client").flatMap { PercentEncoding.decode(Substring($0)) }
                .flatMap { Peer(key: $0) } == user)
        // That it has not waited for the answer is told too.
        #expect(owner.requests.last?.value(of: "Arbiter-Orphaned") == nil)
        _ = try relay.send("POST", "/transitions/start", client: .gone).laterAnswer()
        #expect(owner.requests.last?.value(of: "Arbiter-Orphaned") == "1")
        // A node that passes it on once more says what it was told.
        _ = try relay.send(
            "POST", "/transitions/start", headers: [.forwardedPeer: "192.0.2.9", .hops: "1"], peer: Self.node
        ).laterAnswer()
        #expect(owner.requests.last?.value(of: "Arbiter-Client") == "192.0.2.9")
    }

    @Test func `a large body is read of the client of another node if the client may send it`() throws {
        let owner = RelayNode(
            access: try AccessControl(
                """
                principals:
                  - {name: hands, token: "\(SecretDigest(of: "hands"))", roles: [design], scenes: "*"}
                  - {name: eyes, token: "\(SecretDigest(of: "eyes"))", roles: [observe], scenes: "*"}
                """))
        func bodyBytes(_ entry: String, _ peer: Peer) -> Int {
            owner.router.bodyBytes(
                for: Request(
                    method: "PUT", path: "/scenes/a/storyboard",
                    headers: DictionaryHeaders(fields: [.forwardedPrincipal: "token:\(entry)", .forwardedEntry: entry]),
                    peer: peer))
        }
        #expect(bodyBytes("hands", Self.node) == ServerLimits.storyboardBytes)
        #expect(bodyBytes("eyes", Self.node) == ServerLimits.bodyBytes)
        #expect(bodyBytes("hands", .node(address: "192.0.2.1", isTrusted: false)) == ServerLimits.bodyBytes)
        #expect(bodyBytes("hands", .network(address: "192.0.2.1")) == ServerLimits.bodyBytes)
    }
}
