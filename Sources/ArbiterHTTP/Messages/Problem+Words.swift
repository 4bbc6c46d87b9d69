internal import ArbiterCore
internal import ArbiterEngine

// How causes of problems are put into words.

extension MemoryShare {
    /// What is used up, and what helps.
    func text(bytes: Int) -> String {
        let size = "\(bytes >> 20) MiB"
        switch self {
        case .scene(let scene):
            return
                "What is unfinished or declared in the scene \(scene) takes the \(size) that one scene may: end some of it."
        case .session(let session):
            return
                "What is unfinished in the session \(session) takes the \(size) that one session may: end some of it."
        case .sessions:
            return
                "What is unfinished in all sessions takes the \(size) that they may together: wait for some of it to end."
        case .shared:
            return
                "Storyboards and what is unfinished without a session take the \(size) that they may together: ask in a "
                + "session."
        }
    }
}

extension Expectation {
    /// In a few words.
    var text: String {
        switch self {
        case .controller(let controller, .exists, let isNegated):
            "\(controller) \(isNegated ? "does not exist" : "exists")"
        case .controller(let controller, let condition, let isNegated):
            "\(controller) is \(isNegated ? "not " : "")\(condition.rawValue)"
        case .revision(let revision): "revision \(revision.rawValue)"
        }
    }
}

extension FailedExpectation {
    /// In one sentence.
    var text: String { "Expected: \(expectation.text); found: \(actual)." }
}

extension Busy {
    /// The holder, as a person may know it.
    var holderName: String {
        let holder = holder.transition
        return holder.request.client.map { "\($0) (\(holder.id))" } ?? "\(holder.id)"
    }
}

extension StoryboardEntry {
    /// What it is, for a sentence.
    var text: String {
        switch self {
        case .segue(let identifier, let source):
            "the segue \(quoted(identifier.description)) from \(quoted(source.description))"
        case .transitionType(let name): "the transition type \(quoted(name.description))"
        }
    }

    /// The member of the storyboard that it belongs to.
    var field: String {
        switch self {
        case .segue: "segues"
        case .transitionType: "transitionTypes"
        }
    }
}

extension Precondition {
    /// As `If-Match` writes it.
    var tags: String {
        switch self {
        case .none, .declared, .undeclared: "*"
        case .version(let versions): versions.map(\.entityTag).joined(separator: ", ")
        }
    }
}

extension TransitionView {
    /// That its owner has ended it, or said before it ran that it completes.
    var endedText: String {
        transition.isEnded
            ? "\(transition.id) has ended as \(outcomeText)\(interruptionText)"
            : "\(transition.id) was ended as completed before it ran; that stands."
    }

    /// Whether it was ended for a ticket, instead of by its owner.
    var isInterrupted: Bool { interrupter != nil }

    private var interrupter: TransitionID? {
        if case .ended(let ending) = transition.phase { ending.interruptedBy } else { nil }
    }

    /// For whom it was ended, and what that did to the hierarchy, if it was interrupted.
    private var interruptionText: String {
        interrupter.map { ": \($0) interrupted it. \(changeText)" } ?? "."
    }

    /// What was decided of its gesture, and how it can be ended.
    var decidedText: String {
        guard let decision = transition.gesture?.decision else { return "The gesture of \(transition.id) is over." }
        let outcome =
            switch decision {
            case .finish: EndOutcome.completed
            case .cancel: EndOutcome.cancelled
            }
        return "The gesture of \(transition.id) was decided as \"\(decision.rawValue)\"; end it without an outcome, or "
            + "with \"\(outcome.rawValue)\"."
    }

    /// Whether its operation was applied at its end.
    var isApplied: Bool {
        if case .ended(let ending) = transition.phase { ending.change != nil } else { false }
    }

    /// What its end did to the hierarchy.
    var changeText: String {
        isApplied ? "Its operation was applied." : "The hierarchy was not changed."
    }

    /// The code of an act on a transition that ended by itself.
    var codeAfterEnd: Problem.Code {
        guard case .ended(let ending) = transition.phase else { return .expired }
        switch ending.outcome {
        case .completed, .cancelled, .expired: return .expired
        case .rejected: return .rejected
        case .superseded: return .superseded
        case .revoked: return .revoked
        }
    }

    var outcomeText: String {
        guard case .ended(let ending) = transition.phase else { return transition.state.rawValue }
        switch ending.outcome {
        case .completed, .cancelled: return ending.outcome.name
        case .expired(let reason): return "\(ending.outcome.name) (\(reason.rawValue))"
        case .superseded(let other): return "\(ending.outcome.name) (by \(other))"
        case .rejected(let rejection): return "\(ending.outcome.name) (\(rejection.reason))"
        case .revoked(let revocation): return "\(ending.outcome.name) (\(revocation.reason))"
        }
    }
}
