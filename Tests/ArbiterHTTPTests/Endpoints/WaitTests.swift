import Testing

@testable import ArbiterHTTP

/// How long a request waits, and what determines that.
struct WaitTests {
    private let service: Service
    private let holder: Owned

    init() throws {
        service = try Service()
        holder = try service.started(#"{"leaseSeconds": 300}"#)
    }

    /// Expects that the exchange is answered after this many seconds, and not before.
    private func expect(_ exchange: RecordingExchange, after seconds: Int) throws -> Answer {
        if seconds > 0 {
            service.pass(.seconds(seconds) - .milliseconds(1))
            #expect(exchange.responses.isEmpty, "it did not wait for \(seconds) s")
            service.pass(.milliseconds(1))
        }
        #expect(exchange.reservations == (seconds > 0 ? 1 : 0))
        return try exchange.answer()
    }

    @Test(
        arguments: [
            (#"{"wait": 3}"#, "?wait=5", "wait=7", 3, nil), (#"{"wait": 3}"#, "", "wait=7", 3, nil),
            ("", "?wait=5", "wait=7", 5, nil), ("{}", "?wait=5", nil, 5, nil), ("", "", "wait=7", 7, "wait=7"),
            ("", "", nil, 0, nil), (#"{"wait": 0}"#, "?wait=5", "wait=7", 0, nil), ("", "?wait=0", "wait=7", 0, nil),
            ("", "", "wait=0", 0, "wait=0"), (#"{"wait": 120}"#, "", nil, 120, nil), ("", "?wait=1.2e1", nil, 12, nil),
        ] as [(String, String, String?, Int, String?)])
    func `the body says how long to wait, else the query, else the preference`(
        body: String, query: String, prefer: String?, seconds: Int, applied: String?
    ) throws {
        let headers = prefer.map { [HeaderName.prefer: $0] } ?? [:]
        let exchange = service.send("POST", "/transitions/serialize" + query, body, headers: headers)
        let answer = try expect(exchange, after: seconds)
        #expect(answer.status == 202)
        #expect(answer.headers("Preference-Applied") == (applied.map { [$0] } ?? []))
    }

    @Test(
        arguments: [
            ("wait=5", 5, "wait=5"), ("WAIT=5", 5, "wait=5"), ("wait=\"5\"", 5, "wait=5"), ("wait = 5", 5, "wait=5"),
            ("respond-async, wait=5", 5, "wait=5"), ("wait=5; foo=bar", 5, "wait=5"), ("wait=5, wait=9", 5, "wait=5"),
            ("handling=lenient;wait=4", 0, nil), ("respond-async", 0, nil), ("wait", 0, nil),
            ("waiting=5", 0, nil),
            ("", 0, nil),
        ] as [(String, Int, String?)])
    func `the preference is found among others`(prefer: String, seconds: Int, applied: String?) throws {
        let exchange = service.send("POST", "/transitions/serialize", headers: [.prefer: prefer])
        let answer = try expect(exchange, after: seconds)
        #expect(answer.headers("Preference-Applied") == (applied.map { [$0] } ?? []))
    }

    @Test(arguments: ["wait=soon", "wait=-1", "wait=121", "wait=nan"])
    func `a preference that cannot be followed is ignored`(prefer: String) throws {
        let answer = try service.ask("POST", "/transitions/serialize", headers: [.prefer: prefer])
        #expect(answer.status == 202)
        #expect(answer.headers("Preference-Applied") == [])
    }

    @Test func `start does not wait, whatever is preferred`() throws {
        let answer = try service.ask("POST", "/transitions/start", headers: [.prefer: "wait=5"])
        #expect(answer.status == 409)
        #expect(answer.headers("Preference-Applied") == [])
    }

    @Test func `an await waits for half a minute unless told otherwise`() throws {
        let owners = service.send("POST", "/transitions/await", holder.acting(#""until": "ended""#))
        let anybodys = service.send("GET", "/transitions/await?id=\(holder.id)&until=ended")
        service.pass(.seconds(30) - .milliseconds(1))
        #expect(owners.responses.isEmpty)
        #expect(anybodys.responses.isEmpty)
        service.pass(.milliseconds(1))
        for exchange in [owners, anybodys] {
            let answer = try exchange.answer()
            #expect(answer.status == 200)
            #expect(answer.body["state"] == "running")
        }
    }

    @Test func `an await waits as long as it says, however it says it`() throws {
        let target = "/transitions/await"
        let until = #""until": "ended""#
        let anybodys = target + "?id=\(holder.id)&until=ended"
        _ = try expect(
            service.send("POST", target + "?wait=5", holder.acting(until + #", "wait": 3"#)), after: 3)
        _ = try expect(service.send("POST", target + "?wait=5", holder.acting(until)), after: 5)
        let preferred = service.send("POST", target, holder.acting(until), headers: [.prefer: "wait=7"])
        #expect(try expect(preferred, after: 7).headers("Preference-Applied") == ["wait=7"])
        _ = try expect(service.send("GET", anybodys + "&wait=4", headers: [.prefer: "wait=7"]), after: 4)
        let alsoPreferred = service.send("GET", anybodys, headers: [.prefer: "wait=8"])
        #expect(try expect(alsoPreferred, after: 8).headers("Preference-Applied") == ["wait=8"])
        _ = try expect(service.send("GET", anybodys + "&wait=0"), after: 0)
    }

    @Test func `an await for what has come is answered at once`() throws {
        for until in ["granted", "running"] {
            let body = holder.acting(#""until": "\#(until)""#)
            #expect(try service.ask("POST", "/transitions/await", body).body["state"] == "running")
        }
        try service.ask("POST", "/transitions/end", holder.acting())
        for until in ["granted", "running", "ended"] {
            let answer = try service.ask("GET", "/transitions/await?id=\(holder.id)&until=\(until)")
            #expect(answer.status == 200)
            #expect(answer.body["outcome"] == "completed")
        }
    }

    @Test func `an await without until waits for the grant`() throws {
        let ticket = try service.serialized()
        let owners = service.send("POST", "/transitions/await", ticket.acting())
        let anybodys = service.send("GET", "/transitions/await?id=\(ticket.id)")
        let patient = service.send("GET", "/transitions/await?id=\(ticket.id)&until=ended&wait=100")
        try service.ask("POST", "/transitions/end", holder.acting())
        #expect(try owners.answer().body["state"] == "running")
        #expect(try anybodys.answer().body["state"] == "running")
        #expect(patient.responses.isEmpty)
        try service.ask("POST", "/transitions/end", ticket.acting(#""outcome": "cancelled""#))
        #expect(try patient.answer().body["outcome"] == "cancelled")
    }
}
