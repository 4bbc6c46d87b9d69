import ArbiterCore
import Testing

/// What was seen of every transition, and must stay true of it.
struct History {
    private var endings: [TransitionID: TransitionView] = [:]
    private var fences: [TransitionID: Fence] = [:]
    private var lastFence = Fence(rawValue: 0)

    /// Takes note of all transitions as they stand after a step.
    mutating func note(_ views: [TransitionView], at location: SourceLocation) {
        for view in views where view.transition.isEnded {
            let ending = endings[view.transition.id, default: view]
            #expect(view == ending, "a transition ends once and for all", sourceLocation: location)
            endings[view.transition.id] = ending
        }
        for view in views {
            let known = fences[view.transition.id]
            #expect(known == nil || view.fence == known, "a fence is given once", sourceLocation: location)
        }
        // One step may grant several, the remembered ends among them: in request order within a scene.
        let granted = views.filter { fences[$0.transition.id] == nil }.compactMap { view in
            view.fence.map { (id: view.transition.id, fence: $0) }
        }
        for (id, fence) in granted.sorted(by: { $0.fence < $1.fence }) {
            #expect(lastFence < fence, "fences grow strictly", sourceLocation: location)
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

    /// What the grant gave, if there was one.
    var grant: Transition.Grant? { transition.grant }

    var fence: Fence? { grant?.fence }
}
