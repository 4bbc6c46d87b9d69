import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import ArbiterTransfers
import Testing

@testable import ArbiterHTTP

/// What nodes say to each other about sessions.
struct LentSessionTests {
    private static let node = Peer.node(address: "192.0.2.1", isTrusted: true)
    /// A session at home in each of two shards, which nobody has opened.
    private static let tokens = [Token(high: 0, low: 1), Token(high: .max, low: 1)]

    /// A session that is opened in an engine, whose shard is the first.
    private func session(in engine: Engine) throws -> Token {
        let opened = Guarded<Token?>(nil)
        engine.openSession(client: nil, timeToLive: .seconds(60), homeAt: Slot(number: 0)) { result in
            let view = try? result.get()
            opened.withLock { $0 = view?.session.token }
        }
        return try #require(opened.withLock { $0 })
    }

    private func report(_ token: Token, caller: Caller? = .anyone) -> GuestReport {
        GuestReport(token, from: 1, isHeard: true, client: .present, caller: caller)
    }

    private func send(_ reports: [GuestReport], _ target: String, to node: RelayNode) -> RecordingExchange {
        node.send("POST", target, bytes: GuestMessages.bytes(of: reports), peer: Self.node)
    }

    // MARK: - Words

    @Test func `a request of reports fits, whatever the access file says of their callers`() throws {
        let principal = try #require(PrincipalName(String(repeating: "p", count: Limits.principalNameBytes)))
        let pattern = try #require(ScenePattern(String(repeating: "s", count: Limits.sceneNameBytes)))
        let caller = Caller(principal: principal, scenes: .matching(Array(repeating: pattern, count: 100)))
        let reports = Array(repeating: report(Self.tokens[1], caller: caller), count: Guests.reportsInRequest)
        #expect(GuestMessages.bytes(of: reports).count <= ServerLimits.bodyBytes)
        #expect(reports.first?.caller?.principal == principal)
    }

    // MARK: - Lending

    @Test func `a home that has just been claimed lends a session once it serves it`() throws {
        let home = RelayNode(shards: 2)
        let engine = try Engine(journal: MemoryJournal(keepsRecords: false))
        let token = try session(in: engine)
        let exchange = send([report(token)], GuestMessages.lending, to: home)
        #expect(exchange.responses.isEmpty)
        home.shards.begin(0, engine)
        let answer = try exchange.laterAnswer()
        #expect(answer.status == 200)
        #expect(GuestMessages.values(answer.response.body, of: LentSession.self)?.map(\.token) == [token])
    }

    @Test func `a home that does not serve its shard in time says so`() throws {
        let home = RelayNode(shards: 2) { $0.settling = .milliseconds(50) }
        #expect(try send([report(Self.tokens[0])], GuestMessages.lending, to: home).laterAnswer().code == "not-owner")
    }

    @Test func `a home says with success that there is no such session`() throws {
        let home = RelayNode(shards: 2)
        try home.serve()
        let answer = try send([report(Self.tokens[0])], GuestMessages.lending, to: home).laterAnswer()
        #expect(answer.status == 200)
        #expect(answer.response.body.isEmpty)
    }

    @Test(arguments: [(404, "not-owner"), (503, "not-owner"), (200, "unauthenticated")])
    func `only a home that says so knows no session`(status: Int, code: String) throws {
        let home = StubServer { _ in .answer(status: status) }
        defer { home.stop() }
        let node = RelayNode(shards: 2)
        try node.serve(1)
        node.note(home, tenure: 1)
        let scene = try #require(
            (0..<100).map { "s\($0)" }.first { Slot(SceneName(unchecked: $0)).shard(of: 2) == 1 })
        let headers = [HeaderName.session: nobodysToken]
        let answer = try node.send("POST", "/transitions/start", #"{"scene":"\#(scene)"}"#, headers: headers)
            .laterAnswer()
        #expect(answer.code == code)
    }

    // MARK: - Reports

    @Test func `a home takes the reports of its shards, and names the others`() throws {
        let home = RelayNode(shards: 2)
        let living = try session(in: try home.serve())
        let reports = [living, Self.tokens[0], Self.tokens[1]].map { report($0, caller: nil) }
        let answer = try send(reports, GuestMessages.reporting, to: home).laterAnswer()
        #expect(answer.status == 200)
        #expect(GuestMessages.values(answer.response.body, of: Token.self) == [Self.tokens[0]])
        #expect(answer.headers("Arbiter-Missing-Shards") == ["1"])
    }

    @Test func `a home refuses at once what it cannot take`() throws {
        let home = RelayNode(shards: 2)
        try home.serve()
        let refused = try send([report(Self.tokens[1])], GuestMessages.reporting, to: home).answer()
        #expect(refused.code == "not-owner")
        let answer = try send([report(Self.tokens[0])], GuestMessages.reporting, to: home).laterAnswer()
        #expect(answer.status == 200)
        #expect(answer.headers("Arbiter-Missing-Shards").isEmpty)
    }

    @Test func `what a home has not taken is reported again`() throws {
        let home = StubServer { _ in .answer(status: 200, fields: ["Arbiter-Missing-Shards: 0"]) }
        defer { home.stop() }
        let node = RelayNode(shards: 2)
        node.note(home, tenure: 1)
        let alarm = ManualAlarm(time: ManualTime())
        let guests = Guests(
            node.shards, try #require(node.router.forwarder), lending: .seconds(5), alarm: alarm)
        guests.hear(Self.tokens[0], from: .anyone)
        let isReportedAgain = eventually(within: .seconds(20)) {
            alarm.ringEarliest()
            return home.requests.count > 1
        }
        #expect(isReportedAgain)
        #expect(home.requests.first?.target == GuestMessages.reporting)
    }
}
