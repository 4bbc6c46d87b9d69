internal import ArbiterCore
internal import ArbiterEngine

extension Question {
    /// How long it may be parked.
    var wait: Duration {
        switch self {
        case .serialize(_, let wait), .await(_, _, _, let wait): wait
        case .start, .renew, .end, .look, .openSession, .renewSession, .endSession, .attach: .zero
        }
    }

    var key: IdempotencyKey? {
        switch self {
        case .start(let request), .serialize(let request, _): request.idempotencyKey
        case .await, .renew, .end, .look, .openSession, .renewSession, .endSession, .attach: nil
        }
    }

    var text: String {
        switch self {
        case .start(let request): "start \(request.scene) \(request.idempotencyKey?.description ?? "")"
        case .serialize(let request, let wait):
            "serialize \(request.scene) for \(wait) \(request.idempotencyKey?.description ?? "")"
        case .await(let id, _, let milestone, let wait): "await \(id) until \(milestone) for \(wait)"
        case .renew(let id, _): "renew \(id)"
        case .end(let id, _, let outcome): "end \(id) as \(outcome)"
        case .look(let id): "look at \(id)"
        case .openSession(let scene, let timeToLive, _): "open a session at \(scene) for \(timeToLive)"
        case .renewSession: "renew the session"
        case .endSession: "end the session"
        case .attach: "attach a stream"
        }
    }
}

extension Reply {
    var text: String {
        switch self {
        case .transition(let view):
            "\(view.transition.id) is \(view.transition.state), fence \(view.transition.grant?.fence.rawValue ?? 0)"
                + (view.outcome.map { " \($0)" } ?? "")
        case .session(let view): "session \(view.session.id)"
        case .attached: "attached"
        case .refused(.busy(let busy)): "busy, \(busy.holder.transition.id) holds"
        case .refused(.alreadyEnded(let view)): "ended already: \(view.outcome.map { "\($0)" } ?? "")"
        case .refused(let error): "refused: \("\(error)".prefix(60))"
        case .notOwner: "not-owner"
        case .unavailable: "unavailable"
        }
    }
}
