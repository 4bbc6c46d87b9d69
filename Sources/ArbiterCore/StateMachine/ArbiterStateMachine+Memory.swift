// The memory limit: what it admits, and which scenes are forgotten to make room.

extension ArbiterStateMachine {
    /// Limits the state and each principal from now on; a replay before this call is not limited.
    package mutating func enforce(_ limits: Limits) {
        self.limits = limits
    }

    /// The estimated size of the state in bytes.
    package var memoryUse: Int { durable.memory.held + durable.memory.ended }

    /// The estimated size in bytes without the ended transitions, which have a limit of their own.
    package var heldMemory: Int { durable.memory.held }

    /// Checks that something new may be stored; a request whose key is known, and a dry run, store nothing.
    ///
    /// - Throws: `lacksStorage`.
    func checkStorage() throws(ArbiterError) {
        if lacksStorage { throw .lacksStorage }
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if the transition would exceed a limit.
    func admitBytes(of request: TransitionRequest) throws(ArbiterError) {
        guard limits.memory != nil else { return }
        let before = durable.scenes[request.scene]?.byteCount ?? 0
        let after =
            durable.scenes[request.scene]?.byteCount(with: request) ?? unusedScene.byteCount(with: request)
        let session = sessionID(of: request.session)
        let isVisited = session.flatMap { durable.sessions[$0]?.scenes.contains(request.scene) } ?? true
        try admit(
            after - before + (isVisited ? 0 : Limits.bytesPerVisit), sceneAfter: after, of: request.scene,
            owned: request.byteCount, by: session)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if a transition would exceed a limit once it has its operation.
    func admitBytes(of performed: TransitionRequest, insteadOf transition: Transition) throws(ArbiterError) {
        guard limits.memory != nil, let scene = durable.scenes[performed.scene] else { return }
        let after = scene.byteCount(with: performed, insteadOf: transition.request)
        try admit(
            after - scene.byteCount, sceneAfter: after, of: performed.scene,
            owned: performed.byteCount - transition.request.byteCount, by: transition.session)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if a transition would exceed a limit with so many bytes more.
    func admitGrowth(of transition: Transition, by bytes: Int) throws(ArbiterError) {
        guard bytes > 0, limits.memory != nil, let scene = durable.scenes[transition.request.scene] else { return }
        try admit(
            bytes, sceneAfter: scene.byteCount + bytes, of: transition.request.scene, owned: bytes,
            by: transition.session)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if a guard would exceed a limit.
    func admitBytes(of new: Guard, in name: SceneName) throws(ArbiterError) {
        guard limits.memory != nil else { return }
        let before = durable.scenes[name]?.byteCount ?? 0
        let after = (durable.scenes[name] ?? unusedScene).byteCount + new.byteCount
        let isVisited = durable.sessions[new.session]?.scenes.contains(name) ?? true
        try admit(
            after - before + (isVisited ? 0 : Limits.bytesPerVisit), sceneAfter: after, of: name,
            owned: new.byteCount, by: new.session)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if the storyboard would exceed a limit.
    func admitBytes(of storyboard: Storyboard, in name: SceneName) throws(ArbiterError) {
        guard limits.memory != nil else { return }
        let scene = durable.scenes[name]
        // Tickets that are set aside stay.
        var declared = scene ?? unusedScene
        declared.storyboard = storyboard
        let more = declared.byteCount - (scene?.byteCount ?? 0)
        // A storyboard that is not larger than the one before is always admitted.
        guard more > 0 else { return }
        let owned = Limits.bytesPerScene + storyboard.byteCount - (scene?.sharedByteCount ?? 0)
        try admit(more, sceneAfter: declared.byteCount, of: name, owned: owned, by: nil)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if the storyboard of a scene would grow beyond a limit.
    func admitGrowth(from old: Storyboard, to new: Storyboard, in name: SceneName) throws(ArbiterError) {
        let more = new.byteCount - old.byteCount
        guard more > 0, let scene = durable.scenes[name] else { return }
        try admit(more, sceneAfter: scene.byteCount + more, of: name, owned: more, by: nil)
    }

    /// - Throws: `outOfRoom` if one more session would exceed the limit.
    func admitSession() throws(ArbiterError) {
        guard let memory = limits.memory else { return }
        guard durable.memory.held + Limits.bytesPerSession <= memory else { throw .outOfRoom(bytes: memory) }
    }

    /// Checks an increase against every limit.
    ///
    /// - Parameters:
    ///   - bytes: by how much the state grows.
    ///   - sceneAfter: the size of the scene afterwards.
    ///   - scene: the scene that grows.
    ///   - owned: how much is charged to the session, or to the share without a session.
    ///   - session: the session of the request, if any.
    /// - Throws: `outOfRoom`, `shareUsedUp`.
    private func admit(
        _ bytes: Int, sceneAfter: Int, of scene: SceneName, owned: Int, by session: SessionID?
    ) throws(ArbiterError) {
        guard let memory = limits.memory else { return }
        guard durable.memory.held + bytes <= memory else { throw .outOfRoom(bytes: memory) }
        guard sceneAfter <= memory / Limits.sceneShare else {
            throw .shareUsedUp(.scene(scene), bytes: memory / Limits.sceneShare)
        }
        if let session {
            guard durable.memory.sessions[session, default: 0] + owned <= memory / Limits.sessionShare else {
                throw .shareUsedUp(.session(session), bytes: memory / Limits.sessionShare)
            }
            // Clients may open many sessions, so a part of the memory is reserved for requests without a session.
            let most = memory - memory / Limits.sessionlessReserve
            guard durable.memory.sessionsTotal + owned <= most else { throw .shareUsedUp(.sessions, bytes: most) }
        } else {
            guard durable.memory.shared + owned <= memory / Limits.sharedShare else {
                throw .shareUsedUp(.shared, bytes: memory / Limits.sharedShare)
            }
        }
    }

    /// Forgets idle scenes while memory is short, the least recently used first.
    ///
    /// A scene is idle if nothing is declared about it and it has no unfinished transition.
    mutating func forgetIdleScenes(in step: inout Step) {
        // An eighth stays free for requests until the next turn.
        while step.portion > 0, let memory = limits.memory, durable.memory.held > memory - memory / 8,
            let name = nextIdleScene()
        {
            step.keep(.delete(name))
            forget(name, in: &step)
            step.spend(1)
        }
    }

    /// The idle scene that was used longest ago.
    private mutating func nextIdleScene() -> SceneName? {
        if momentary.idleScenes.isEmpty, momentary.mayHaveIdleScenes {
            momentary.mayHaveIdleScenes = false
            momentary.idleScenes = durable.scenes.filter(\.value.isForgettable)
                .sorted { $0.value.lastOrder > $1.value.lastOrder }.map(\.key)
        }
        while let name = momentary.idleScenes.popLast() {
            if durable.scenes[name]?.isForgettable == true { return name }
        }
        return nil
    }
}

extension DurableState {
    /// Changes a scene, if it exists, and updates the memory estimate.
    mutating func changeScene<Result>(_ name: SceneName, _ change: (inout Scene) -> Result) -> Result? {
        var growth = (bytes: 0, shared: 0)
        let result = scenes[name]?.counted(change, &growth)
        memory.scenes += growth.bytes
        memory.shared += growth.shared
        return result
    }

    mutating func count(_ scene: Scene) {
        memory.scenes += scene.byteCount
        memory.shared += scene.sharedByteCount
    }

    mutating func uncount(_ scene: Scene) {
        memory.scenes -= scene.byteCount
        memory.shared -= scene.sharedByteCount
    }
}

extension Scene {
    /// Makes a change, and computes by how much its estimated sizes grow.
    fileprivate mutating func counted<Result>(
        _ change: (inout Scene) -> Result, _ growth: inout (bytes: Int, shared: Int)
    ) -> Result {
        let before = (bytes: byteCount, shared: sharedByteCount)
        let result = change(&self)
        growth = (byteCount - before.bytes, sharedByteCount - before.shared)
        return result
    }
}

/// How many of everything there are.
package struct StateCounts: Hashable, Sendable {
    package let queued: Int
    package let granted: Int
    package let sessions: Int
    package let scenes: Int
    /// The estimated size without the ended transitions, in bytes.
    package let heldBytes: Int
    package let endedBytes: Int
    package let isHoldingGrants: Bool

    /// Those of an arbiter that has nothing.
    package static let none = StateCounts(
        queued: 0, granted: 0, sessions: 0, scenes: 0, heldBytes: 0, endedBytes: 0, isHoldingGrants: false)

    /// Those of two arbiters together.
    package static func + (left: StateCounts, right: StateCounts) -> StateCounts {
        StateCounts(
            queued: left.queued + right.queued, granted: left.granted + right.granted,
            sessions: left.sessions + right.sessions, scenes: left.scenes + right.scenes,
            heldBytes: left.heldBytes + right.heldBytes, endedBytes: left.endedBytes + right.endedBytes,
            isHoldingGrants: left.isHoldingGrants || right.isHoldingGrants)
    }
}

extension ArbiterStateMachine {
    /// How many of everything there are; counted as they come and go, so that asking costs nothing.
    package var counts: StateCounts {
        StateCounts(
            queued: durable.memory.queued, granted: durable.unfinishedCount - durable.memory.queued,
            sessions: durable.sessions.count,
            scenes: durable.scenes.count, heldBytes: durable.memory.held, endedBytes: durable.memory.ended,
            isHoldingGrants: durable.isHoldingGrants)
    }
}
