import ArbiterCore
import Testing

/// What was observed of every transition and must never change.
struct History {
    private var endings: [TransitionID: TransitionView] = [:]
    private var fences: [TransitionID: Fence] = [:]
    private var lastFence = Fence(rawValue: 0)

    /// Checks and records all transitions after a turn.
    mutating func note(_ views: [TransitionView], at location: SourceLocation) {
        for view in views where view.transition.isEnded {
            let ending = endings[view.transition.id, default: view]
            #expect(view == ending, "an end changed", sourceLocation: location)
            endings[view.transition.id] = ending
        }
        for view in views {
            let known = fences[view.transition.id]
            #expect(known == nil || view.fence == known, "a fence changed", sourceLocation: location)
        }
        // One turn may grant several transitions, and completed tickets among them have already ended.
        let granted = views.filter { fences[$0.transition.id] == nil }.compactMap { view in
            view.fence.map { (id: view.transition.id, fence: $0) }
        }
        for (id, fence) in granted.sorted(by: { $0.fence < $1.fence }) {
            #expect(lastFence < fence, "a fence is not greater than an earlier one", sourceLocation: location)
            lastFence = fence
            fences[id] = fence
        }
    }
}

extension TransitionView {
    var state: TransitionState { transition.state }

    var outcome: TransitionOutcome? {
        guard case .ended(let ending) = transition.phase else { return nil }
        return ending.outcome
    }

    /// The grant, if there was one.
    var grant: Transition.Grant? { transition.grant }

    var fence: Fence? { grant?.fence }
}
