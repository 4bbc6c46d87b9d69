import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

/// `maxPriority` of an entry bounds the priority of its clients.
struct HighestPriorityTests {
    private let service: Service

    init() throws {
        let access = try AccessControl(
            """
            principals:
              - {name: kiosk, token: "\(SecretDigest(of: "kiosk"))", roles: [transition], scenes: "*"}
              - {name: alarm, token: "\(SecretDigest(of: "alarm"))", roles: [transition, design], scenes: "*", maxPriority: 9}
              - {name: slow, token: "\(SecretDigest(of: "slow"))", roles: [transition], scenes: "*", maxPriority: -1}
            """)
        service = try Service(access: access)
    }

    private func ask(
        _ principal: String, _ method: String, _ target: String, _ body: String, _ more: [HeaderName: String] = [:]
    ) throws -> Answer {
        try service.ask(
            method, target, body, headers: more.merging([.authorization: "Bearer \(principal)"]) { $1 })
    }

    /// The priority of a new transition; `nil` if it is forbidden.
    private func priority(_ principal: String, _ body: String = "{}") throws -> JSON? {
        let answer = try ask(principal, "POST", "/transitions/serialize", body)
        guard answer.status == 403 else { return answer.body["priority"] ?? 0 }
        #expect(answer.code == "forbidden" && answer.field == "priority")
        return nil
    }

    private func declareUrgentScene() throws {
        let declared = try ask(
            "alarm", "PUT", "/scenes/urgent/storyboard", #"{"root": "a", "defaults": {"priority": 20}}"#)
        #expect(declared.status == 200)
    }

    @Test func `a request for more is forbidden, and nothing is in the queue because of it`() throws {
        #expect(try priority("kiosk", #"{"priority": 1}"#) == nil)
        #expect(try priority("alarm", #"{"priority": 10}"#) == nil)
        #expect(try priority("slow", #"{"priority": 0}"#) == nil)
        #expect(service.engine.inspect { $0.counts.granted + $0.counts.queued } == 0)
        #expect(try priority("kiosk", #"{"priority": 0}"#) == 0)
        #expect(try priority("alarm", #"{"priority": 9}"#) == 9)
        #expect(try priority("slow", #"{"priority": -2}"#) == -2)
    }

    @Test func `a default is lowered to what the client may have`() throws {
        #expect(try priority("slow") == -1)
        try declareUrgentScene()
        for (principal, expected) in [("kiosk", 0), ("alarm", 9), ("slow", -1)] as [(String, JSON)] {
            #expect(try priority(principal, #"{"scene": "urgent"}"#) == expected)
        }
    }

    @Test func `the same key leads to the same transition, whatever the bound does`() throws {
        let key = [HeaderName.idempotencyKey: "0123456789abcdef"]
        func asked() throws -> JSON? {
            try ask("kiosk", "POST", "/transitions/serialize", #"{"scene": "urgent"}"#, key).body["id"]
        }
        let before = try asked()
        #expect(before != nil)
        #expect(try asked() == before)
    }
}
