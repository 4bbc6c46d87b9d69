import ArbiterRelay
import Testing

@testable import ArbiterHTTP

/// `POST /transitions/revoke`, and what the owner gets afterwards.
struct RevokeEndpointTests {
    private let service: Service

    init() throws {
        service = try Service()
    }

    private func revoke(_ id: String, reason: String = "it hangs") throws -> Answer {
        try service.ask("POST", "/transitions/revoke", #"{"id": "\#(id)", "reason": "\#(reason)"}"#)
    }

    @Test func `anybody may revoke, and whoever waits is next`() throws {
        let holder = try service.started()
        let waiting = service.send("POST", "/transitions/serialize", #"{"wait": 60}"#)
        let answer = try revoke(holder.id)
        #expect(answer.status == 200)
        #expect(answer.body["state"] == "ended")
        #expect(answer.body["outcome"] == "revoked")
        #expect(answer.body["reason"] == "it hangs")
        #expect(answer.body["token"] == nil)
        #expect(try waiting.answer().body["state"] == "running")
    }

    @Test func `its owner is told at its next word`() throws {
        let holder = try service.started()
        _ = try revoke(holder.id)
        for path in ["end", "renew"] {
            let answer = try service.ask("POST", "/transitions/\(path)", holder.acting())
            #expect(answer.status == 410)
            #expect(answer.code == "revoked")
            #expect(answer.body["detail"]?.text?.contains("it hangs") == true)
            #expect(answer.body["transition"]?["outcome"] == "revoked")
        }
    }

    @Test func `revoking again is answered as before`() throws {
        let holder = try service.started()
        _ = try revoke(holder.id)
        let again = try revoke(holder.id, reason: "another")
        #expect(again.status == 200)
        #expect(again.body["reason"] == "it hangs")
    }

    @Test func `what is over by itself or by its owner is not revoked`() throws {
        let ended = try service.started()
        _ = try service.ended(ended)
        let answer = try revoke(ended.id)
        #expect(answer.status == 409)
        #expect(answer.code == "already-ended")
        let expired = try service.started()
        service.pass(.seconds(10))
        let gone = try revoke(expired.id)
        #expect(gone.status == 410)
        #expect(gone.code == "expired")
        #expect(try revoke("t-0000000000000").status == 404)
    }

    @Test(arguments: [
        Refusal(#"{"reason": "x"}"#, .missingField, "id"),
        Refusal(#"{"id": "t-7f3k9v0m2c5xq"}"#, .missingField, "reason"),
        Refusal(#"{"id": "t-7f3k9v0m2c5xq", "reason": ""}"#, .invalidField, "reason"),
        Refusal(#"{"id": "t-7f3k9v0m2c5xq", "reason": "a\nb"}"#, .invalidField, "reason"),
        Refusal(#"{"id": "x", "reason": "x"}"#, .invalidField, "id"),
        Refusal(#"{"id": "t-7f3k9v0m2c5xq", "reason": "x", "token": "x"}"#, .unknownField, "token"),
        Refusal("", .missingField, "id"),
    ])
    func `a revocation that is not one is refused`(refusal: Refusal) throws {
        try service.refuses(refusal, "/transitions/revoke")
    }

    @Test func `a superseded ticket answers with its own code`() throws {
        _ = try service.started()
        let older = try service.serialized(#"{"coalesce": {"key": "x"}}"#)
        _ = try service.serialized(#"{"coalesce": {"key": "x"}}"#)
        let answer = try service.ask("POST", "/transitions/renew", older.acting())
        #expect(answer.status == 410)
        #expect(answer.code == "superseded")
    }

    @Test func `all of a client in a scene end together`() throws {
        let holder = try service.started(#"{"client": "view", "note": "the display is cleaned"}"#)
        #expect(holder.answer.body["note"] == "the display is cleaned")
        #expect(try service.ask("POST", "/transitions/start").body["holder"]?["note"] == "the display is cleaned")
        let ticket = try service.serialized(#"{"client": "view"}"#)
        let other = try service.serialized(#"{"client": "other"}"#)
        let revoke = #"{"scene": "main", "client": "view", "reason": "it hangs"}"#
        let revoked = try service.ask("POST", "/transitions/revoke", revoke)
        #expect(revoked.status == 200 && revoked.body == ["revoked": [.string(holder.id), .string(ticket.id)]])
        #expect(try service.shown(other)["state"] == "running")
        for (body, code, field) in [
            (#"{"reason": "x"}"#, "missing-field", "id"),
            (#"{"client": "view", "reason": "x"}"#, "missing-field", "scene"),
            (#"{"scene": "main"}"#, "missing-field", "reason"),
            (#"{"id": "\#(other.id)", "scene": "main", "reason": "x"}"#, "invalid-field", "scene"),
        ] {
            let refused = try service.ask("POST", "/transitions/revoke", body)
            #expect(refused.code == code && refused.field == field)
        }
    }

    @Test func `an owner changes how its transition is animated`() throws {
        let owner = try service.started(#"{"animation": {"duration": 1, "curve": "linear"}}"#)
        let updated = try service.ask(
            "POST", "/transitions/update", owner.acting(#""animation": {"duration": 2, "userInfo": [1]}"#))
        #expect(updated.status == 200 && updated.body["animation"]?["duration"] == 2)
        #expect(updated.body["animation"]?["curve"] == "linear" && updated.body["animation"]?["userInfo"] == [1])
        let type = try service.ask("POST", "/transitions/update", owner.acting(#""animation": {"type": "star"}"#))
        #expect(type.code == "unknown-field" && type.field == "animation.type")
        #expect(try service.ask("POST", "/transitions/update", owner.acting()).field == "animation")
        try service.ended(owner)
        let late = try service.ask("POST", "/transitions/update", owner.acting(#""animation": {"duration": 2}"#))
        #expect(late.status == 409 && late.code == "already-ended")
    }
}
