import Testing

@testable import ArbiterHTTP

/// Operations in requests, and their effects in answers.
struct OperationEndpointsTests {
    private let service: Service

    init() throws {
        service = try Service()
        try service.declared()
    }

    private static let push = #""operation": {"type": "push", "navigation": "nav", "controller": "editor"}"#

    @Test func `a push is granted with all that its owner needs, and tells what it did`() throws {
        let push = try service.started(#"{\#(Self.push), "scope": "operation", "animation": {"type": "star"}}"#)
        let granted = push.answer
        #expect(granted.status == 201)
        #expect(granted.body["scope"] == "operation")
        let operation: JSON = [
            "type": "push", "navigation": "nav", "controller": ["id": "editor", "kind": "view"],
        ]
        #expect(granted.body["operation"] == operation)
        let animation: JSON = [
            "type": "star", "duration": 1, "curve": "linear", "completionSpeed": 1, "reversed": false,
            "direction": "forward",
        ]
        #expect(granted.body["animation"] == animation)
        #expect(granted.body["requestedRevision"] == 1)
        #expect(granted.body["revision"] == 1)
        let beginning: [JSON] = [
            ["controller": "list", "event": "willDisappear"], ["controller": "editor", "event": "willAppear"],
        ]
        #expect(granted.body["appearance"] == .array(beginning))
        let absent: Set = ["noop", "inserted", "removed", "presenter", "expect", "onExpiry", "code"]
        #expect(granted.body.names.isDisjoint(with: absent))
        #expect(try service.hierarchy()?["children"]?[0]?["children"] == [["id": "list", "kind": "view"]])

        let ended = try service.ended(push)
        #expect(ended.status == 200)
        #expect(ended.body["operation"] == operation)
        #expect(ended.body["animation"] == animation)
        #expect(ended.body["requestedRevision"] == 1)
        #expect(ended.body["revision"] == 2)
        #expect(ended.body["inserted"] == ["editor"])
        #expect(ended.body["removed"] == [])
        let end: [JSON] = [
            ["controller": "list", "event": "didDisappear"], ["controller": "editor", "event": "didAppear"],
        ]
        #expect(ended.body["appearance"] == .array(beginning + end))
        #expect(try service.ask("GET", "/transitions/\(push.id)").body == ended.body)

        let stack = try service.hierarchy()?["children"]?[0]?["children"]
        #expect(
            stack == [
                ["id": "list", "kind": "view"], ["id": "editor", "kind": "view", "introTransitionType": "star"],
            ])
        let storyboard = try service.ask("GET", "/scenes/main/storyboard")
        #expect(storyboard.headers("ETag") == ["\"2\""])
        #expect(storyboard.body["root"]?["children"]?[0]?["children"] == stack)
    }

    @Test func `a cancelled push changes nothing, and tells its views so`() throws {
        let push = try service.started("{\(Self.push)}")
        let ended = try service.ask("POST", "/transitions/end", push.acting(#""outcome": "cancelled""#))
        #expect(ended.body["revision"] == 1)
        #expect(ended.body.names.isDisjoint(with: ["inserted", "removed", "noop"]))
        #expect(
            ended.body["appearance"]?.elements.map { $0["event"]?.text } == [
                "willDisappear", "willAppear", "willDisappear", "didDisappear", "willAppear", "didAppear",
            ])
        #expect(try service.hierarchy()?["children"]?[0]?["children"]?.elements.count == 1)
    }

    @Test func `a pop goes back as its controller came`() throws {
        try service.ended(try service.started(#"{\#(Self.push), "animation": {"type": "star"}}"#))
        let pop = try service.started(#"{"operation": {"type": "pop", "navigation": "nav"}}"#)
        #expect(
            pop.answer.body["animation"] == [
                "type": "star", "duration": 1, "curve": "linear", "completionSpeed": 1, "reversed": true,
                "direction": "backward",
            ])
        let ended = try service.ended(pop)
        #expect(ended.body["inserted"] == [])
        #expect(ended.body["removed"] == ["editor"])
        #expect(ended.body["revision"] == 3)
    }

    @Test func `a presentation names who really presents`() throws {
        let sheet = #"{"id": "sheet", "presentationStyle": "pageSheet"}"#
        let present = try service.started(
            #"{"operation": {"type": "present", "presenter": "list", "controller": \#(sheet)}}"#)
        #expect(present.answer.body["presenter"] == "tabs")
        #expect(try service.ended(present).body["presenter"] == "tabs")
        #expect(try service.hierarchy()?["presented"]?["id"] == "sheet")
    }

    @Test(arguments: ["start", "serialize"])
    func `what would do nothing is over at once, and says so`(verb: String) throws {
        let body = #"{"operation": {"type": "pop", "navigation": "nav"}}"#
        let answer = try service.ask("POST", "/transitions/\(verb)", body)
        #expect(answer.status == 200)
        #expect(answer.body["outcome"] == "completed")
        #expect(answer.body["noop"] == true)
        let absent: Set = ["fence", "grantedAt", "revision", "requestedRevision", "inserted", "removed", "animation"]
        #expect(answer.body.names.isDisjoint(with: absent))
        #expect(answer.body["token"] != nil)
        #expect(try service.ask("GET", "/scenes/main").body["runningCount"] == 0)
    }

    @Test func `a selection shows empty lists of what came and went`() throws {
        let ended = try service.ended(
            try service.started(#"{"operation": {"type": "select", "tabs": "tabs", "index": 1}}"#))
        #expect(ended.body["inserted"] == [])
        #expect(ended.body["removed"] == [])
        #expect(try service.hierarchy()?["selected"] == 1)
    }

    @Test func `a bare lock shows its revisions and nothing more of the hierarchy`() throws {
        let granted = try service.started()
        #expect(granted.answer.body["requestedRevision"] == 1)
        #expect(granted.answer.body["revision"] == 1)
        let hierarchical: Set = [
            "operation", "animation", "presenter", "expect", "onExpiry", "noop", "inserted", "removed", "appearance",
        ]
        #expect(granted.answer.body.names.isDisjoint(with: hierarchical))
        let ended = try service.ended(granted)
        #expect(ended.body.names.isDisjoint(with: hierarchical))
        #expect(ended.body["revision"] == 1)
        let ticket = try service.serialized()
        _ = try service.serialized()
        #expect(ticket.answer.body["revision"] == 1)
        #expect(try service.transitions()[2].names.isDisjoint(with: ["revision", "requestedRevision"]))
    }

    @Test func `an owner sees that the hierarchy changed while it waited`() throws {
        let push = try service.started("{\(Self.push)}")
        let ticket = try service.serialized()
        try service.ended(push)
        let granted = try service.ask("GET", "/transitions/\(ticket.id)")
        #expect(granted.body["requestedRevision"] == 1)
        #expect(granted.body["revision"] == 2)
    }

    @Test func `an animation is settled by the request first, and its info comes back as it was`() throws {
        let animation = """
            {"type": "star", "duration": 0.125, "curve": "easeIn", "completionSpeed": 2.5, "reversed": true,
             "direction": "forward", "userInfo": {"a": [1, null, "ü"]}}
            """
        let granted = try service.started(#"{"animation": \#(animation)}"#)
        #expect(granted.answer.body["animation"] == (try JSON(Array(animation.utf8))))
    }

    @Test func `an operation whose lease runs out is applied where that was asked for`() throws {
        let push = try service.started(#"{\#(Self.push), "onExpiry": "complete"}"#)
        #expect(push.answer.body["onExpiry"] == "complete")
        service.pass(.seconds(10))
        let ended = try service.ask("GET", "/transitions/\(push.id)")
        #expect(ended.body["outcome"] == "expired")
        #expect(ended.body["reason"] == "lease")
        #expect(ended.body["inserted"] == ["editor"])
        #expect(ended.body["revision"] == 2)
    }

    @Test func `an operation whose lease runs out is discarded otherwise`() throws {
        let push = try service.started(#"{\#(Self.push), "onExpiry": "discard"}"#)
        #expect(push.answer.body["onExpiry"] == nil)
        service.pass(.seconds(10))
        #expect(try service.ask("GET", "/transitions/\(push.id)").body["inserted"] == nil)
    }

    @Test func `scopes that have nothing in common run side by side`() throws {
        let list = try service.started(#"{"scope": ["nav"]}"#)
        #expect(list.answer.body["scope"] == ["nav"])
        let pushed = #"{"type": "push", "navigation": "more", "controller": "about"}"#
        #expect(try service.started(#"{"scope": "operation", "operation": \#(pushed)}"#).answer.status == 201)
        #expect(try service.ask("POST", "/transitions/start", #"{"scope": ["list"]}"#).code == "busy")
        #expect(try service.ask("POST", "/transitions/start", #"{"scope": ["tabs"]}"#).code == "busy")
        #expect(try service.ask("POST", "/transitions/start").body["blockers"]?.elements.count == 2)
    }
}
