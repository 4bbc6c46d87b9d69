internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTransfers

// Answers whose parts come from several shards, and sessions that are used in several.

extension Call {
    /// The engine of a scene, which knows the session too; it has been asked once whether there is such a session.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(
        of scene: SceneName, in shards: Shards, hosting session: Token?, waiting wait: Duration = .zero
    ) throws(Problem) -> Engine {
        try waiting(wait) { () throws(Problem) in try shards.engine(of: scene, hosting: mayNeedGuest ? session : nil) }
    }

    /// The engine of the scene of a transition, which knows the session too.
    ///
    /// - Throws: `not-owner` if it runs elsewhere, or nowhere, or if the session has to become its guest before.
    func engine(
        of id: TransitionID, in shards: Shards, hosting session: Token?, waiting wait: Duration = .zero
    ) throws(Problem) -> Engine {
        try waiting(wait) { () throws(Problem) in try shards.engine(of: id, hosting: mayNeedGuest ? session : nil) }
    }

    /// Finds an engine for a request that waits so long where it is carried out, also if that is elsewhere.
    private func waiting(_ wait: Duration, _ find: () throws(Problem) -> Engine) throws(Problem) -> Engine {
        do throws(Problem) {
            return try find()
        } catch {
            throw error.waiting(wait)
        }
    }
}

extension Call {
    /// The shards of which another node wants this node's part of an answer; `nil` if no node asks.
    ///
    /// - Throws: `not-owner` if one of them does not run here.
    func part(of shards: Shards) throws(Problem) -> Shards.Group? {
        guard request.peer.isNode, let text = request.headers.value(of: .part) else { return nil }
        var numbers: [Int] = []
        for word in text.split(separator: ",") {
            guard let number = Int(word), 0..<shards.count ~= number else {
                throw Problem(
                    .invalidField, "There is no shard \(quoted(String(word))).", field: HeaderName.part.rawValue)
            }
            numbers.append(number)
        }
        return try shards.group(of: numbers)
    }

    /// What another node is asked for its part of the answer; `nil` if this daemon is no node.
    func part(of shards: [Int], from owner: String, _ path: String) -> TransferRequest? {
        forwarder?.part(of: shards, from: owner, path, for: self)
    }

    /// What opens the stream of shards that another node serves.
    func following(_ request: TransferRequest, of count: Int) -> GatheredEvents.Open {
        { [forwarder, exchange] shards, position in
            guard let forwarder else { return EmptySource() }
            var request = request
            if let position { request.url += "?since=" + PercentEncoding.encode(position.text(ofShards: count)) }
            return forwarder.follow(request, of: shards, outlet: exchange)
        }
    }
}

extension Problem {
    /// The problem of a request that waits so long where it is carried out.
    fileprivate func waiting(_ wait: Duration) -> Problem {
        var problem = self
        problem.elsewhere?.wait = wait
        problem.guest?.wait = wait
        return problem
    }

    /// Some shards are served by no node at the moment.
    init(lost shards: [Int]) {
        let names = shards.prefix(8).map(String.init).joined(separator: ", ") + (shards.count > 8 ? ", …" : "")
        self.init(
            .notOwner,
            "No node serves \(shards.count == 1 ? "shard" : "the shards") \(names) at the moment; ask again.",
            retryAfter: Self.briefly)
    }
}
