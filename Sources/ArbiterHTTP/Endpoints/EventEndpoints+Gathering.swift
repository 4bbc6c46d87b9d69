internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

// `/events` over several shards, some of which other nodes serve.

extension EventEndpoints {
    /// Answers with the events of all shards; if another node asks for a part, with the events of the shards that it
    /// names.
    ///
    /// If the request names a session, the node of its home gathers the streams, because the session is attached there.
    func gather(_ call: Call) throws(Problem) {
        let count = shards.count
        let since = try since(call) { text, field throws(Problem) in
            try EventPosition(text, field: field, shards: count)
        }
        let groups = try call.part(of: shards).map { [$0] } ?? shards.groups
        if let lost = groups.first(where: \.isLost) { throw Problem(lost: lost.shards) }
        let token = try call.session()
        let home = try token.map { token throws(Problem) in try shards.engine(of: token) }
        guard call.request.method != "HEAD" else { return showHead(call, for: token, home) }
        try reservePlace(call)
        let requests = groups.map { group in
            group.owner.flatMap { call.part(of: group.shards, from: $0, "/events") }
        }
        guard let token, let home else {
            return stream(call, from: gathered(Array(zip(groups, requests)), call, after: since))
        }
        let presence = call.presenceAtClose()
        home.attach(token, by: call.takeAsker()) { [self] result in
            switch result {
            case .failure(let error): call.respond(Problem(error).response)
            case .success(let attachment):
                let reader = Reader(
                    home: shards.home(of: token), session: attachment.session,
                    whenClosed: { home.detach(attachment, client: presence($0)) })
                stream(call, from: gathered(Array(zip(groups, requests)), call, after: since, for: reader))
                endIfOver(attachment.session, token, home)
            }
        }
    }

    /// A session that is attached to gathered streams.
    private struct Reader {
        let home: Shard
        let session: SessionID
        let whenClosed: EventSubscription.WhenClosed
    }

    private func gathered(
        _ groups: [(Shards.Group, TransferRequest?)], _ call: Call, after position: EventPosition?,
        for reader: Reader? = nil
    ) -> GatheredEvents {
        var parts: [(shards: [Int], open: GatheredEvents.Open)] = []
        for (group, request) in groups {
            if let request {
                parts.append((group.shards, call.following(request, of: shards.count)))
            }
            for (index, engine) in zip(group.shards, group.engines) {
                let shard = Shard(index, of: shards.count)
                let session = reader.flatMap { $0.home == shard ? $0.session : nil }
                parts.append(([index], subscribing(to: shard, engine, call, for: session)))
            }
        }
        let whenClosed: EventSubscription.WhenClosed = { isCut in reader?.whenClosed(isCut) }
        return GatheredEvents(parts, after: position, of: shards.count, whenClosed: whenClosed)
    }

    /// What opens the stream of a shard that runs here.
    private func subscribing(
        to shard: Shard, _ engine: Engine, _ call: Call, for session: SessionID?
    ) -> GatheredEvents.Open {
        let source = ShardSource(hub: hub, shard: shard, engine: engine, session: session, call: call)
        return source.open
    }
}

/// The events of a shard that runs here.
private struct ShardSource: Sendable {
    let hub: EventHub
    let shard: Shard
    let engine: Engine
    /// The session that is attached to them.
    let session: SessionID?
    let call: Call

    func open(_: [Int], after position: EventPosition?) -> any StreamSource {
        let scenes = call.caller.scenes
        return hub.subscribe(
            to: .shard(shard), after: position?.numbers[shard.index], session: session, permission: call.permission,
            outlet: call.exchange,
            reset: { [engine, shard] completion in
                engine.snapshot(of: .shard(shard), scenes: scenes, completion: completion)
            })
    }
}
