internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

// Which engine a request is for, as the endpoints ask for it.

extension Shards {
    /// The engine of a scene.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of scene: SceneName) throws(Problem) -> Engine {
        if let only { return only }
        return try found { () throws(Misplaced) in try engine(at: Slot(scene)) }
    }

    /// The engine of the scene of a transition.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of id: TransitionID) throws(Problem) -> Engine {
        if let only { return only }
        return try found { () throws(Misplaced) in try engine(at: id.slot) }
    }

    /// The engine of the home of a session.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(of session: Token) throws(Problem) -> Engine {
        if let only { return only }
        return try found { () throws(Misplaced) in try engine(at: session.slot) }
    }

    /// The engine of a single daemon, or of the only shard of a cluster; `nil` if there are more shards.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engineOfAll() throws(Problem) -> Engine? {
        guard count == 1 else { return nil }
        return try found { () throws(Misplaced) in try engine(of: 0) }
    }

    /// The slot of the home of a new session: of its scene, or any of a shard that runs here.
    ///
    /// - Throws: `not-owner` if no shard runs here.
    func slot(forSessionIn scene: SceneName?) throws(Problem) -> Slot? {
        if let scene { return Slot(scene) }
        return try found { () throws(Misplaced) in try anySlot() }
    }

    /// The engine of the home of a session with this slot.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere.
    func engine(ofHomeAt slot: Slot?) throws(Problem) -> Engine {
        if let only { return only }
        return try found { () throws(Misplaced) in try engine(at: slot ?? Slot(number: 0)) }
    }
}

/// What has been found here; a request of something that is elsewhere is a problem.
func found<Value>(_ find: () throws(Misplaced) -> Value) throws(Problem) -> Value {
    do throws(Misplaced) { return try find() } catch { throw Problem(error) }
}
