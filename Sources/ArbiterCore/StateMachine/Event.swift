/// Something that happened in a scene, for whoever follows it.
package struct SceneEvent: Hashable, Sendable {
    package let scene: SceneName
    /// Its place among the scene's events; `nil` for what is momentary and told only to those who listen now.
    package let number: EventNumber?
    /// Its place among the events of all scenes; `nil` for what is momentary.
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

    /// About how many bytes it takes as long as it is kept.
    package var byteCount: Int {
        switch kind {
        case .transition(_, let view): view.transition.endedByteCount
        case .hierarchyChanged(_, _, let inserted, let removed):
            Limits.bytesPerName * (2 + inserted.count + removed.count)
        case .progress, .sessionEnded, .appearance: 2 * Limits.bytesPerName
        }
    }

    package enum Kind: Hashable, Sendable {
        /// A transition has come to another point of its life.
        case transition(Stage, TransitionView)
        /// The finger that drives a transition has moved.
        case progress(TransitionID, GestureProgress)
        /// A session has ended that had a part in the scene.
        case sessionEnded(SessionID, ClientName?, SessionEnding)
        /// A controller's view comes or goes.
        case appearance(AppearanceEvent, TransitionID)
        /// The hierarchy is another one: by a transition, or else by a declaration.
        case hierarchyChanged(Revision, by: TransitionID?, inserted: [ControllerID], removed: [ControllerID])
    }

    /// The points of a transition's life that are told.
    package enum Stage: String, Hashable, Sendable, CaseIterable {
        case queued
        case preparing
        case running
        case released
        case ended
    }
}
