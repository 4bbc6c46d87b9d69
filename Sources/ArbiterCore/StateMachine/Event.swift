/// Something that happened in a scene, as event streams show it.
package struct SceneEvent: Hashable, Sendable {
    package let scene: SceneName
    /// Its number in the scene; `nil` for a momentary event, which only current readers get.
    package let number: EventNumber?
    /// Its number over all scenes; `nil` for a momentary event.
    package let overall: EventNumber?
    package let timestamp: Timestamp
    package let kind: Kind

    package init(
        scene: SceneName, number: EventNumber?, overall: EventNumber?, timestamp: Timestamp, kind: Kind
    ) {
        self.scene = scene
        self.number = number
        self.overall = overall
        self.timestamp = timestamp
        self.kind = kind
    }

    /// Its estimated size in bytes.
    package var byteCount: Int {
        switch kind {
        case .transition(_, let view): view.transition.endedByteCount
        case .hierarchyChanged(_, _, let inserted, let removed):
            Limits.bytesPerName * (2 + inserted.count + removed.count)
        case .progress, .sessionEnded, .appearance: 2 * Limits.bytesPerName
        }
    }

    package enum Kind: Hashable, Sendable {
        /// A transition has reached a stage of its life.
        case transition(Stage, TransitionView)
        /// The finger that drives a transition has moved; momentary.
        case progress(TransitionID, GestureProgress)
        /// A session has ended that requested transitions in the scene, or whose client takes part in one.
        case sessionEnded(SessionID, ClientName?, SessionEnding)
        /// A view appears or disappears because of a transition.
        case appearance(AppearanceEvent, TransitionID)
        /// The hierarchy has changed: by a transition, or by a declaration if `by` is `nil`.
        case hierarchyChanged(Revision, by: TransitionID?, inserted: [ControllerID], removed: [ControllerID])
    }

    /// The stages of a transition's life that have an event.
    package enum Stage: String, Hashable, Sendable, CaseIterable {
        case queued
        case preparing
        case running
        case released
        case ended
    }
}
