/// The estimated size of the state in bytes; equal states give equal estimates.
struct MemoryUse: Hashable, Sendable {
    /// The scenes: their storyboards, their unfinished transitions, and the controllers that these will insert.
    var scenes = 0
    /// The unfinished transitions of each session.
    private(set) var sessions: [SessionID: Int] = [:]
    /// The unfinished transitions of all sessions.
    private(set) var sessionsTotal = 0
    /// The unfinished transitions without a session, and all declared storyboards.
    var shared = 0
    /// The ended transitions.
    var ended = 0
    var sessionCount = 0
    /// The scenes in which sessions are known, counted for each session.
    var visits = 0
    /// The queued transitions of all scenes.
    var queued = 0

    /// Everything except the ended transitions; the memory limit applies to this.
    var held: Int { scenes + sessionCount * Limits.bytesPerSession + visits * Limits.bytesPerVisit }

    /// Adds the bytes of an unfinished transition, or removes them if `bytes` is negative.
    mutating func charge(_ bytes: Int, to session: SessionID?) {
        guard let session else {
            shared += bytes
            return
        }
        sessionsTotal += bytes
        let rest = sessions[session, default: 0] + bytes
        sessions[session] = rest == 0 ? nil : rest
    }
}

/// A share of the memory that can be used up.
package enum MemoryShare: Hashable, Sendable {
    case scene(SceneName)
    case session(SessionID)
    /// The share of all sessions together.
    case sessions
    /// The share of requests without a session and of storyboards.
    case shared
}

// MARK: - Estimates

extension TransitionRequest {
    /// Its size while the transition is unfinished; what its operation will insert is counted with the scene.
    var byteCount: Int {
        var bytes = Limits.bytesPerTransition + (keptOperation?.byteCount ?? 0)
        // Each inserted controller is listed with what brings it in, and with what names it.
        bytes += controllerCount * 2 * Limits.bytesPerName
        var locks = 1
        if case .controllers(let named) = scope {
            locks = named.count
            bytes += locks * Limits.bytesPerLocked
        }
        if priority != nil { bytes += locks * Limits.bytesPerPriority }
        bytes += expectations.count * Limits.bytesPerName + participants.count * Limits.bytesPerParticipant
        bytes += (animation?.userInfo?.count ?? 0) + (note?.description.utf8.count ?? 0)
        if idempotencyKey != nil { bytes += Limits.bytesPerName + Limits.idempotencyKeys.upperBound }
        if coalescing != nil { bytes += Limits.bytesPerName }
        if principal != nil { bytes += Limits.bytesPerName }
        if trace != nil { bytes += Limits.bytesPerName }
        return bytes
    }
}

extension Guard {
    /// Its size, with the participants that transitions get because of it.
    var byteCount: Int {
        Limits.bytesPerGuard + controllers.count * (Limits.bytesPerName + Limits.bytesPerParticipant)
    }
}

extension TransitionView {
    /// What a copy of it keeps in memory.
    package var byteCount: Int { transition.endedByteCount }
}

extension SceneSummary {
    /// What a copy of it keeps in memory.
    package var byteCount: Int { Limits.bytesPerName }
}

extension SceneView {
    /// What a copy of it keeps in memory.
    package var byteCount: Int {
        let rest = Limits.bytesPerScene + storyboard.byteCount + guards.reduce(0) { $0 + $1.byteCount }
        return (running + queue).reduce(rest) { $0 + $1.byteCount }
    }
}

extension Transition {
    /// Its size while it is unfinished, as it is charged.
    var unfinishedByteCount: Int { request.byteCount + (update?.userInfo?.count ?? 0) }

    /// Its size once it has ended.
    var endedByteCount: Int {
        let asked = (participants.count - request.participants.count) * Limits.bytesPerParticipant
        guard case .ended(let ending) = phase else { return unfinishedByteCount + asked }
        let changed = ending.change.map { $0.inserted.count + $0.removed.count } ?? 0
        let told = ending.appearance.count + (ending.grant?.appearance.count ?? 0)
        let resolved = ending.grant?.resolved.reduce(0) { $0 + $1.byteCount } ?? 0
        return unfinishedByteCount + asked + resolved + (changed + told) * Limits.bytesPerName
    }
}

extension Storyboard {
    /// Its size in memory.
    package var byteCount: Int {
        let brought = declaredControllers + hierarchy.count
        return brought * Limits.bytesPerController + segues.count * Limits.bytesPerSegue
            + transitionTypes.count * Limits.bytesPerTransitionType
    }
}

extension Scene {
    /// Its size with its unfinished transitions and the controllers that these will insert.
    var byteCount: Int { byteCount(unfinished: unfinishedBytes, coming: comingControllers) }

    /// Its size with one more unfinished transition, or with this one in place of one that has no operation.
    func byteCount(with request: TransitionRequest, insteadOf earlier: TransitionRequest? = nil) -> Int {
        byteCount(
            unfinished: unfinishedBytes + request.byteCount - (earlier?.byteCount ?? 0),
            coming: comingControllers + request.controllerCount)
    }

    private func byteCount(unfinished: Int, coming: Int) -> Int {
        let fitting = min(coming, max(0, Limits.controllers - storyboard.hierarchy.count))
        return Limits.bytesPerScene + storyboard.byteCount + unfinished + fitting * Limits.bytesPerController
            + guards.reduce(0) { $0 + $1.byteCount }
    }

    /// The part of its size that counts towards `MemoryShare.shared`.
    var sharedByteCount: Int { hasStoryboard ? Limits.bytesPerScene + storyboard.byteCount : 0 }
}
