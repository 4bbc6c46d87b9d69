import Testing

@testable import ArbiterHTTP

/// A token is shown once, to the client that requested its transition.
struct TokenSecrecyTests {
    private let service: Service
    private let holder: Owned
    private let ticket: Owned
    private let waiting: RecordingExchange

    init() throws {
        service = try Service()
        holder = try service.started(#"{"client": "holder"}"#)
        ticket = try service.serialized(#"{"client": "ticket"}"#)
        waiting = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)
    }

    private func expectSecrets(in exchange: RecordingExchange, _ context: String) throws {
        let text = String(decoding: try exchange.answer().response.body, as: UTF8.self).lowercased()
        #expect(!text.contains(holder.token), "\(context): \(text)")
        #expect(!text.contains(ticket.token), "\(context): \(text)")
        #expect(!text.contains("\"token\":"), "\(context): \(text)")
    }

    private func expectSecrets(_ method: String, _ target: String, _ body: String = "") throws {
        try expectSecrets(in: service.send(method, target, body), "\(method) \(target) \(body)")
    }

    @Test func `a token is 32 hexadecimal digits, another for each`() {
        for owned in [holder, ticket] {
            #expect(owned.token.count == 32)
            #expect(owned.token.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
        #expect(holder.token != ticket.token)
    }

    @Test func `no answer but the first shows a token`() throws {
        try expectSecrets("GET", "/transitions")
        try expectSecrets("GET", "/transitions/\(holder.id)")
        try expectSecrets("GET", "/transitions/\(ticket.id)")
        try expectSecrets("GET", "/scenes")
        try expectSecrets("GET", "/scenes/main")
        try expectSecrets("POST", "/transitions/start")
        try expectSecrets("GET", "/transitions/await?id=\(holder.id)")
        try expectSecrets("POST", "/transitions/await", holder.acting())
        try expectSecrets("POST", "/transitions/await", ticket.acting(#""wait": 0"#))
        try expectSecrets("POST", "/transitions/renew", holder.acting())
        try expectSecrets("POST", "/transitions/end", holder.acting(#""outcome": "nonsense""#))
        try expectSecrets("POST", "/transitions/end", holder.acting())
        try expectSecrets("POST", "/transitions/end", holder.acting())
        try expectSecrets("POST", "/transitions/end", holder.acting(#""outcome": "cancelled""#))
        try expectSecrets("POST", "/transitions/renew", holder.acting())
        service.pass(.seconds(60))
        try expectSecrets("POST", "/transitions/end", ticket.acting())
        try expectSecrets("GET", "/transitions/\(ticket.id)")
    }

    @Test func `an await that was parked shows no token, a serialize that was parked does`() throws {
        let owners = service.send("POST", "/transitions/await", ticket.acting())
        let anybodys = service.send("GET", "/transitions/await?id=\(ticket.id)&until=ended")
        try service.ask("POST", "/transitions/end", holder.acting())
        try expectSecrets(in: owners, "a parked await of the owner")
        try service.ask("POST", "/transitions/end", ticket.acting())
        try expectSecrets(in: anybodys, "a parked await of anybody")
        #expect(try waiting.answer().body["token"]?.text?.count == 32)
    }

    @Test func `the token of a session is shown when it begins, and never again`() throws {
        let session = try service.opened(#"{"client": "a"}"#)
        let owner = try service.started(
            #"{"scene": "other", "participants": ["a"], "interactive": true}"#, in: session)
        let ready = #"{"id": "\#(owner.id)", "client": "a"}"#
        for (target, body) in [
            ("/transitions/ready", ready),
            ("/transitions/perform", owner.acting(#""operation": {"type": "setRoot", "controller": "x"}"#)),
            ("/transitions/progress", owner.acting(#""fraction": 0.5"#)),
            ("/transitions/release", owner.acting()), ("/transitions/release", owner.acting(#""cancelled": false"#)),
            ("/transitions/release", owner.acting(#""decision": "finish""#)), ("/sessions/renew", ""),
            ("/sessions/end", ""), ("/sessions/renew", ""), ("/transitions/ready", ready),
            ("/transitions/progress", owner.acting(#""fraction": 0.5"#)),
        ] {
            let exchange = service.send("POST", target, body, headers: session.headers)
            try expectSecrets(in: exchange, "\(target) \(body)")
            let text = String(decoding: try exchange.answer().response.body, as: UTF8.self).lowercased()
            for token in [session.token, owner.token] { #expect(!text.contains(token), "\(target): \(text)") }
        }
    }

    @Test func `a malformed token is not repeated`() throws {
        let almost = String(holder.token.dropLast()) + "g"
        let body = #"{"id": "\#(holder.id)", "token": "\#(almost)"}"#
        let answer = try service.ask("POST", "/transitions/end", body)
        #expect(answer.field == "token")
        #expect(!String(decoding: answer.response.body, as: UTF8.self).contains(almost.dropLast()))
    }
}
