import Testing

@testable import ArbiterHTTP

/// `/transitions/progress` and `/transitions/release`.
struct GestureEndpointsTests {
    private let service: Service
    private static let interactive = #"{"interactive": true, "animation": {"duration": 2, "completionSpeed": 4}}"#

    init() throws {
        service = try Service()
    }

    @discardableResult
    private func progress(_ owner: Owned, _ more: String) throws -> Answer {
        try service.ask("POST", "/transitions/progress", owner.acting(more))
    }

    @discardableResult
    private func release(_ owner: Owned, _ more: String = "") throws -> Answer {
        try service.ask("POST", "/transitions/release", owner.acting(more))
    }

    // MARK: Requests

    @Test func `an interactive transition says so, and what decides it`() throws {
        let owner = try service.started(Self.interactive)
        #expect(owner.answer.body["interactive"] == true)
        #expect(owner.answer.body["policy"] == ["by": "fraction", "threshold": 0.5])
        #expect(owner.answer.body["interaction"] == ["phase": "began"])
        #expect(owner.answer.body["animation"]?["duration"] == 2)
        let plain = try service.started(#"{"scene": "other", "interactive": false}"#)
        #expect(plain.answer.body.names.isDisjoint(with: ["interactive", "policy", "interaction"]))
    }

    @Test(arguments: [
        (#"{"by": "fraction"}"#, #"{"by": "fraction", "threshold": 0.5}"#),
        (#"{"threshold": 0, "by": "fraction"}"#, #"{"by": "fraction", "threshold": 0}"#),
        (#"{"by": "fraction", "threshold": 1.0}"#, #"{"by": "fraction", "threshold": 1}"#),
        (#"{"by": "velocity"}"#, #"{"by": "velocity"}"#),
    ])
    func `a policy is shown as it was asked, with its default said`(asked: String, shown: String) throws {
        let owner = try service.started(#"{"interactive": true, "policy": \#(asked)}"#)
        #expect(try owner.answer.body["policy"] == JSON(Array(shown.utf8)))
    }

    // MARK: Ending

    @Test(arguments: [("finish", "completed", "cancelled"), ("cancel", "cancelled", "completed")])
    func `an end without an outcome does as the gesture was decided`(
        decision: String, outcome: String, other: String
    ) throws {
        let owner = try service.started(Self.interactive)
        #expect(try release(owner, #""decision": "\#(decision)""#).status == 200)
        let refused = try service.ask("POST", "/transitions/end", owner.acting(#""outcome": "\#(other)""#))
        #expect(refused.status == 409)
        #expect(refused.code == "already-decided")
        #expect(
            refused.body["detail"]?.text
                == #"The gesture of \#(owner.id) was decided as "\#(decision)"; end it without an outcome, "#
                + #"or with "\#(outcome)"."#)
        let ended = try service.ended(owner)
        #expect(ended.status == 200)
        #expect(ended.body["outcome"]?.text == outcome)
        #expect(try service.ended(owner).body["outcome"]?.text == outcome)
    }

    // MARK: Progress

    @Test func `progress answers whether it counted, with the transition`() throws {
        let owner = try service.started(Self.interactive)
        service.pass(.seconds(9))
        let answer = try progress(owner, #""fraction": 0.4, "velocity": -1.5, "sequence": 7"#)
        #expect(answer.status == 200)
        #expect(answer.body["applied"] == true)
        #expect(answer.body["id"]?.text == owner.id)
        #expect(answer.body["leaseRemaining"] == 10, "it is a word of the owner")
        #expect(answer.body["interaction"] == ["phase": "changing", "fraction": 0.4, "velocity": -1.5])
        let late = try progress(owner, #""fraction": 0.9, "sequence": 7"#)
        #expect(late.body["applied"] == false)
        #expect(late.body["interaction"] == ["phase": "changing", "fraction": 0.4, "velocity": -1.5])
        #expect(try service.shown(owner)["interaction"] == late.body["interaction"])
    }

    @Test(arguments: [("-0.5", 0.0), ("0", 0), ("-0", 0), ("1", 1), ("1.0000001", 1), ("1e308", 1), ("0.25e0", 0.25)])
    func `a fraction beyond its range counts as the nearer end`(given: String, fraction: Double) throws {
        let owner = try service.started(Self.interactive)
        let moved = try progress(owner, #""fraction": \#(given)"#)
        #expect(moved.body["interaction"]?["fraction"]?.number == fraction)
        let released = try release(owner, #""fraction": \#(given), "decision": "finish""#)
        #expect(released.body["interaction"]?["fraction"]?.number == fraction)
    }

    @Test func `a finger may move before the grant, and what has none cannot be driven`() throws {
        let plain = try service.started()
        let answer = try progress(plain, #""fraction": 0.1"#)
        #expect(answer.status == 409 && answer.code == "not-interactive")
        let ticket = try service.serialized(Self.interactive)
        let queued = try progress(ticket, #""fraction": 0.1"#)
        #expect(queued.status == 200 && queued.body["applied"] == true)
        #expect(queued.body["state"] == "queued")
        #expect(queued.body["interaction"]?["fraction"] == 0.1)
        let preparing = try service.started(
            #"{"scene": "other", "interactive": true, "participants": ["somebody"]}"#)
        let waiting = try progress(preparing, #""fraction": 0.1"#)
        #expect(waiting.status == 200 && waiting.body["applied"] == true)
        #expect(waiting.body["state"] == "preparing")
    }

    @Test func `what is over cannot be driven, and says how it ended`() throws {
        let ended = try service.started(Self.interactive)
        #expect(try service.ended(ended).body["interaction"] == nil, "it was never decided")
        for answer in [try progress(ended, #""fraction": 0.1"#), try release(ended)] {
            #expect(answer.status == 409 && answer.code == "already-ended")
        }
        let expired = try service.started(Self.interactive)
        try release(expired, #""decision": "finish""#)
        service.pass(.seconds(10))
        for answer in [
            try progress(expired, #""fraction": 0.1"#), try release(expired),
            try release(expired, #""cancelled": true"#),
        ] {
            #expect(answer.status == 410 && answer.code == "expired")
            #expect(answer.body["transition"]?["reason"] == "lease")
        }
    }

    @Test(arguments: ["progress", "release"])
    func `only the owner drives`(action: String) throws {
        let owner = try service.started(Self.interactive)
        let fraction = action == "progress" ? #", "fraction": 0.1"# : ""
        let wrong = try service.ask(
            "POST", "/transitions/\(action)", #"{"id": "\#(owner.id)", "token": "\#(nobodysToken)"\#(fraction)}"#)
        #expect(wrong.status == 403 && wrong.code == "wrong-token" && wrong.field == "token")
        let unknown = try service.ask(
            "POST", "/transitions/\(action)", #"{"id": "t-0000000000001", "token": "\#(nobodysToken)"\#(fraction)}"#)
        #expect(unknown.status == 404 && unknown.code == "unknown-transition")
    }

    // MARK: Release

    @Test func `a release answers what was decided, and how much is left`() throws {
        let owner = try service.started(Self.interactive)
        try progress(owner, #""fraction": 0.6"#)
        let answer = try release(owner)
        #expect(answer.status == 200)
        #expect(answer.body["decision"] == "finish")
        #expect(answer.body["remaining"] == 0.2)
        #expect(
            answer.body["interaction"]
                == ["phase": "released", "fraction": 0.6, "decision": "finish", "remaining": 0.2])
        #expect(answer.body["state"] == "running", "an end is still needed")
        let ended = try service.ended(owner)
        #expect(ended.body["outcome"] == "completed")
        #expect(ended.body["interaction"] == answer.body["interaction"])
    }

    @Test(arguments: [
        ("", "cancel", 0.25), (#""fraction": 0.75"#, "finish", 0.125), (#""decision": "finish""#, "finish", 0.25),
        (#""decision": "cancel", "fraction": 0.75"#, "cancel", 0.375),
        (#""cancelled": true, "decision": "finish""#, "cancel", 0.25), (#""cancelled": false"#, "cancel", 0.25),
        (#""velocity": 100"#, "cancel", 0.25),
    ])
    func `a gesture is decided by what is said last and most clearly`(
        said: String, decision: String, remaining: Double
    ) throws {
        let owner = try service.started(Self.interactive)
        try progress(owner, #""fraction": 0.5"#)
        let answer = try release(owner, said)
        #expect(answer.body["decision"]?.text == decision)
        #expect(answer.body["remaining"]?.number == remaining)
    }

    @Test(arguments: [("", "finish"), (#""velocity": 0"#, "cancel"), (#""velocity": -1, "fraction": 1"#, "cancel")])
    func `a velocity decides where the policy says so`(said: String, decision: String) throws {
        let owner = try service.started(#"{"interactive": true, "policy": {"by": "velocity"}}"#)
        try progress(owner, #""fraction": 0.1, "velocity": 0.001"#)
        #expect(try release(owner, said).body["decision"]?.text == decision)
    }

    @Test func `a release of which nothing is known cancels`() throws {
        let owner = try service.started(Self.interactive)
        let answer = try release(owner)
        #expect(answer.body["decision"] == "cancel")
        #expect(answer.body["remaining"] == 0)
        #expect(answer.body["state"] == "running")
    }

    @Test func `the first decision stands, and an end may not contradict it`() throws {
        let owner = try service.started(Self.interactive)
        let first = try release(owner, #""decision": "finish", "fraction": 0.5"#)
        for repeated in ["", #""decision": "finish""#, #""fraction": 0.1"#] {
            let answer = try release(owner, repeated)
            #expect(answer.status == 200 && answer.body["remaining"] == first.body["remaining"])
        }
        for other in [
            try release(owner, #""decision": "cancel""#), try release(owner, #""cancelled": true"#),
            try progress(owner, #""fraction": 0.1"#),
            try service.ask("POST", "/transitions/end", owner.acting(#""outcome": "cancelled""#)),
        ] {
            #expect(other.status == 409 && other.code == "already-decided")
            #expect(other.body["transition"]?["interaction"]?["decision"] == "finish")
        }
        #expect(try service.ended(owner).body["outcome"] == "completed")
        #expect(try release(owner).body["decision"] == "finish", "what was answered stays true")
    }

    // MARK: The short gesture

    @Test func `a cancel before the grant takes the ticket out of the queue`() throws {
        try service.started()
        let ticket = try service.serialized(Self.interactive)
        let answer = try release(ticket, #""fraction": 0.4"#)
        #expect(answer.status == 200)
        #expect(answer.body["decision"] == "cancel")
        #expect(answer.body["remaining"] == nil)
        #expect(answer.body["outcome"] == "cancelled")
        #expect(try release(ticket).body["decision"] == "cancel", "the same again is fine")
        let other = try release(ticket, #""decision": "finish""#)
        #expect(other.status == 409 && other.code == "already-decided")
    }

    @Test func `a finish before the grant is remembered, and played from the start`() throws {
        let holder = try service.started()
        let waiting = service.send(
            "POST", "/transitions/serialize",
            #"{"interactive": true, "animation": {"duration": 2, "completionSpeed": 4}, "wait": 60}"#)
        let id = try #require(try service.transitions().last?["id"]?.text)
        let peeked = try service.ask("GET", "/transitions/\(id)").body
        #expect(peeked["interaction"] == ["phase": "possible"])
        try service.ended(holder)
        let first = try Owned(try waiting.answer())

        let ticket = try service.serialized(Self.interactive)
        let early = try release(ticket, #""fraction": 0.8"#)
        #expect(early.body["decision"] == "finish")
        #expect(early.body["remaining"] == nil)
        #expect(early.body["state"] == "queued")
        #expect(early.body["interaction"] == ["phase": "released", "fraction": 0, "decision": "finish"])
        try service.ended(first)
        let granted = try service.ask("POST", "/transitions/await", ticket.acting())
        #expect(granted.body["state"] == "running")
        #expect(
            granted.body["interaction"]
                == ["phase": "released", "fraction": 0, "decision": "finish", "remaining": 0.5])
        #expect(try progress(ticket, #""fraction": 0.1"#).code == "already-decided")
    }

    @Test func `a cancel cannot undo an end that is remembered`() throws {
        try service.started()
        let ticket = try service.serialized(Self.interactive)
        try service.ended(ticket)
        let answer = try release(ticket)
        #expect(answer.status == 409 && answer.code == "already-ended")
        #expect(try service.shown(ticket)["state"] == "queued")
    }
}
