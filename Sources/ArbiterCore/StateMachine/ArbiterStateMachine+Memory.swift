// How much the state may take, and what makes room.

extension ArbiterStateMachine {
    /// Sets what the state may take, in bytes, from now on; what a replay admits is not asked for again.
    package mutating func limitMemory(to bytes: Int?) {
        limits.memory = bytes
    }

    /// About how many bytes the state takes.
    package var memoryUse: Int { durable.memory.held + durable.memory.ended }

    /// The same without what has ended, which is forgotten beyond a limit of its own.
    package var heldMemory: Int { durable.memory.held }

    /// - Throws: `outOfRoom` or `shareUsedUp` if what is asked for would take too much.
    func admitBytes(of request: TransitionRequest) throws(ArbiterError) {
        guard limits.memory != nil else { return }
        let scene = durable.scenes[request.scene]
        let bytes = request.byteCount
        var after = scene ?? Scene(lastOrder: durable.lastOrder, numbers: durable.forgotten)
        after.unfinishedBytes += bytes
        after.comingControllers += request.controllerCount
        let session = request.session.flatMap { durable.index.sessions[$0] }
        try admit(
            after.byteCount - (scene?.byteCount ?? 0), sceneAfter: after.byteCount, of: request.scene,
            owned: bytes, by: session)
    }

    /// - Throws: `outOfRoom` or `shareUsedUp` if the storyboard would take too much.
    func admitBytes(of storyboard: Storyboard, in name: SceneName) throws(ArbiterError) {
        guard limits.memory != nil else { return }
        let scene = durable.scenes[name]
        let bytes = Limits.bytesPerScene + storyboard.byteCount
        let more = bytes - (scene?.byteCount ?? 0)
        // What takes no more than before is always admitted.
        guard more > 0 else { return }
        try admit(more, sceneAfter: bytes, of: name, owned: bytes - (scene?.sharedByteCount ?? 0), by: nil)
    }

    /// - Throws: `outOfRoom` if one more session would take too much.
    func admitSession() throws(ArbiterError) {
        guard let memory = limits.memory else { return }
        guard durable.memory.held + Limits.bytesPerSession <= memory else { throw .outOfRoom(bytes: memory) }
    }

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
            // Clients may open any number of sessions: a part is kept for those who have none.
            let most = memory - memory / Limits.sessionlessReserve
            guard durable.memory.sessionsTotal + owned <= most else { throw .shareUsedUp(.sessions, bytes: most) }
        } else {
            guard durable.memory.shared + owned <= memory / Limits.sharedShare else {
                throw .shareUsedUp(.shared, bytes: memory / Limits.sharedShare)
            }
        }
    }

    /// A scene to forget because room is getting short: of those in which nothing is declared or unfinished, the one
    /// that was used longest ago.
    mutating func nextEviction() -> Command? {
        // An eighth is left for those who ask while room is made.
        guard let memory = limits.memory, durable.memory.held > memory - memory / 8 else { return nil }
        if momentary.idleScenes.isEmpty, momentary.mayHaveIdleScenes {
            momentary.mayHaveIdleScenes = false
            momentary.idleScenes = durable.scenes.filter(\.value.isForgettable)
                .sorted { $0.value.lastOrder > $1.value.lastOrder }.map(\.key)
        }
        while let name = momentary.idleScenes.popLast() {
            if durable.scenes[name]?.isForgettable == true { return .delete(name) }
        }
        return nil
    }
}

extension DurableState {
    /// Changes a scene, if there is one of the name, and counts what it takes then.
    mutating func changeScene<Result>(_ name: SceneName, _ change: (inout Scene) -> Result) -> Result? {
        guard let index = scenes.index(forKey: name) else { return nil }
        uncount(scenes.values[index])
        defer { count(scenes.values[index]) }
        return change(&scenes.values[index])
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
