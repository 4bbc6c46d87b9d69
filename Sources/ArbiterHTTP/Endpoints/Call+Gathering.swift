internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

// Answers whose parts come from several shards, and sessions that are used in several.

extension Call {
    /// The engine of a scene, which knows the session too.
    ///
    /// Once the home of the session has been asked, an engine that does not know the session is returned as well: then
    /// there is no such session.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(
        of scene: SceneName, in shards: Shards, hosting session: Token?, waiting wait: Duration = .zero
    ) throws(Problem) -> Engine {
        try engine(at: { Slot(scene) }, in: shards, hosting: session, waiting: wait)
    }

    /// The engine of the scene of a transition, which knows the session too.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(
        of id: TransitionID, in shards: Shards, hosting session: Token?, waiting wait: Duration = .zero
    ) throws(Problem) -> Engine {
        try engine(at: { id.slot }, in: shards, hosting: session, waiting: wait)
    }

    /// Finds an engine for a request that waits so long where it is carried out, also if that is elsewhere.
    private func engine(
        at slot: () -> Slot, in shards: Shards, hosting session: Token?, waiting wait: Duration
    ) throws(Problem) -> Engine {
        if let only = shards.only { return only }
        do throws(Misplaced) {
            return try shards.engine(at: slot(), hosting: mayNeedGuest ? session : nil)
        } catch {
            throw Problem(error.waiting(wait))
        }
    }
}

extension Call {
    /// The shards whose part of an answer another node asks this node for; `nil` if no node asks for a part.
    ///
    /// - Throws: `not-owner` if one of them does not run here.
    func part(of shards: Shards) throws(Problem) -> Shards.Group? {
        guard request.peer.isNode, let text = request.headers.value(of: .part) else { return nil }
        var numbers: [Int] = []
        for word in text.split(separator: ",") {
            guard let number = Int(word), 0..<shards.count ~= number else {
                throw Problem(
                    .invalidField, "There is no shard \(quoted(String(word))).", field: HeaderName.part.text)
            }
            numbers.append(number)
        }
        return try found { () throws(Misplaced) in try shards.group(of: numbers) }
    }

    /// What another node is asked for its part of the answer; `nil` if this daemon is no node.
    func part(of shards: [Int], from owner: String, _ path: String) -> TransferRequest? {
        forwarder?.part(of: shards, from: owner, path, for: self)
    }

    /// What opens the stream of shards that another node serves.
    func following(_ request: TransferRequest, of count: Int) -> GatheredEvents.Open {
        { [forwarder, relay, exchange] shards, position in
            guard let forwarder, let relay else { return EmptySource() }
            var request = request
            if let position { request.url += "?since=" + PercentEncoding.encode(position.text(ofShards: count)) }
            return forwarder.follow(request, of: shards, among: relay.open, outlet: exchange)
        }
    }
}
