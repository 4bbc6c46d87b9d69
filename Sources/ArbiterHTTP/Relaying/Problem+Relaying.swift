internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

// What the relay says, as it is told to a client or to a node.

extension Problem {
    /// Whether a node that has passed the request on may send it to the next owner: nothing of it was carried out.
    var isUntouched: Bool {
        switch misplaced {
        case .elsewhere, .untouched: true
        case .needsGuest, nil: false
        }
    }

    /// Nothing of the request was carried out.
    init(_ misplaced: Misplaced) {
        let detail =
            switch misplaced {
            case .elsewhere(let elsewhere):
                if let owner = elsewhere.owner {
                    "This node does not serve the scene. The node at \(owner.address) serves it; ask again."
                } else {
                    "This node does not serve the scene. No node serves it at the moment; ask again."
                }
            case .needsGuest: "The session is at home elsewhere; ask again."
            case .untouched: "The node that serves the scene is shutting down; ask again."
            }
        self.init(.notOwner, detail, retryAfter: Self.retrySoon)
        self.misplaced = misplaced
    }

    /// Why a request is given up.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - peer: who has sent it.
    init(_ refusal: RelayRefusal, of peer: Peer) {
        switch refusal {
        case .misplaced(let misplaced): self.init(misplaced)
        case .notServed(let reason):
            self.init(
                .notOwner,
                "The node that served the scene does not now (\(reason)), and no other one does yet; ask again.",
                retryAfter: Self.retrySoon)
            misplaced = .untouched
        case .lost(let shards): self.init(lost: shards)
        case .homeUnreachable(let reason):
            self.init(
                .notOwner, "The node where the session is at home cannot be asked (\(reason)); ask again.",
                retryAfter: Self.retrySoon)
        case .engine(let error): self.init(error)
        case .draining: self.init(drainingFor: peer)
        }
    }

    /// The daemon shuts down: another node asks the next owner, and a client another node.
    init(drainingFor peer: Peer) {
        guard !peer.isNode else {
            self.init(.untouched)
            return
        }
        self.init(.draining, "The daemon is shutting down; ask its successor.", retryAfter: Self.retrySoon)
    }

    /// Some shards are served by no node at the moment.
    init(lost shards: [Int]) {
        let names = shards.prefix(8).map(String.init).joined(separator: ", ") + (shards.count > 8 ? ", …" : "")
        self.init(
            .notOwner,
            "No node serves \(shards.count == 1 ? "shard" : "the shards") \(names) at the moment; ask again.",
            retryAfter: Self.retrySoon)
    }
}

// MARK: - The engines that run here

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
