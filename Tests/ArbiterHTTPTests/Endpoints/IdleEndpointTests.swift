import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `GET /scenes/{scene}/await`.
struct IdleEndpointTests {
    private static let target = "/scenes/main/await"

    private let service: Service

    init() throws {
        service = try Service()
    }

    @Test func `a scene that is idle is answered at once, also one that does not exist`() throws {
        let answer = try service.ask("GET", Self.target + "?until=idle")
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "name": "main", "idle": true, "idleFor": 0, "quietSeconds": 0, "revision": 0, "runningCount": 0,
                "queuedCount": 0,
            ])
        #expect(try service.ask("GET", "/scenes").body["scenes"] == [])
        #expect(try service.journal.records().isEmpty)
        try service.declared()
        service.pass(.seconds(3))
        let declared = try service.ask("GET", Self.target + "?quietSeconds=3").body
        #expect(declared["idle"] == true && declared["idleFor"] == 3 && declared["revision"] == 1)
    }

    @Test func `an await is answered when the scene has been quiet for long enough`() throws {
        let holder = try service.started()
        let ticket = try service.serialized()
        let exchange = service.send("GET", Self.target + "?quietSeconds=1.5&wait=60")
        #expect(exchange.reservations == 1)
        service.pass(.seconds(2))
        try service.ended(holder)
        service.pass(.seconds(2))
        try service.ended(ticket)
        service.pass(.milliseconds(1_499))
        #expect(exchange.responses.isEmpty)
        service.pass(.milliseconds(1))
        let body = try exchange.answer().body
        #expect(body["idle"] == true && body["idleFor"] == 1.5 && body["quietSeconds"] == 1.5)
        #expect(body["runningCount"] == 0 && body["queuedCount"] == 0)
    }

    @Test func `a wait that is over says that the scene is busy, or was not quiet for long enough`() throws {
        let holder = try service.started(#"{"leaseSeconds": 300}"#)
        _ = try service.serialized()
        let busy = service.send("GET", Self.target + "?wait=2")
        service.pass(.seconds(2) - .milliseconds(1))
        #expect(busy.responses.isEmpty)
        service.pass(.milliseconds(1))
        let body = try busy.answer().body
        #expect(body["idle"] == false && body["idleFor"] == nil)
        #expect(body["runningCount"] == 1 && body["queuedCount"] == 1)
        try service.ended(holder)
        try service.ask(
            "POST", "/transitions/revoke",
            #"{"id": "\#(try service.transitions()[1]["id"]?.text ?? "")", "reason": "x"}"#)
        let restless = service.send("GET", Self.target + "?wait=2&quietSeconds=3")
        service.pass(.seconds(2))
        let answer = try restless.answer().body
        #expect(answer["idle"] == false && answer["idleFor"] == 2 && answer["quietSeconds"] == 3)
        #expect(answer["runningCount"] == 0 && answer["queuedCount"] == 0)
    }

    @Test func `it waits for half a minute, or as long as the query or the preference says`() throws {
        try service.started(#"{"leaseSeconds": 300}"#)
        for (query, prefer, seconds, applied) in [
            ("", nil, 30, []), ("?wait=5", "wait=7", 5, []), ("", "wait=7", 7, ["wait=7"]), ("?wait=120", nil, 120, []),
        ] as [(String, String?, Int, [String])] {
            let exchange = service.send("GET", Self.target + query, headers: prefer.map { [.prefer: $0] } ?? [:])
            service.pass(.seconds(seconds) - .milliseconds(1))
            #expect(exchange.responses.isEmpty)
            service.pass(.milliseconds(1))
            let answer = try exchange.answer()
            #expect(answer.body["idle"] == false && answer.headers("Preference-Applied") == applied)
        }
        let exchange = service.send("GET", Self.target + "?wait=0")
        #expect(try exchange.answer().body["idle"] == false && exchange.reservations == 0)
    }

    @Test(arguments: [
        ("until=busy", "until"), ("until=", "until"), ("quietSeconds=121", "quietSeconds"),
        ("quietSeconds=-1", "quietSeconds"), ("quietSeconds=soon", "quietSeconds"), ("quietSeconds=", "quietSeconds"),
        ("wait=121", "wait"), ("quiet=1", "quiet"), ("until=idle&until=idle", "until"),
    ])
    func `a parameter that cannot be is refused`(query: String, field: String) throws {
        let answer = try service.ask("GET", Self.target + "?" + query)
        #expect(answer.status == 400 && answer.field == field)
    }

    @Test func `a name that no scene can have is not found`() throws {
        let answer = try service.ask("GET", "/scenes/a%20b/await")
        #expect(answer.status == 404 && answer.code == "unknown-scene")
        #expect(try service.ask("POST", Self.target).status == 405)
        #expect(try service.ask("HEAD", Self.target).status == 200)
    }

    @Test func `where there is no place left nobody waits`() throws {
        let full = RecordingExchange(hasPlace: false)
        service.send("GET", Self.target + "?quietSeconds=1", to: full)
        #expect(try full.answer().code == "too-many-connections")
        let asking = RecordingExchange(hasPlace: false)
        service.send("GET", Self.target + "?quietSeconds=1&wait=0", to: asking)
        #expect(try asking.answer().body["idle"] == false)
    }

    @Test func `a connection that closes is not answered, and a stop answers all others`() throws {
        let leaver = service.send("GET", Self.target + "?quietSeconds=9")
        let patient = service.send("GET", Self.target + "?quietSeconds=10")
        leaver.abandon()
        service.pass(.seconds(9))
        #expect(leaver.responses.isEmpty && patient.responses.isEmpty)
        service.engine.drain()
        #expect(try patient.answer().body["idleFor"] == 9)
        #expect(leaver.responses.isEmpty)
    }

    @Test func `a session lives while an await of it is parked`() throws {
        let session = try service.opened(#"{"ttlSeconds": 5}"#)
        let exchange = service.send("GET", Self.target + "?quietSeconds=100&wait=60", headers: session.headers)
        service.pass(.seconds(60))
        #expect(try exchange.answer().body["idle"] == false)
        service.pass(.seconds(4))
        #expect(try service.ask("POST", "/sessions/renew", headers: session.headers).status == 200)
    }

    @Test func `other scenes do not matter`() throws {
        let exchange = service.send("GET", Self.target + "?quietSeconds=2")
        service.pass(.seconds(1))
        try service.started(#"{"scene": "other"}"#)
        service.pass(.seconds(1))
        #expect(try exchange.answer().body["idle"] == true)
    }
}
