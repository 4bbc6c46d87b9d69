internal import ArbiterCore

/// A call as its client saw it.
struct Call {
    let number: Int
    let client: String
    let question: Question
    let scene: SceneName
    let key: IdempotencyKey?
    /// Whether the same key was sent before.
    let isRepeated: Bool
    let sent: Instant
    let answered: Instant
    /// `nil` if no answer came.
    let reply: Reply?

    /// The transition that it is about, if that is known.
    var subject: TransitionID? {
        switch question {
        case .await(let id, _, _, _), .renew(let id, _), .end(let id, _, _), .look(let id): id
        case .start, .serialize, .openSession, .renewSession, .endSession, .attach: seen?.transition.id
        }
    }

    /// The transition in the answer.
    var seen: TransitionView? {
        switch reply {
        case .transition(let view): view
        case .refused(.alreadyEnded(let view)), .refused(.endedWithoutOwner(let view)), .refused(.notRunning(let view)):
            view
        case .refused, .session, .attached, .notOwner, .unavailable, nil: nil
        }
    }

    /// Until when the owner may believe in its lease because of the answer; `nil` if it says nothing of that.
    var believedUntil: Instant? {
        switch question {
        case .start, .serialize, .await, .renew: break
        case .end, .look, .openSession, .renewSession, .endSession, .attach: return nil
        }
        guard case .transition(let view) = reply, view.transition.state == .running else { return nil }
        let lease = view.transition.lease
        // To ask again with a key may be no word; then only what the answer says is left counts.
        return sent.advanced(by: isRepeated ? min(lease, view.leaseRemaining ?? .zero) : lease)
    }
}

extension TransitionView {
    /// How far it has come.
    var rank: Int {
        switch transition.state {
        case .queued: 0
        case .preparing, .running: 1
        case .ended: 2
        }
    }

    var outcome: TransitionOutcome? {
        if case .ended(let ending) = transition.phase { ending.outcome } else { nil }
    }
}
