import Testing

@testable import ArbiterHTTP

/// `priority`, of requests and of scenes.
struct PriorityEndpointsTests {
    private let service: Service

    init() throws { service = try Service() }

    @Test func `a higher priority is served first, and only one that is not 0 is shown`() throws {
        let holder = try service.started()
        let early = try service.serialized(#"{"priority": 0}"#)
        let urgent = try service.serialized(#"{"priority": 100}"#)
        let low = try service.serialized(#"{"priority": -1000}"#)
        #expect(holder.answer.body["priority"] == nil && early.answer.body["priority"] == nil)
        #expect(urgent.answer.body["priority"] == 100 && urgent.answer.body["position"] == 1)
        #expect(low.answer.body["priority"] == -1000 && low.answer.body["position"] == 3)
        #expect(try service.shown(early)["position"] == 2)
        let queue = try service.ask("GET", "/scenes/main").body["queue"]?.elements ?? []
        #expect(queue.map { $0["id"]?.text } == [urgent.id, early.id, low.id])
        try service.ended(holder)
        #expect(try service.shown(urgent)["state"] == "running")
        let refused = try service.ask("POST", "/transitions/start", #"{"priority": 1000}"#)
        #expect(refused.status == 409 && refused.body["blockers"]?.elements.map(\.text) == [urgent.id])
    }

    @Test func `a dry run says what a priority would come to`() throws {
        let holder = try service.started()
        _ = try service.serialized()
        func blockers(_ priority: Int) throws -> [String?]? {
            try service.ask("POST", "/transitions/start?dryRun=true", #"{"priority": \#(priority)}"#)
                .body["blockers"]?.elements.map(\.text)
        }
        #expect(try blockers(0)?.count == 2)
        #expect(try blockers(1) == [holder.id])
    }

    @Test func `a scene has a default, which a patch changes and null takes back`() throws {
        func shown() throws -> JSON? {
            try service.ask("GET", "/scenes/main/storyboard").body["defaults"]?["priority"]
        }
        try service.ask("PUT", "/scenes/main/storyboard", #"{"defaults": {"priority": 5}}"#)
        #expect(try shown() == 5)
        let holder = try service.started()
        #expect(holder.answer.body["priority"] == 5)
        #expect(try service.serialized(#"{"priority": 0}"#).answer.body["priority"] == nil)
        for (patch, expected) in [("-7", -7), ("null", nil)] as [(String, JSON?)] {
            let answer = try service.ask(
                "PATCH", "/scenes/main/storyboard", #"{"defaults": {"priority": \#(patch)}}"#)
            #expect(answer.status == 200)
            #expect(try shown() == expected)
        }
        for wrong in ["1.5", #""1""#, "1001", "true"] {
            let answer = try service.ask(
                "PATCH", "/scenes/main/storyboard", #"{"defaults": {"priority": \#(wrong)}}"#)
            #expect(answer.status == 400 && answer.field == "defaults.priority", "\(wrong)")
        }
    }
}
