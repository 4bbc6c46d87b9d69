import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// The same number is the same event, also when it is sent again after a restart.
struct ReplayedEventsTests {
    private let before: Service

    init() throws {
        before = try Service()
        try before.declared()
    }

    /// What a restarted daemon sends from the journal is what was sent, byte for byte.
    private func checkReplay(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let after = try Service(journal: before.journal, time: before.time)
        let sent = before.told.all.filter { $0.number != nil }
        let again = after.told.all.prefix(sent.count)
        for (first, second) in zip(sent, again) {
            for topic in [EventTopic.scene(first.scene), .allScenes] {
                let (bytes, repeated) = (EventJSON.encode(first, in: topic), EventJSON.encode(second, in: topic))
                let texts = (String(decoding: bytes, as: UTF8.self), String(decoding: repeated, as: UTF8.self))
                #expect(texts.0 == texts.1, sourceLocation: sourceLocation)
                #expect(!texts.0.contains("Remaining"), sourceLocation: sourceLocation)
            }
        }
        #expect(again.count == sent.count && sent.count > 2, sourceLocation: sourceLocation)
    }

    @Test func `a lease that was renewed`() throws {
        let holder = try before.started(#"{"leaseSeconds": 3}"#)
        before.pass(.seconds(2))
        try before.ask("POST", "/transitions/renew", holder.acting())
        before.pass(.milliseconds(2_996))
        try before.serialized(#"{"ticketSeconds": 1, "queueSeconds": 60}"#)
        before.pass(.seconds(1))
        try checkReplay()
    }

    @Test func `a ticket whose owner waits, and its grant`() throws {
        let holder = try before.started()
        let parked = before.send("POST", "/transitions/serialize", #"{"wait": 60, "client": "waiter"}"#)
        let behind = try before.serialized(#"{"queueSeconds": 30}"#)
        before.pass(.seconds(1))
        try before.ask("POST", "/transitions/end", behind.acting(#""outcome": "completed""#))
        before.pass(.seconds(1))
        try before.ended(holder)
        let granted = try Owned(try parked.answer())
        before.pass(.seconds(1))
        try before.ended(granted)
        try checkReplay()
    }

    @Test func `a gesture with its finger`() throws {
        let drag = #"{"interactive": true, "operation": {"type": "segue", "source": "list", "identifier": "edit"}}"#
        let dragged = try before.started(drag)
        before.pass(.seconds(3))
        try before.ask("POST", "/transitions/progress", dragged.acting(#""fraction": 0.7, "velocity": 2"#))
        before.pass(.seconds(3))
        try before.ask("POST", "/transitions/release", dragged.acting())
        before.pass(.milliseconds(125))
        try before.ended(dragged)
        let lost = try before.started(#"{"interactive": true, "onExpiry": "complete"}"#)
        try before.ask("POST", "/transitions/progress", lost.acting(#""fraction": 0.2"#))
        before.pass(.seconds(10))
        #expect(try before.shown(lost)["outcome"] == "expired")
        try checkReplay()
    }

    @Test func `an operation for what runs`() throws {
        let owner = try before.started()
        before.pass(.seconds(3))
        let operation = #""operation": {"type": "segue", "source": "list", "identifier": "edit"}"#
        try before.ask("POST", "/transitions/perform", owner.acting(operation))
        before.pass(.seconds(1))
        try before.ended(owner)
        try checkReplay()
    }

    @Test func `participants, and a session that is lost`() throws {
        let session = try before.opened(#"{"client": "master", "ttlSeconds": 20}"#)
        let prepared = try before.started(#"{"participants": ["master", "late"], "readySeconds": 5}"#)
        before.pass(.seconds(1))
        try before.ask(
            "POST", "/transitions/ready", #"{"id": "\#(prepared.id)", "client": "master"}"#, headers: session.headers)
        try before.serialized(in: session)
        before.pass(.seconds(5))
        #expect(try before.shown(prepared)["state"] == "running")
        before.pass(.seconds(20))
        try checkReplay()
    }

    @Test func `tickets that replace one another, and one that is taken`() throws {
        let holder = try before.started()
        for _ in 0..<3 { try before.serialized(#"{"coalesce": {"key": "selection"}}"#) }
        before.pass(.seconds(1))
        try before.ask("POST", "/transitions/revoke", #"{"id": "\#(holder.id)", "reason": "it hangs"}"#)
        before.pass(.seconds(10))
        try checkReplay()
    }
}
