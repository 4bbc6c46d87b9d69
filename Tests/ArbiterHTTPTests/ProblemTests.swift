import ArbiterCore
import ArbiterEngine
import Testing

@testable import ArbiterHTTP

/// The problems in answers; `Answer` checks the shape of each.
struct ProblemTests {
    private func problem(_ answer: Answer, _ status: Int, _ code: String) {
        #expect(answer.status == status)
        #expect(answer.code == code)
    }

    @Test(arguments: Problem.Code.allCases)
    func `every code has the status that its kind has`(code: Problem.Code) {
        let statuses: [Int: Set<String>] = [
            400: ["malformed-json", "unknown-field", "invalid-field", "missing-field", "connection-closed"],
            401: ["unauthenticated"], 403: ["forbidden", "foreign-origin", "wrong-token"],
            404: ["not-found", "unknown-scene", "unknown-transition"],
            405: ["method-not-allowed"], 406: ["not-acceptable"],
            409: [
                "busy", "in-use", "already-ended", "already-decided", "already-performed", "interrupted",
                "not-interactive",
                "not-running", "too-late", "guarded",
            ],
            410: ["expired", "rejected", "superseded", "revoked"],
            412: ["expectation-failed", "revision-mismatch", "already-declared"], 413: ["body-too-large"],
            415: ["unsupported-media-type"],
            422: [
                "idempotency-key-reused", "unknown-transition-type", "unknown-controller", "wrong-kind",
                "already-presenting", "not-visible", "already-in-hierarchy", "already-on-stack",
                "cannot-push-container", "not-on-stack", "index-out-of-range", "not-a-child",
                "already-a-child",
                "unknown-column", "column-collapsed", "unknown-segue",
                "hierarchy-too-large", "outside-scope",
            ],
            421: ["misdirected-request"],
            431: ["header-fields-too-large"],
            429: [
                "queue-full", "too-many-transitions", "too-many-scenes", "too-many-sessions", "share-used-up",
                "too-many-requests",
            ],
            503: [
                "too-many-connections", "draining", "recovering", "journal-unavailable", "out-of-room", "not-owner",
                "older-rules",
            ],
            505: ["unsupported-version"],
        ]
        #expect(statuses[code.status]?.contains(code.rawValue) == true)
        #expect(code.statuses == (code == .unknownController ? [422, 404] : [code.status]))
        #expect(!code.title.isEmpty)
    }

    @Test(arguments: Problem.Code.allCases)
    func `a problem is told as RFC 9457 has it, whatever it is`(code: Problem.Code) throws {
        let retry = [429, 503].contains(code.status) ? 7 : nil
        let exchange = RecordingExchange()
        let request = Request(method: "POST", path: "/x", headers: DictionaryHeaders(fields: [:]))
        let problem = Problem(code, "A \"sentence\".", field: "a\"b", retryAfter: retry)

        try Service().router.refuse(request, exchange, problem)

        let answer = try exchange.answer()
        #expect(answer.response.contentType?.rawValue == "application/problem+json; charset=utf-8")
        #expect(answer.code == code.rawValue)
        #expect(answer.body["title"] == .string(code.title))
        #expect(answer.body["detail"] == "A \"sentence\".")
        #expect(answer.field == "a\"b")
        #expect(answer.body["retryAfter"]?.number == retry.map(Double.init))
        #expect(answer.headers("WWW-Authenticate") == (code.status == 401 ? ["Arbiter-Session"] : []))
    }

    @Test func `a wrong token is refused and changes nothing`() throws {
        let service = try Service()
        let holder = try service.started()
        service.pass(.seconds(4))
        let body = #"{"id": "\#(holder.id)", "token": "00000000000000000000000000000000"}"#
        for target in ["end", "renew", "await"] {
            let answer = try service.ask("POST", "/transitions/\(target)", body)
            problem(answer, 403, "wrong-token")
            #expect(answer.field == "token")
        }
        let seen = try service.ask("GET", "/transitions/\(holder.id)").body
        #expect(seen["state"] == "running")
        #expect(seen["leaseRemaining"] == 6)
    }

    @Test func `a token may be written in capitals`() throws {
        let service = try Service()
        let holder = try service.started()
        let body = #"{"id": "\#(holder.id)", "token": "\#(holder.token.uppercased())"}"#
        #expect(try service.ask("POST", "/transitions/end", body).status == 200)
    }

    @Test(arguments: ["t-0000000000000", "t-0000000000001"])
    func `a transition that nobody knows is not found`(id: String) throws {
        let service = try Service()
        let holder = try service.started()
        let body = #"{"id": "\#(id)", "token": "\#(holder.token)"}"#
        for target in ["end", "renew", "await"] {
            problem(try service.ask("POST", "/transitions/\(target)", body), 404, "unknown-transition")
        }
        problem(try service.ask("GET", "/transitions/await?id=\(id)"), 404, "unknown-transition")
        #expect(try service.shown(holder)["state"] == "running")
    }

    @Test(arguments: [
        ("", #""outcome": "cancelled""#, "completed"), (#""outcome": "cancelled""#, "", "cancelled"),
    ])
    func `another end than the first is refused with what was first`(first: String, other: String, outcome: String)
        throws
    {
        let service = try Service()
        let holder = try service.started()
        try service.ask("POST", "/transitions/end", holder.acting(first))

        let answer = try service.ask("POST", "/transitions/end", holder.acting(other))

        problem(answer, 409, "already-ended")
        #expect(answer.body["transition"]?["id"] == .string(holder.id))
        #expect(answer.body["transition"]?["outcome"] == .string(outcome))
        problem(try service.ask("POST", "/transitions/renew", holder.acting()), 409, "already-ended")
    }

    @Test func `another end than the one remembered for a ticket is refused`() throws {
        let service = try Service()
        try service.started()
        let ticket = try service.serialized()
        try service.ask("POST", "/transitions/end", ticket.acting())

        let answer = try service.ask("POST", "/transitions/end", ticket.acting(#""outcome": "cancelled""#))

        problem(answer, 409, "already-ended")
        #expect(answer.body["transition"]?["state"] == "queued")
    }

    @Test func `what ended without its owner is gone, and says why`() throws {
        let service = try Service()
        let holder = try service.started()
        service.pass(.seconds(10))
        for target in ["end", "renew"] {
            let answer = try service.ask("POST", "/transitions/\(target)", holder.acting())
            problem(answer, 410, "expired")
            #expect(answer.body["transition"]?["outcome"] == "expired")
            #expect(answer.body["transition"]?["reason"] == "lease")
        }
        #expect(try service.ask("POST", "/transitions/await", holder.acting()).body["reason"] == "lease")
    }

    @Test func `a scene's queue has an end`() throws {
        var limits = Limits()
        limits.queuedPerScene = 2
        let service = try Service(limits: limits)
        for _ in 0..<3 { try service.serialized() }
        problem(try service.ask("POST", "/transitions/serialize"), 429, "queue-full")
        problem(try service.ask("POST", "/transitions/serialize", #"{"wait": 60}"#), 429, "queue-full")
        #expect(try service.ask("POST", "/transitions/serialize", #"{"scene": "other"}"#).status == 201)
        #expect(try service.ask("GET", "/scenes/main").body["limits"]?["queued"] == 2)
    }

    @Test func `what the journal does not take in one piece is refused, and changes nothing`() throws {
        var limits = Limits()
        limits.recordBytes = 400
        let service = try Service(limits: limits)
        #expect(try service.declared().status == 200)
        let types = (0..<20).map { #"{"name": "type-\#($0)", "duration": 1}"# }.joined(separator: ", ")
        let large = #"{"root": "other", "transitionTypes": [\#(types)]}"#
        problem(try service.declared(large), 413, "body-too-large")
        let changes = (0..<20).map { #""type-\#($0)": {"duration": 1}"# }.joined(separator: ", ")
        let patch = #"{"transitionTypes": {\#(changes)}}"#
        problem(try service.ask("PATCH", "/scenes/main/storyboard", patch), 413, "body-too-large")
        #expect(try service.ask("GET", "/scenes/main").body["revision"] == 1)
        #expect(try service.ask("GET", "/scenes/main/storyboard").body["root"]?["id"] == "tabs")
    }

    @Test func `there is an end to the unfinished transitions`() throws {
        var limits = Limits()
        limits.unfinished = 1
        let service = try Service(limits: limits)
        try service.started()
        problem(try service.ask("POST", "/transitions/serialize"), 429, "too-many-transitions")
        problem(try service.ask("POST", "/transitions/start", #"{"scene": "x"}"#), 429, "too-many-transitions")
    }

    @Test func `there is an end to the scenes`() throws {
        var limits = Limits()
        limits.scenes = 1
        let service = try Service(limits: limits)
        let holder = try service.started()
        problem(try service.ask("POST", "/transitions/start", #"{"scene": "x"}"#), 429, "too-many-scenes")
        try service.ask("POST", "/transitions/end", holder.acting())
        #expect(try service.ask("POST", "/transitions/start", #"{"scene": "x"}"#).status == 201)
    }

    @Test func `who is in the way is named by its ticket where nobody runs with a name`() throws {
        let service = try Service()
        let holder = try service.started()
        let answer = try service.ask("POST", "/transitions/start")
        #expect(answer.body["holder"]?["client"] == nil)
        #expect(answer.body["detail"]?.text?.contains(holder.id) == true)
        #expect(answer.body["transition"] == nil)
    }

    @Test func `of many in the way eight are named`() throws {
        let service = try Service()
        let holder = try service.started()
        for _ in 0..<20 { try service.serialized() }
        let answer = try service.ask("POST", "/transitions/start")
        #expect(answer.body["blockers"]?.elements.count == 8)
        #expect(answer.body["blockers"]?[0] == .string(holder.id))
    }
}
