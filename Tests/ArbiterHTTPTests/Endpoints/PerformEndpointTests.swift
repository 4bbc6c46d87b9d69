import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// `/transitions/perform`.
struct PerformEndpointTests {
    private let service: Service

    init() throws {
        service = try Service(tellsEvents: true)
        try service.declared()
    }

    private static let push = #""operation": {"type": "push", "navigation": "nav", "controller": "editor"}"#

    private func perform(_ owner: Owned, _ more: String = push) throws -> Answer {
        try service.ask("POST", "/transitions/perform", owner.acting(more))
    }

    @Test func `the answer says what the operation will have done, and an event that it is there`() throws {
        let owner = try service.started()
        let performed = try perform(owner)
        #expect(performed.status == 200)
        #expect(performed.body["operation"]?["controller"] == ["id": "editor", "kind": "view"])
        #expect(performed.body["animation"]?["reversed"] == false)
        #expect(performed.body["inserted"] == ["editor"])
        #expect(performed.body["removed"] == [])
        #expect(performed.body.names.isDisjoint(with: ["noop", "token"]))
        #expect(try perform(owner).body["inserted"] == ["editor"])
        let shown = try service.shown(owner)
        #expect(shown["operation"] == performed.body["operation"])
        #expect(shown.names.isDisjoint(with: ["inserted", "removed"]), "nothing has changed yet")
        #expect(try service.ended(owner).body["inserted"] == ["editor"])
        service.hub.settle()
        let events = try service.following("/scenes/main/events?since=0").events().map(\.name)
        #expect(
            events == [
                "hierarchy.changed", "transition.running", "transition.updated", "controller.willDisappear",
                "controller.willAppear",
                "hierarchy.changed", "controller.didDisappear", "controller.didAppear", "transition.ended",
            ])
    }

    @Test func `what would change nothing is answered so, and does not count`() throws {
        let owner = try service.started()
        let noop = try perform(owner, #""operation": {"type": "pop", "navigation": "nav"}"#)
        #expect(noop.status == 200 && noop.body["noop"] == true)
        #expect(noop.body.names.isDisjoint(with: ["operation", "inserted", "removed"]))
        #expect(try perform(owner).status == 200)
        let second = try perform(owner, #""operation": {"type": "pop", "navigation": "nav"}"#)
        #expect(second.status == 409 && second.code == "already-performed")
        #expect(second.body["transition"]?["operation"]?["type"] == "push")
    }

    @Test func `what is refused changes nothing, and says why`() throws {
        let ticket = try { (_: Owned) in try service.serialized() }(service.started(#"{"scope": ["list"]}"#))
        #expect(try perform(ticket).code == "not-running")
        let owner = try service.started(#"{"scene": "other"}"#)
        #expect(try perform(owner, "").field == "operation")
        #expect(try perform(owner).code == "unknown-controller")
        let expecting = #"\#(Self.push), "expect": {"controller": "nav", "is": "exists"}"#
        #expect(try perform(owner, expecting).code == "expectation-failed")
        #expect(try perform(owner, #"\#(Self.push), "wait": 1"#).code == "unknown-field")
        #expect(try service.ended(owner).status == 200)
        #expect(try perform(owner).code == "already-ended")
    }

    @Test func `what the transition does not hold it cannot touch`() throws {
        let owner = try service.started(#"{"scope": ["list"]}"#)
        let answer = try perform(owner)
        #expect(answer.status == 422 && answer.code == "outside-scope" && answer.field == "operation")
    }
}
