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

    /// The daemon shuts down.
    ///
    /// Another node then asks the next owner of the shard; a client asks the daemon's successor.
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
