internal import ArbiterCore
package import ArbiterEngine

extension JournalEntry {
    /// The record as a line of JSON without a line feed, for people and their tools; tokens are omitted.
    package var jsonLine: [UInt8] {
        JSONWriter.object { writer in
            writer.member("sequence", sequence)
            writer.member("time", moment.timestamp)
            writer.members(of: record)
            if case .adopt = record { writer.member("rules", Int(rules.rawValue)) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of record: Record) {
        switch record {
        case .start(let request, let id, _):
            member("command", "start")
            member("id", id)
            members(of: request)
        case .serialize(let request, let id, _):
            member("command", "serialize")
            member("id", id)
            members(of: request)
        case .end(let id, _, let outcome):
            member("command", "end")
            member("id", id)
            member("outcome", outcome.rawValue)
        case .revoke(let id, let revocation):
            member("command", "revoke")
            member("id", id)
            member("reason", revocation.reason.description)
            if let principal = revocation.principal { member("by", principal.description) }
        case .revokeAll(let scene, let client, let principal, let revocation):
            member("command", "revokeAll")
            member("scene", scene.description)
            if let client { member("client", client.description) }
            if let principal { member("principal", principal.description) }
            member("reason", revocation.reason.description)
            if let principal = revocation.principal { member("by", principal.description) }
        case .update(let id, let update):
            member("command", "update")
            member("id", id)
            member(
                "animation",
                AnimationRequest(
                    duration: update.duration, curve: update.curve, completionSpeed: update.completionSpeed,
                    userInfo: update.userInfo))
        case .expire(let id, let reason):
            member("command", "expire")
            member("id", id)
            member("reason", reason.rawValue)
        case .declare(let scene, let storyboard):
            member("command", "declare")
            member("scene", scene.description)
            object("storyboard") { $0.members(of: storyboard) }
        case .patch(let scene, let patch):
            member("command", "patch")
            member("scene", scene.description)
            object("patch") { $0.members(of: patch) }
        case .delete(let scene):
            member("command", "delete")
            member("scene", scene.description)
        case .decide(let id, let gesture):
            member("command", "decide")
            member("id", id)
            member("decision", gesture.decision.rawValue)
        case .perform(let id, let operation):
            member("command", "perform")
            member("id", id)
            member(operation)
        case .veto(let id, let client, let reason):
            member("command", "veto")
            member("id", id)
            member("client", client.description)
            if let reason { member("reason", reason.description) }
        case .answerGuards(let id, let session):
            member("command", "answerGuards")
            member("id", id)
            member("session", session.description)
        case .addGuard(let scene, let known):
            member("command", "addGuard")
            member("scene", scene.description)
            object("guard") { $0.members(of: known) }
        case .removeGuard(let scene, let id):
            member("command", "removeGuard")
            member("scene", scene.description)
            member("guard", id.description)
        case .markReady(let id, let client):
            member("command", "markReady")
            member("id", id)
            member("client", client.description)
        case .markGone(let id, let client):
            member("command", "markGone")
            member("id", id)
            member("client", client.description)
        case .interrupt(let id):
            member("command", "interrupt")
            member("id", id)
        case .endInterrupted(let id):
            member("command", "endInterrupted")
            member("id", id)
        case .expireUnclaimed(let ids):
            member("command", "expireUnclaimed")
            array("ids", ids) { writer, id in writer.string(id.description) }
        case .timeOutParticipants(let id):
            member("command", "settle")
            member("id", id)
        case .openSession(let client, let timeToLive, let id, _, let caller):
            member("command", "openSession")
            member("session", id.description)
            if let client { member("client", client.description) }
            if let principal = caller.principal { member("principal", principal.description) }
            member("ttlSeconds", timeToLive)
        case .endSession(let id, let ending):
            member("command", "closeSession")
            member("session", id.description)
            member("reason", ending.rawValue)
        case .distrust(let holdsGrants):
            member("command", "distrust")
            member("holdsGrants", holdsGrants)
        case .adopt(let retention):
            member("command", "adopt")
            if let retention { object("retention") { $0.members(of: retention) } }
        case .skipFences:
            member("command", "skipFences")
        case .resume:
            member("command", "resume")
        case .stop:
            member("command", "stop")
        }
    }

    private mutating func members(of retention: Retention) {
        member("scenes", retention.scenes)
        member("ended", retention.count)
        member("seconds", retention.duration)
        member("maximum", retention.maximum)
        member("names", retention.weight)
        member("bytes", retention.bytes)
    }

    private mutating func members(of request: TransitionRequest) {
        member("scene", request.scene.description)
        if let client = request.client { member("client", client.description) }
        if let principal = request.principal { member("principal", principal.description) }
        if let trace = request.trace { member("traceparent", trace.description) }
        if let note = request.note { member("note", note.description) }
        if let scope = request.scope { member("scope", scope) }
        if request.mode != .exclusive { member("mode", request.mode.rawValue) }
        askedMembers(of: request)
        if !request.participants.isEmpty { readyMembers(of: request) }
        if let interruptibility = request.interruptibility { member("interruptible", interruptibility) }
        if let animation = request.animation { member("animation", animation) }
        if let lease = request.lease { member("leaseSeconds", lease) }
        member("ticketSeconds", request.ticket)
        if let queue = request.queue { member("queueSeconds", queue) }
        member("hasIdempotencyKey", request.idempotencyKey != nil)
    }
}
