internal import ArbiterCore
internal import ArbiterEngine

// Clients that request transitions.

extension ClusterSimulation {
    /// A pause of a contender has ended, or no answer has come.
    mutating func wake(contender index: Int) {
        switch contenders[index].phase {
        case .idle: if isCalm { rest(index, .seconds(1) ... .seconds(2)) } else { request(index) }
        case .requesting(let request): send(request, of: index)
        case .queued(let id, let token, let scene): awaitTurn(index, id, token, scene)
        case .holding(let hold): hold.until <= now ? conclude(hold, index) : speak(hold, index)
        case .ending(let hold, let outcome, let tries): end(hold, outcome, tries: tries, index)
        }
    }

    /// A call of a contender has been answered; `nil` if no answer came in time.
    mutating func hear(_ reply: Reply?, contender index: Int) {
        switch contenders[index].phase {
        case .idle: rest(index, .zero ... .milliseconds(500))
        case .requesting(let request): hear(reply, of: request, index)
        case .queued(let id, let token, let scene): hear(reply, queued: id, token, scene, index)
        case .holding(let hold): hear(reply, holding: hold, index)
        case .ending: hear(reply, endingBy: index)
        }
    }

    private mutating func rest(_ index: Int, _ range: ClosedRange<Duration>) {
        contenders[index].awaited = pause(client: index, for: chance.duration(range))
    }

    private mutating func beIdle(_ index: Int) {
        contenders[index].phase = .idle
        rest(index, .milliseconds(20) ... .milliseconds(1_500))
    }

    // MARK: - Requests

    private mutating func request(_ index: Int) {
        lastKey += 1
        let lease = Duration.milliseconds(chance.number(in: 8...40) * 100)
        let scene = scenes[chance.number(in: 0...scenes.count - 1)]
        let request = TransitionRequest(
            scene: scene, client: ClientName("\(contenders[index].name)-\(lastKey)"), lease: lease,
            ticket: .milliseconds(chance.number(in: 20...80) * 100),
            idempotencyKey: chance.isOnce(in: settings.keylessRarity)
                ? nil : IdempotencyKey("key-of-a-contender-\(lastKey)"))
        send(Contender.Request(request: request, isSerialized: !chance.isOnce(in: 3)), of: index)
    }

    private mutating func send(_ request: Contender.Request, of index: Int) {
        var next = request
        next.tries += 1
        contenders[index].phase = .requesting(next)
        let wait = Duration.milliseconds(chance.number(in: 0...25) * 100)
        if request.tries > 0 { statistics.count(.repeatedRequests) }
        contenders[index].awaited = call(
            request.isSerialized ? .serialize(request.request, wait: wait) : .start(request.request), of: index,
            name: contenders[index].name, scene: request.request.scene, isRepeated: request.tries > 0)
    }

    private mutating func hear(_ reply: Reply?, of request: Contender.Request, _ index: Int) {
        switch reply {
        case .transition(let view): take(view, index)
        case .refused, .session, .attached: beIdle(index)
        case .notOwner:
            // Nothing was carried out, so it may just as well ask for something else.
            if request.isOnlyRefused, chance.isOnce(in: 6) {
                if let key = request.request.idempotencyKey { history.forswear(key) }
                return beIdle(index)
            }
            contenders[index].phase = .requesting(request)
            rest(index, .milliseconds(20) ... .milliseconds(400))
        case .unavailable, nil:
            guard request.request.idempotencyKey != nil else { return beIdle(index) }
            var uncertain = request
            uncertain.isOnlyRefused = false
            contenders[index].phase = .requesting(uncertain)
            rest(index, .milliseconds(20) ... .milliseconds(800))
        }
    }

    /// An answer says how the transition of a contender is.
    private mutating func take(_ view: TransitionView, _ index: Int) {
        let (transition, scene) = (view.transition, view.transition.request.scene)
        switch transition.state {
        case .queued:
            contenders[index].phase = .queued(transition.id, transition.token, scene)
            // Some come too late, and some not at all.
            if chance.isOnce(in: 30) { return beIdle(index) }
            rest(index, chance.isOnce(in: 15) ? .seconds(1) ... .seconds(6) : .zero ... .milliseconds(50))
        case .preparing, .running:
            statistics.count(.grants)
            let isLong = index % 4 == 0
            let duration = chance.duration(isLong ? .seconds(5) ... .seconds(25) : .milliseconds(20) ... .seconds(3))
            contenders[index].phase = .holding(
                Contender.Hold(
                    id: transition.id, token: transition.token, scene: scene, lease: transition.lease,
                    until: now.advanced(by: duration), fallsSilent: chance.isOnce(in: 12), onlyRenews: isLong))
            rest(index, .zero...transition.lease / 3)
        case .ended: beIdle(index)
        }
    }

    private mutating func awaitTurn(_ index: Int, _ id: TransitionID, _ token: Token, _ scene: SceneName) {
        let wait = Duration.milliseconds(chance.number(in: 2...30) * 100)
        contenders[index].awaited = call(
            .await(id, token: token, until: .running, wait: wait), of: index, name: contenders[index].name,
            scene: scene)
    }

    private mutating func hear(
        _ reply: Reply?, queued id: TransitionID, _ token: Token, _ scene: SceneName, _ index: Int
    ) {
        switch reply {
        case .transition(let view): take(view, index)
        case .refused, .session, .attached: beIdle(index)
        case .notOwner, .unavailable, nil: rest(index, .milliseconds(20) ... .milliseconds(500))
        }
    }

    // MARK: - Holding

    private mutating func speak(_ hold: Contender.Hold, _ index: Int) {
        let parks = !hold.onlyRenews && chance.isOnce(in: 3)
        contenders[index].awaited = call(
            parks
                ? .await(hold.id, token: hold.token, until: .ended, wait: chance.duration(.zero ... .seconds(2)))
                : .renew(hold.id, token: hold.token),
            of: index, name: contenders[index].name, scene: hold.scene)
    }

    private mutating func hear(_ reply: Reply?, holding hold: Contender.Hold, _ index: Int) {
        switch reply {
        case .transition(let view):
            guard view.transition.state == .running else { return beIdle(index) }
            rest(index, hold.lease / 8...hold.lease / 2)
        case .refused, .session, .attached: beIdle(index)
        case .notOwner, .unavailable, nil: rest(index, .milliseconds(20) ... .milliseconds(300))
        }
    }

    private mutating func conclude(_ hold: Contender.Hold, _ index: Int) {
        guard !hold.fallsSilent else { return beIdle(index) }
        end(hold, chance.isOnce(in: 4) ? .cancelled : .completed, tries: 0, index)
    }

    private mutating func end(_ hold: Contender.Hold, _ outcome: EndOutcome, tries: Int, _ index: Int) {
        contenders[index].phase = .ending(hold, outcome, tries: tries + 1)
        history.noteEnd(of: hold.id, at: now)
        contenders[index].awaited = call(
            .end(hold.id, token: hold.token, outcome), of: index, name: contenders[index].name, scene: hold.scene)
    }

    private mutating func hear(_ reply: Reply?, endingBy index: Int) {
        switch reply {
        case .transition:
            statistics.count(.ends)
            beIdle(index)
        case .refused, .session, .attached: beIdle(index)
        case .notOwner, .unavailable, nil: rest(index, .milliseconds(20) ... .milliseconds(400))
        }
    }
}
