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
        case .hierarchyChanged(let news): news.byteCount
        case .progress, .sessionEnded, .appearance, .sceneDeleted: 2 * Limits.bytesPerName
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
        /// The hierarchy has changed.
        indirect case hierarchyChanged(HierarchyUpdate)
        /// The scene was deleted, or forgotten to make room.
        case sceneDeleted
    }

    /// The stages of a transition's life that have an event.
    package enum Stage: String, Hashable, Sendable, CaseIterable {
        case queued
        case preparing
        case running
        /// Another transition has begun to wait for it.
        case contended
        case released
        /// Its interruption has begun.
        case interrupting
        /// It has been given its operation.
        case updated
        case ended
    }
}

/// A change of a hierarchy, for clients that keep a tree of their own.
package struct HierarchyUpdate: Hashable, Sendable {
    /// The revision of the hierarchy after the change.
    package let revision: Revision
    /// The transition that changed it; `nil` for a declaration.
    package let transition: TransitionID?
    /// The controllers inserted by an operation; those below them are not listed.
    package let inserted: [ControllerID]
    /// The controllers removed by an operation; those below them are not listed.
    package let removed: [ControllerID]
    package let change: Change

    package init(
        revision: Revision, transition: TransitionID? = nil, inserted: [ControllerID] = [],
        removed: [ControllerID] = [], change: Change
    ) {
        self.revision = revision
        self.transition = transition
        self.inserted = inserted
        self.removed = removed
        self.change = change
    }

    package enum Change: Hashable, Sendable {
        /// The whole hierarchy is another one.
        case replaced(Hierarchy)
        /// Applied one after the other, they make the new hierarchy out of the old one.
        case edited([OperationPlan.Edit])
    }

    /// Its estimated size in bytes.
    var byteCount: Int {
        let names = 2 + inserted.count + removed.count
        switch change {
        case .replaced(let hierarchy):
            return names * Limits.bytesPerName + hierarchy.count * Limits.bytesPerController
        case .edited(let edits):
            return edits.reduce(names * Limits.bytesPerName) { $0 + $1.byteCount }
        }
    }
}

extension OperationPlan.Edit {
    fileprivate var byteCount: Int {
        switch self {
        case .insert(let arrival, _): Limits.bytesPerName + arrival.count * Limits.bytesPerController
        case .arrange(_, let children), .arrangeTabs(_, let children, _):
            (1 + children.count) * Limits.bytesPerName
        case .remove, .move, .select: 2 * Limits.bytesPerName
        case .arrangeColumns: 4 * Limits.bytesPerName
        }
    }
}
