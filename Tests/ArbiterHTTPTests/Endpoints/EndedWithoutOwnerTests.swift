import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// Acting on a transition that ended without its owner: 410 with the outcome, and whether the operation was applied.
struct EndedWithoutOwnerTests {
    private static let push = #""operation": {"type": "push", "navigation": "nav", "controller": "editor"}"#
    private let service: Service

    init() throws {
        service = try Service()
        try service.declared()
    }

    /// Every call with which an owner acts is refused in the same way.
    private func refuses(
        _ owned: Owned, _ code: String, applied: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try service.journal.records()
        for (verb, more) in [("renew", ""), ("end", ""), ("end", #""outcome": "cancelled""#)] {
            let answer = try service.ask("POST", "/transitions/\(verb)", owned.acting(more))
            #expect(answer.status == 410 && answer.code == code, "\(verb)", sourceLocation: sourceLocation)
            #expect(answer.body["applied"] == .bool(applied), "\(verb)", sourceLocation: sourceLocation)
            let record = try #require(answer.body["transition"])
            #expect(record["id"] == .string(owned.id), sourceLocation: sourceLocation)
            #expect(record["outcome"] == .string(code), sourceLocation: sourceLocation)
            #expect((record["inserted"] != nil) == applied, sourceLocation: sourceLocation)
        }
        #expect(try service.journal.records() == before, sourceLocation: sourceLocation)
    }

    @Test(arguments: [true, false])
    func `a lease that has run out, with and without its operation`(completes: Bool) throws {
        let onExpiry = completes ? "complete" : "discard"
        let owned = try service.started(#"{"onExpiry": "\#(onExpiry)", \#(Self.push)}"#)
        service.pass(.seconds(10))
        try refuses(owned, "expired", applied: completes)
        let detail = try service.ask("POST", "/transitions/renew", owned.acting()).body["detail"]?.text
        let change = completes ? "Its operation was applied." : "The hierarchy was not changed."
        #expect(detail == "\(owned.id) ended without its owner: expired (lease). \(change)")
    }

    @Test func `a transition that was taken from its owner`() throws {
        let owned = try service.started(#"{"onExpiry": "complete", \#(Self.push)}"#)
        try service.ask("POST", "/transitions/revoke", #"{"id": "\#(owned.id)", "reason": "it hangs"}"#)
        try refuses(owned, "revoked", applied: false)
    }

    @Test func `a ticket that was not possible, and one that was replaced`() throws {
        let holder = try service.started()
        let rejected = try service.serialized(#"{"expect": {"controller": "editor", "is": "exists"}}"#)
        let replaced = try service.serialized(#"{"coalesce": {"key": "k"}}"#)
        try service.serialized(#"{"coalesce": {"key": "k"}}"#)
        try service.ended(holder)
        try refuses(rejected, "rejected", applied: false)
        try refuses(replaced, "superseded", applied: false)
    }
}
