import ArbiterEngine
import Testing

@testable import ArbiterHTTP

/// Parked connections: their limit, their close, and the end of the daemon.
struct ParkingTests {
    private let service: Service
    private let holder: Owned

    init() throws {
        service = try Service()
        holder = try service.started(#"{"leaseSeconds": 300}"#)
    }

    @Test func `where there is no place left to wait nothing is queued`() throws {
        let full = RecordingExchange(hasPlace: false)
        service.send("POST", "/transitions/serialize", #"{"wait": 5}"#, to: full)
        let answer = try full.answer()
        #expect(answer.status == 503)
        #expect(answer.code == "too-many-connections")
        #expect(answer.headers("Retry-After") == ["1"])
        #expect(try service.transitions().count == 1)
    }

    @Test func `where there is no place left nobody awaits`() throws {
        for (method, target, body) in [
            ("POST", "/transitions/await", holder.acting(#""until": "ended""#)),
            ("GET", "/transitions/await?id=\(holder.id)&until=ended", ""),
        ] {
            let full = RecordingExchange(hasPlace: false)
            service.send(method, target, body, to: full)
            #expect(try full.answer().code == "too-many-connections")
        }
    }

    @Test func `who does not wait needs no place`() throws {
        let requests = [
            ("POST", "/transitions/serialize", ""), ("POST", "/transitions/start", ""),
            ("POST", "/transitions/await", holder.acting(#""wait": 0"#)), ("GET", "/scenes", ""),
        ]
        for (method, target, body) in requests {
            let full = RecordingExchange(hasPlace: false)
            service.send(method, target, body, to: full)
            #expect(try full.answer().status != 503)
            #expect(full.reservations == 0)
        }
    }

    @Test func `a connection that closes gives its place in the queue up`() throws {
        let leaver = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)
        let next = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)

        leaver.abandon()

        let ended = try service.transitions().filter { $0["state"] == "ended" }
        #expect(ended.map { $0["reason"] } == ["abandoned"])
        try service.ask("POST", "/transitions/end", holder.acting())
        #expect(try next.answer().status == 201)
        service.pass(.seconds(60))
        #expect(leaver.responses.isEmpty)
    }

    @Test func `an owner's await that closes gives the ticket up, anybody's does not`() throws {
        let ticket = try service.serialized()
        let anybodys = service.send("GET", "/transitions/await?id=\(ticket.id)")
        let owners = service.send("POST", "/transitions/await", ticket.acting())

        anybodys.abandon()
        #expect(try service.ask("GET", "/transitions/\(ticket.id)").body["state"] == "queued")
        owners.abandon()
        #expect(try service.ask("GET", "/transitions/\(ticket.id)").body["reason"] == "abandoned")
    }

    @Test func `a connection that closes after its answer changes nothing`() throws {
        let exchange = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)
        try service.ask("POST", "/transitions/end", holder.acting())
        let answer = try exchange.answer()

        exchange.abandon()

        let id = try #require(answer.body["id"]?.text)
        #expect(try service.ask("GET", "/transitions/\(id)").body["state"] == "running")
        #expect(exchange.responses.count == 1)
    }

    @Test func `a daemon that drains answers all who wait and refuses the rest`() throws {
        let waiting = [
            service.send("POST", "/transitions/serialize", #"{"wait": 60}"#),
            service.send("GET", "/transitions/await?id=\(holder.id)&until=ended"),
        ]
        service.router.drain()
        service.engine.drain()

        #expect(try waiting.map { try $0.answer().status } == [202, 200])
        for (method, target, body) in [
            ("POST", "/transitions/start", ""), ("POST", "/transitions/serialize", ""),
            ("POST", "/transitions/end", holder.acting()), ("POST", "/transitions/renew", holder.acting()),
            ("POST", "/transitions/await", holder.acting()), ("GET", "/transitions/await?id=\(holder.id)", ""),
            ("GET", "/transitions", ""), ("GET", "/transitions/\(holder.id)", ""), ("GET", "/scenes", ""),
            ("GET", "/scenes/main", ""), ("GET", "/readyz", ""),
        ] {
            let answer = try service.ask(method, target, body)
            #expect(answer.status == 503)
            #expect(answer.code == "draining")
            #expect(answer.headers("Retry-After") == ["1"])
        }
        for target in ["/livez", "/openapi.yaml", "/openapi.json"] {
            #expect(try service.ask("GET", target).status == 200)
        }
        #expect(try service.ask("GET", "/nowhere").status == 404)
    }

    @Test func `an owner that claims its grant has to say something after it`() throws {
        let ticket = try service.serialized()
        let parked = service.send("POST", "/transitions/await", ticket.acting(#""claim": true, "wait": 60"#))
        try service.ended(holder)
        #expect(try parked.answer().body["leaseRemaining"] == 5)
        let claimed = try service.ask("POST", "/transitions/await", ticket.acting(#""wait": 0"#))
        #expect(claimed.body["leaseRemaining"] == 10)
        let wrong = try service.ask("POST", "/transitions/await", ticket.acting(#""claim": 1"#))
        #expect(wrong.status == 400 && wrong.field == "claim")
    }
}
