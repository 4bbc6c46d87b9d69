import Testing

@testable import ArbiterHTTP

struct TransitionEndpointsTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    @Test(arguments: ["", "{}", " {\r\n\t} "])
    func `a start that says nothing locks the main scene`(body: String) throws {
        let answer = try service.ask("POST", "/transitions/start", body)
        #expect(answer.status == 201)
        #expect(answer.response.contentType == .json)
        #expect(answer.body["scene"] == "main")
        #expect(answer.body["state"] == "running")
        #expect(answer.body["scope"] == "scene")
        #expect(answer.body["leaseSeconds"] == 10)
        #expect(answer.body["leaseRemaining"] == 10)
        #expect(answer.body["ticketSeconds"] == 30)
        #expect(answer.body["fence"] == 1)
        #expect(answer.body["requestedAt"] == "2026-01-01T00:00:00.000Z")
        #expect(answer.body["grantedAt"] == "2026-01-01T00:00:00.000Z")
        let absent: Set = ["client", "position", "blockers", "queueSeconds", "outcome", "reason", "endedAt"]
        #expect(answer.body.names.isDisjoint(with: absent))
    }

    @Test func `a start is given what it asked for`() throws {
        let body = """
            {"scene": "tv", "client": "détail \\ud83d\\ude80", "scope": "scene",
             "leaseSeconds": 2.5, "ticketSeconds": 0.1, "queueSeconds": 86400}
            """
        let answer = try service.ask("POST", "/transitions/start", body)
        #expect(answer.status == 201)
        #expect(answer.body["scene"] == "tv")
        #expect(answer.body["client"] == "détail 🚀")
        #expect(answer.body["leaseSeconds"] == 2.5)
        #expect(answer.body["leaseRemaining"] == 2.5)
        #expect(answer.body["ticketSeconds"] == 0.1)
        #expect(answer.body["queueSeconds"] == 86_400)
    }

    @Test func `a start that is in somebody's way is told who it is`() throws {
        let holder = try service.started(#"{"client": "detail"}"#)
        let waiting = try service.serialized()
        service.pass(.seconds(1))

        let answer = try service.ask("POST", "/transitions/start")

        #expect(answer.status == 409)
        #expect(answer.code == "busy")
        #expect(
            answer.body["holder"] == [
                "id": .string(holder.id), "client": "detail", "state": "running", "since": "2026-01-01T00:00:00.000Z",
            ])
        #expect(answer.body["blockers"] == [.string(holder.id), .string(waiting.id)])
        #expect(try service.transitions().count == 2)
    }

    @Test func `serialize is granted at once where nobody is in the way, and queued otherwise`() throws {
        let first = try service.ask("POST", "/transitions/serialize")
        #expect(first.status == 201)
        #expect(first.body["state"] == "running")

        let second = try service.ask("POST", "/transitions/serialize", #"{"wait": 0}"#)
        #expect(second.status == 202)
        #expect(second.body["state"] == "queued")
        #expect(second.body["position"] == 1)
        #expect(second.body["blockers"] == [try #require(first.body["id"])])
        #expect(second.body.names.isDisjoint(with: ["fence", "leaseRemaining", "grantedAt"]))
        #expect(second.body["token"] != first.body["token"])
    }

    @Test func `what is left is told, in every answer and in lists`() throws {
        let holder = try service.started()
        let ticket = try service.serialized(#"{"ticketSeconds": 40, "queueSeconds": 25}"#)
        #expect(ticket.answer.body["ticketRemaining"] == 40)
        #expect(ticket.answer.body["queueRemaining"] == 25)
        #expect(ticket.answer.body["readyRemaining"] == nil && ticket.answer.body["leaseRemaining"] == nil)
        service.pass(.milliseconds(2_500))
        let listed = try #require(try service.transitions().last)
        #expect(listed["ticketRemaining"] == 37.5 && listed["queueRemaining"] == 22.5)
        let renewed = try service.ask("POST", "/transitions/renew", ticket.acting()).body
        #expect(renewed["ticketRemaining"] == 40 && renewed["queueRemaining"] == 22.5)
        try service.ended(holder)
        let granted = try service.shown(ticket)
        #expect(granted.names.isDisjoint(with: ["ticketRemaining", "queueRemaining"]))
        #expect(granted["leaseRemaining"] == 5)
        try service.ended(ticket)
        #expect(try service.shown(ticket).names.allSatisfy { !$0.hasSuffix("Remaining") })
    }

    @Test func `a ticket whose owner waits, or has a session, runs out by no silence`() throws {
        let holder = try service.started()
        let parked = service.send("POST", "/transitions/serialize", #"{"wait": 20, "queueSeconds": 60}"#)
        #expect(try service.transitions().last?["ticketRemaining"] == nil)
        #expect(try service.transitions().last?["queueRemaining"] == 60)
        service.pass(.seconds(9))
        try service.ask("POST", "/transitions/renew", holder.acting())
        service.pass(.seconds(9))
        try service.ask("POST", "/transitions/renew", holder.acting())
        service.pass(.seconds(2))
        let answer = try parked.answer()
        #expect(answer.body["ticketRemaining"] == 30)
        #expect(answer.body["queueRemaining"] == 40)
        let session = try service.opened()
        let bound = try service.serialized(in: session)
        #expect(bound.answer.body.names.isDisjoint(with: ["ticketRemaining", "queueRemaining"]))
    }

    @Test func `a ticket that was ended shows it until its turn`() throws {
        let holder = try service.started()
        let ticket = try service.serialized()
        #expect(ticket.answer.body["endRequested"] == nil)
        let ended = try service.ended(ticket).body
        #expect(ended["state"] == "queued")
        #expect(ended["endRequested"] == "completed")
        #expect(ended["ticketRemaining"] == nil)
        #expect(try service.transitions().last?["endRequested"] == "completed")
        try service.ended(holder)
        let completed = try service.shown(ticket)
        #expect(completed["outcome"] == "completed" && completed["endRequested"] == nil)
    }

    @Test func `serialize that waits is answered at its grant`() throws {
        let holder = try service.started()
        let exchange = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)
        #expect(exchange.responses.isEmpty)

        service.pass(.seconds(2))
        try service.ask("POST", "/transitions/end", holder.acting())

        let answer = try exchange.answer()
        #expect(answer.status == 201)
        #expect(answer.body["fence"] == 2)
        #expect(answer.body["requestedAt"] == "2026-01-01T00:00:00.000Z")
        #expect(answer.body["grantedAt"] == "2026-01-01T00:00:02.000Z")
        #expect(answer.body["token"] != nil)
    }

    @Test func `serialize whose wait runs out is answered with its place`() throws {
        try service.started(#"{"leaseSeconds": 60}"#)
        let exchange = service.send("POST", "/transitions/serialize", #"{"wait": 5}"#)
        service.pass(.seconds(5))
        let answer = try exchange.answer()
        #expect(answer.status == 202)
        #expect(answer.body["position"] == 1)
        #expect(answer.body["token"] != nil)
    }

    @Test func `a ticket that ends while its serialize waits is answered as ended`() throws {
        try service.started(#"{"leaseSeconds": 60}"#)
        let exchange = service.send("POST", "/transitions/serialize", #"{"wait": 60, "queueSeconds": 3}"#)
        service.pass(.seconds(3))
        let answer = try exchange.answer()
        #expect(answer.status == 200)
        #expect(answer.body["state"] == "ended")
        #expect(answer.body["outcome"] == "expired")
        #expect(answer.body["reason"] == "queue-timeout")
        #expect(answer.body["endedAt"] == "2026-01-01T00:00:03.000Z")
    }

    @Test(arguments: ["completed", "cancelled"])
    func `an end says how it ended, as often as it is asked`(outcome: String) throws {
        let holder = try service.started()
        service.pass(.milliseconds(1500))
        for _ in 0..<2 {
            let answer = try service.ask("POST", "/transitions/end", holder.acting(#""outcome": "\#(outcome)""#))
            #expect(answer.status == 200)
            #expect(answer.body["state"] == "ended")
            #expect(answer.body["outcome"] == .string(outcome))
            #expect(answer.body["reason"] == nil)
            #expect(answer.body["endedAt"] == "2026-01-01T00:00:01.500Z")
            #expect(answer.body["fence"] == 1)
            #expect(answer.body["leaseRemaining"] == nil)
        }
    }

    @Test func `an end that does not say how is a completion`() throws {
        let holder = try service.started()
        #expect(try service.ask("POST", "/transitions/end", holder.acting()).body["outcome"] == "completed")
    }

    @Test func `an end of a ticket is remembered until its turn`() throws {
        let holder = try service.started()
        let ticket = try service.serialized()
        let answer = try service.ask("POST", "/transitions/end", ticket.acting())
        #expect(answer.status == 200)
        #expect(answer.body["state"] == "queued")

        try service.ask("POST", "/transitions/end", holder.acting())
        #expect(try service.ask("GET", "/transitions/\(ticket.id)").body["outcome"] == "completed")
    }

    @Test func `renew sets the lease back to full`() throws {
        let holder = try service.started()
        service.pass(.milliseconds(7004))
        let before = try service.ask("GET", "/transitions/\(holder.id)")
        #expect(before.body["leaseRemaining"] == 2.996)

        let answer = try service.ask("POST", "/transitions/renew", holder.acting())

        #expect(answer.status == 200)
        #expect(answer.body["leaseRemaining"] == 10)
        #expect(answer.body["state"] == "running")
    }

    @Test func `show gives one transition to anybody`() throws {
        let holder = try service.started(#"{"client": "x"}"#)
        let answer = try service.ask("GET", "/transitions/\(holder.id)")
        #expect(answer.status == 200)
        #expect(answer.body["id"] == .string(holder.id))
        #expect(answer.body["client"] == "x")
    }

    @Test func `HEAD is answered as GET is`() throws {
        let holder = try service.started()
        for target in ["/transitions/\(holder.id)", "/transitions", "/scenes", "/livez", "/readyz", "/openapi.yaml"] {
            let (head, get) = (try service.ask("HEAD", target), try service.ask("GET", target))
            #expect(head.status == 200)
            #expect(head.body == get.body)
        }
    }
}
