/// How many bytes the state takes, by an estimate from what is in it: the same for the same state.
struct MemoryUse: Hashable, Sendable {
    /// What scenes take: their storyboards, what is unfinished in them, and what that will bring in.
    var scenes = 0
    /// What is unfinished in each session.
    private(set) var sessions: [SessionID: Int] = [:]
    /// What is unfinished in all sessions.
    private(set) var sessionsTotal = 0
    /// What is unfinished without a session, and every declared storyboard.
    var shared = 0
    /// What has ended.
    var ended = 0
    var sessionCount = 0

    /// What cannot be forgotten to make room.
    var held: Int { scenes + sessionCount * Limits.bytesPerSession }

    /// Takes note of bytes that come, or go where they are negative.
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

/// Whose share of the memory is used up.
package enum MemoryShare: Hashable, Sendable {
    case scene(SceneName)
    case session(SessionID)
    /// That of all sessions together.
    case sessions
    /// That of all who have no session, and of storyboards.
    case shared
}

// MARK: - What things take

extension TransitionRequest {
    /// While it is unfinished; what its operation will bring into the hierarchy is counted with the scene.
    var byteCount: Int {
        var bytes = Limits.bytesPerTransition + (keptOperation?.byteCount ?? 0)
        if case .controllers(let named) = scope { bytes += named.count * Limits.bytesPerName }
        bytes += (expectations.count + participants.count) * Limits.bytesPerName
        bytes += animation?.userInfo?.count ?? 0
        if idempotencyKey != nil { bytes += Limits.bytesPerName + Limits.idempotencyKeyBytes }
        if coalescing != nil { bytes += Limits.bytesPerName }
        return bytes
    }
}

extension Transition {
    /// What it takes once it has ended.
    var endedByteCount: Int {
        guard case .ended(let ending) = phase else { return request.byteCount }
        let changed = ending.change.map { $0.inserted.count + $0.removed.count } ?? 0
        let told = ending.appearance.count + (ending.grant?.appearance.count ?? 0)
        return request.byteCount + (changed + told) * Limits.bytesPerName
    }
}

extension Storyboard {
    var byteCount: Int {
        let brought = declaredControllers + hierarchy.count
        return brought * Limits.bytesPerController + segues.count * Limits.bytesPerSegue
            + transitionTypes.count * Limits.bytesPerTransitionType
    }
}

extension Scene {
    /// With what is unfinished in it, and the room that this will take in the hierarchy.
    var byteCount: Int {
        let coming = min(comingControllers, max(0, Limits.controllers - storyboard.hierarchy.count))
        return Limits.bytesPerScene + storyboard.byteCount + unfinishedBytes + coming * Limits.bytesPerController
    }

    /// What its declaration takes of the share of those without a session.
    var sharedByteCount: Int { isDeclared ? Limits.bytesPerScene + storyboard.byteCount : 0 }
}
