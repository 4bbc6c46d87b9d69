import Testing

@testable import ArbiterHTTP

/// `whenBusy` and `interruptible`, of requests and of scenes.
struct InterruptionEndpointsTests {
    private let service: Service

    init() throws { service = try Service() }

    private static let consent = #"{"interruptible": {"by": "higher", "graceSeconds": 5, "as": "completed"}}"#

    @Test func `an interruption shows for whom a transition ends, and when`() throws {
        let holder = try service.started(Self.consent)
        #expect(holder.answer.body["interruptible"]?["by"] == "higher")
        #expect(holder.answer.body["interruptible"]?["graceSeconds"] == 5)
        let urgent = try service.serialized(#"{"client": "alarm", "priority": 1, "whenBusy": "interrupt"}"#)
        #expect(urgent.answer.status == 202 && urgent.answer.body["whenBusy"] == "interrupt")
        let shown = try service.shown(holder)
        #expect(shown["interruption"]?["by"]?.text == urgent.id && shown["interruption"]?["client"] == "alarm")
        #expect(shown["interruption"]?["graceRemaining"] != nil)
        let performed = try service.ask(
            "POST", "/transitions/perform",
            #"{"id": "\#(holder.id)", "token": "\#(holder.token)", "operation": {"type": "setRoot", "controller": "a"}}"#
        )
        #expect(performed.status == 409 && performed.body["code"] == "interrupted")
        try service.ended(holder)
        #expect(try service.shown(holder)["interruption"] == nil && service.shown(holder)["reason"] == nil)
        #expect(try service.shown(urgent)["state"] == "running")
    }

    @Test func `without a grace it ends at once, with its reason`() throws {
        let holder = try service.started(#"{"interruptible": {"by": "equal", "graceSeconds": 0}}"#)
        let newest = try service.serialized(#"{"whenBusy": "interrupt"}"#)
        #expect(newest.answer.status == 201)
        let ended = try service.shown(holder)
        #expect(ended["outcome"] == "cancelled" && ended["reason"] == "interrupted")
        #expect(ended["interruptedBy"]?.text == newest.id)
        let again = try service.ask(
            "POST", "/transitions/end", #"{"id": "\#(holder.id)", "token": "\#(holder.token)", "outcome": "completed"}"#
        )
        #expect(again.status == 409 && again.body["code"] == "already-ended")
        #expect(again.body["transition"]?["interruptedBy"]?.text == newest.id && again.body["applied"] == false)
    }

    @Test func `a dry run says whom it would interrupt`() throws {
        func dryRun(_ body: String) throws -> JSON {
            try service.ask("POST", "/transitions/serialize?dryRun=true", body).body
        }
        let holder = try service.started(Self.consent)
        let waiting = try dryRun(#"{"priority": 1, "whenBusy": "interrupt"}"#)
        #expect(waiting["wouldRun"] == false && waiting["reason"] == "busy")
        #expect(waiting["wouldInterrupt"]?.elements.map(\.text) == [holder.id])
        #expect(waiting["blockers"]?.elements.map(\.text) == [holder.id])
        #expect(try dryRun(#"{"priority": 1}"#)["wouldInterrupt"] == nil)
        try service.ended(holder)
        let yielding = try service.started(#"{"interruptible": {"by": "higher", "graceSeconds": 0}}"#)
        let immediate = try dryRun(#"{"priority": 1, "whenBusy": "interrupt"}"#)
        #expect(immediate["wouldRun"] == true && immediate["blockers"]?.elements.isEmpty == true)
        #expect(immediate["wouldInterrupt"]?.elements.map(\.text) == [yielding.id])
    }

    @Test func `a scene has a default, which a patch changes, and false or null take back`() throws {
        func shown() throws -> JSON? {
            try service.ask("GET", "/scenes/main/storyboard").body["defaults"]?["interruptible"]
        }
        try service.ask("PUT", "/scenes/main/storyboard", #"{"defaults": {"interruptible": {"by": "equal"}}}"#)
        #expect(try shown()?["graceSeconds"] == 0.5 && shown()?["as"] == "cancelled")
        #expect(try service.started().answer.body["interruptible"]?["by"] == "equal")
        for taken in ["false", "null"] {
            for (patch, by) in [(#"{"by": "higher"}"#, "higher"), (taken, nil)] as [(String, String?)] {
                let answer = try service.ask(
                    "PATCH", "/scenes/main/storyboard", #"{"defaults": {"interruptible": \#(patch)}}"#)
                #expect(answer.status == 200)
                #expect(try shown()?["by"]?.text == by)
            }
        }
        for wrong in ["true", "1", #""higher""#, "[]"] {
            let answer = try service.ask(
                "PATCH", "/scenes/main/storyboard", #"{"defaults": {"interruptible": \#(wrong)}}"#)
            #expect(answer.status == 400 && answer.field == "defaults.interruptible", "\(wrong)")
        }
    }

    @Test func `a request says by whom, and how`() throws {
        let wrong = [
            (#"true"#, "interruptible"), (#"{}"#, "interruptible.by"), (#"{"by": "lower"}"#, "interruptible.by"),
            (#"{"by": "higher", "graceSeconds": 10.001}"#, "interruptible.graceSeconds"),
            (#"{"by": "higher", "as": "expired"}"#, "interruptible.as"),
            (#"{"by": "higher", "grace": 1}"#, "interruptible.grace"),
        ]
        for (value, field) in wrong {
            let answer = try service.ask("POST", "/transitions/start", #"{"interruptible": \#(value)}"#)
            #expect(answer.status == 400 && answer.field == field, "\(value)")
        }
        #expect(try service.ask("POST", "/transitions/start", #"{"whenBusy": "interrupt"}"#).field == "whenBusy")
        #expect(try service.ask("POST", "/transitions/serialize", #"{"whenBusy": "steal"}"#).field == "whenBusy")
        #expect(try service.ask("POST", "/transitions/start", #"{"interruptible": false}"#).status == 201)
    }
}
