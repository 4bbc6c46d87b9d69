internal import ArbiterCore
internal import ArbiterEngine

// Clients with sessions over two shards.

extension ClusterSimulation {
    mutating func wake(sessionClient index: Int) {
        switch sessionClients[index].phase {
        case .closed, .opening:
            if isCalm { rest(index, .seconds(1) ... .seconds(2)) } else { open(index) }
        case .living(let life): life.until <= now ? conclude(life, index) : speak(life, index)
        case .ending(let life, let tries): end(life, tries: tries, index)
        }
    }

    mutating func hear(_ reply: Reply?, number: Int, sent: Instant, sessionClient index: Int) throws(Broken) {
        switch sessionClients[index].phase {
        case .closed: rest(index, .milliseconds(100) ... .seconds(2))
        case .opening: opened(reply, sent: sent, index)
        case .living(let life): try hear(reply, number: number, sent: sent, living: life, index)
        case .ending(let life, let tries):
            switch reply {
            case .session, .refused, .transition, .attached: close(life, index)
            case .notOwner, .unavailable, nil:
                if tries < 6 { rest(index, .milliseconds(50) ... .milliseconds(500)) } else { close(life, index) }
            }
        }
    }

    private mutating func rest(_ index: Int, _ range: ClosedRange<Duration>) {
        sessionClients[index].awaited = pause(client: contenders.count + index, for: chance.duration(range))
    }

    private mutating func call(_ question: Question, naming session: Token?, scene: SceneName, _ index: Int) {
        sessionClients[index].awaited = call(
            question, of: contenders.count + index, name: sessionClients[index].name, scene: scene, session: session)
    }

    // MARK: - Opening and ending

    private mutating func open(_ index: Int) {
        let client = sessionClients[index]
        guard let name = ClientName(client.name) else { preconditionFailure("\(client.name) is no name") }
        sessionClients[index].phase = .opening
        call(
            .openSession(home: client.home, timeToLive: .seconds(chance.number(in: 8...10)), client: name), naming: nil,
            scene: client.home, index)
    }

    private mutating func opened(_ reply: Reply?, sent: Instant, _ index: Int) {
        guard case .session(let view) = reply else {
            sessionClients[index].phase = .closed
            return rest(index, .milliseconds(100) ... .seconds(1))
        }
        statistics.count(.sessions)
        sessions.open(view.session, by: sessionClients[index].name, sent: sent)
        sessionClients[index].phase = .living(
            SessionClient.Life(
                session: view.session, until: now.advanced(by: chance.duration(.seconds(5) ... .seconds(60))),
                fallsSilent: chance.isOnce(in: 2), wordsAway: chance.number(in: 0...4)))
        rest(index, .zero ... .milliseconds(500))
    }

    private mutating func conclude(_ life: SessionClient.Life, _ index: Int) {
        if life.fallsSilent {
            statistics.count(.lostSessions)
            sessions.noteEnd(of: life.session.id, at: now)
            return close(life, index)
        }
        end(life, tries: 0, index)
    }

    private mutating func end(_ life: SessionClient.Life, tries: Int, _ index: Int) {
        sessionClients[index].phase = .ending(life, tries: tries + 1)
        sessions.noteEnd(of: life.session.id, at: now)
        if let held = life.held { history.noteEnd(of: held.id, at: now) }
        call(.endSession(life.session.token), naming: nil, scene: sessionClients[index].home, index)
    }

    /// The process of the client ends, and with it its connections.
    private mutating func close(_ life: SessionClient.Life, _ index: Int) {
        for stream in [life.stream, life.lostStream] { if let stream { closeStream(stream) } }
        if let held = life.held { history.noteEnd(of: held.id, at: now) }
        sessionClients[index].phase = .closed
        rest(index, .milliseconds(500) ... .seconds(3))
    }

    // MARK: - Words

    private mutating func speak(_ life: SessionClient.Life, _ index: Int) {
        let (client, token) = (sessionClients[index], life.session.token)
        sessionClients[index].asks = .word
        // Without its stream it has only a short time, so it attaches another one first.
        if life.lostStream != nil || life.wantsStream || life.stream == nil && chance.isOnce(in: 3) {
            sessionClients[index].asks = .stream
            return call(.attach(token), naming: token, scene: client.home, index)
        }
        if chance.number(in: 0...3) >= life.wordsAway {
            return call(.renewSession(token), naming: token, scene: client.home, index)
        }
        guard let held = life.held else {
            sessionClients[index].asks = .hold
            lastKey += 1
            let request = TransitionRequest(
                scene: client.away, client: ClientName(client.name), lease: .seconds(60), ticket: .seconds(30),
                session: token, idempotencyKey: IdempotencyKey("key-of-a-session-\(lastKey)"))
            return call(.serialize(request, wait: .seconds(1)), naming: token, scene: client.away, index)
        }
        guard chance.isOnce(in: 2) else {
            return call(.look(held.id), naming: token, scene: client.away, index)
        }
        // The token of the transition is enough.
        let named = chance.isOnce(in: 2) ? token : nil
        call(.renew(held.id, token: held.token), naming: named, scene: client.away, index)
    }

    private mutating func hear(
        _ reply: Reply?, number: Int, sent: Instant, living life: SessionClient.Life, _ index: Int
    ) throws(Broken) {
        var life = life
        let (isCertain, byHome) =
            switch reply {
            case .session, .attached: (true, true)
            case .transition: (true, false)
            case .refused, .notOwner, .unavailable, nil: (false, false)
            }
        if isCertain {
            statistics.count(.words)
            sessions.noteWord(in: life.session.id, sent: sent, byHome: byHome)
        }
        if case .refused(.unknownSession) = reply { return try lose(life, "its client hears so", index) }
        switch (sessionClients[index].asks, reply) {
        case (.hold, .transition(let view)) where view.transition.state != .ended:
            statistics.count(.guests)
            life.held = (view.transition.id, view.transition.token)
        case (.stream, .attached):
            statistics.count(.streams)
            // The new one is there, so the client closes the one that it has given up.
            if let lost = life.lostStream { closeStream(lost) }
            (life.stream, life.lostStream, life.wantsStream) = (number, nil, false)
            sessions.doubt(life.session.id, false)
            beginComments(on: number, client: index, life)
        case (.stream, nil):
            // Its connection is closed, which its node may notice at any time.
            life.wantsStream = true
            sessions.doubt(life.session.id, true)
        default:
            if let view = reply?.view, view.transition.id == life.held?.id, view.transition.state == .ended {
                if view.outcome == .expired(.sessionLost) {
                    return try lose(life, "its transition in the other shard has", index)
                }
                life.held = nil
            }
        }
        sessionClients[index].asks = .nothing
        sessionClients[index].phase = .living(life)
        let pause = life.session.timeToLive / 4
        // With a stream, it says nothing for a long time.
        if life.stream != nil {
            rest(index, pause * 3...pause * 6)
        } else if isCertain {
            rest(index, pause / 2...pause)
        } else {
            rest(index, .milliseconds(50) ... .milliseconds(400))
        }
    }

    private mutating func lose(_ life: SessionClient.Life, _ told: String, _ index: Int) throws(Broken) {
        try sessions.checkEnd(of: life.session.id, at: now, as: told)
        sessions.noteEnd(of: life.session.id, at: now)
        close(life, index)
    }

    // MARK: - Streams

    private mutating func beginComments(on stream: Int, client: Int, _ life: SessionClient.Life) {
        guard let path = paths[stream] else { return }
        streams[stream] = OpenStream(
            client: client, session: life.session.id, timeToLive: life.session.timeToLive, relays: path.relays,
            home: path.home)
        expectComment(on: stream)
    }

    private func expectComment(on stream: Int) {
        guard let open = streams[stream] else { return }
        let signals = cluster.signals
        world.timeline.schedule(after: min(.seconds(5), open.timeToLive / 4)) { signals.post(.comment(stream)) }
    }

    /// A comment is due on a stream: it comes if everything between its client and its home works.
    mutating func hearComment(on stream: Int) {
        guard var open = streams[stream] else { return }
        let isSent =
            open.home.isRunning && cluster.node(open.home.node)?.has(stream) == true
            && cluster.node(open.home.node)?.process === open.home
        let network = world.network
        let places = (open.relays + [open.home]).map { Network.Place.node($0.node) }
        let isRelayed =
            open.relays.allSatisfy(\.isRunning)
            && zip([.clients] + places, places).allSatisfy { !network.isCut(from: $1, to: $0) }
        if isSent, isRelayed {
            open.missedComments = 0
            sessions.noteWord(in: open.session, sent: now)
        } else {
            open.missedComments += 1
        }
        streams[stream] = open
        if open.missedComments < 2 { return expectComment(on: stream) }
        loseStream(stream)
    }

    /// A node has died, and with it what it relayed.
    mutating func loseStreams(over process: Process) {
        for (stream, path) in paths.sorted(by: { $0.key < $1.key })
        where path.relays.contains(where: { $0 === process }) {
            loseRelay(of: stream)
            guard streams[stream] != nil else { continue }
            statistics.count(.lostRelays)
            loseStream(stream)
        }
    }

    /// The home of a session notices that the relay of a stream is gone.
    func loseRelay(of stream: Int) {
        guard let home = paths[stream]?.home else { return }
        let cluster = cluster
        world.timeline.schedule(after: chance.duration(.milliseconds(1) ... .seconds(1)), in: home) {
            cluster.node(home.node)?.loseRelay(of: stream)
        }
    }

    /// The client of a stream notices that it has ended.
    private mutating func loseStream(_ stream: Int) {
        guard let open = streams.removeValue(forKey: stream), var life = sessionClients[open.client].life,
            life.stream == stream, case .living = sessionClients[open.client].phase
        else { return }
        let name = sessionClients[open.client].name
        note("\(name) has lost stream \(stream)")
        (life.stream, life.lostStream) = (nil, stream)
        sessionClients[open.client].phase = .living(life)
        // It has nothing else to wait for, or hears soon.
        let (signals, index) = (cluster.signals, contenders.count + open.client)
        guard pending[sessionClients[open.client].awaited] == nil else { return }
        lastNumber += 1
        let number = lastNumber
        sessionClients[open.client].awaited = number
        world.timeline.schedule(after: chance.duration(.milliseconds(50) ... .seconds(3))) {
            signals.post(.timer(client: index, number: number))
        }
    }

    /// Its client closes a stream, which its node notices, and tells the home.
    mutating func closeStream(_ stream: Int) {
        note("stream \(stream) is closed by its client")
        streams[stream] = nil
        if let path = paths[stream] { departClient(of: stream, path) }
    }
}

extension Reply {
    /// The transition in the answer.
    var view: TransitionView? {
        switch self {
        case .transition(let view), .refused(.alreadyEnded(let view)), .refused(.endedWithoutOwner(let view)): view
        case .session, .attached, .refused, .notOwner, .unavailable: nil
        }
    }
}
