import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

struct SceneAndHealthTests {
    @Test func `scenes are listed by name with their counts`() throws {
        let service = try Service()
        #expect(try service.ask("GET", "/scenes").body == ["scenes": []])
        try service.started(#"{"scene": "tv"}"#)
        try service.started()
        try service.serialized()
        try service.serialized()

        let answer = try service.ask("GET", "/scenes")

        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "scenes": [
                    ["name": "main", "revision": 0, "runningCount": 1, "queuedCount": 2],
                    ["name": "tv", "revision": 0, "runningCount": 1, "queuedCount": 0],
                ]
            ])
    }

    @Test func `a scene shows who runs, who waits, and what is allowed`() throws {
        let service = try Service()
        let holder = try service.started()
        let tickets = [try service.serialized(), try service.serialized()]

        let answer = try service.ask("GET", "/scenes/main")

        #expect(answer.status == 200)
        #expect(answer.body["name"] == "main")
        #expect(answer.body["running"]?.elements.map { $0["id"]?.text } == [holder.id])
        #expect(answer.body["queue"]?.elements.map { $0["id"]?.text } == tickets.map(\.id))
        #expect(answer.body["queue"]?.elements.map { $0["position"] } == [1, 2])
        #expect(
            answer.body["limits"] == [
                "queued": 10_000, "unfinished": 100_000, "sessions": 10_000, "claimSeconds": 5, "graceSeconds": 2,
                "leaseSeconds": 300, "ticketSeconds": 3600, "queueSeconds": 86_400, "readySeconds": 60,
                "ttlSeconds": 3600, "wait": 120,
            ])
    }

    @Test(arguments: ["nowhere", "%20", "a%2Fb"])
    func `a scene that is not there is not found`(name: String) throws {
        let answer = try Service().ask("GET", "/scenes/\(name)")
        #expect(answer.status == 404)
        #expect(answer.code == "unknown-scene")
    }

    @Test func `a healthy daemon is live and ready`() throws {
        let service = try Service()
        #expect(try service.ask("GET", "/livez").body == ["status": "live"])
        #expect(try service.ask("GET", "/readyz").body == ["status": "ready"])
    }

    @Test func `a daemon whose journal has failed is live and not ready`() throws {
        let journal = HeldJournal()
        let service = try Service(journal: journal)
        let waiting = service.send("POST", "/transitions/start")
        journal.fail(JournalError(reason: "The disk is full."))

        let ready = try service.ask("GET", "/readyz")
        #expect(ready.status == 503)
        #expect(ready.code == "journal-unavailable")
        #expect(ready.body["detail"] == "The disk is full.")
        #expect(try service.ask("GET", "/livez").status == 200)
        #expect(try waiting.answer().code == "journal-unavailable")
        for (method, target) in [
            ("POST", "/transitions/start"), ("POST", "/transitions/serialize"), ("GET", "/transitions"),
            ("GET", "/scenes"), ("GET", "/scenes/main"), ("GET", "/transitions/t-0000000000001"),
        ] {
            #expect(try service.ask(method, target).code == "journal-unavailable")
        }
    }

    @Test func `the description is served as it was written, and as JSON`() throws {
        let service = try Service()
        let yaml = try service.ask("GET", "/openapi.yaml")
        #expect(yaml.status == 200)
        #expect(yaml.response.contentType == .yaml)
        #expect(String(decoding: yaml.response.body, as: UTF8.self).contains("3.1.0"))
        let json = try service.ask("GET", "/openapi.json")
        #expect(json.status == 200)
        #expect(json.body["openapi"] == "3.1.0")
    }
}
