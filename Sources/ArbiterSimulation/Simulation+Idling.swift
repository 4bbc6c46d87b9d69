internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// Awaits of idle scenes: when each is answered and with what, by a naive idea of since when a scene is idle.

/// Since when each scene is idle, if it is, kept independently of the state machine.
struct IdleTimes {
    private var begun = Instant(nanoseconds: 0)
    private var since: [SceneName: Instant] = [:]

    /// A restart: every scene begins anew.
    mutating func begin(at now: Instant) {
        self = IdleTimes()
        begun = now
    }

    mutating func begin(_ scene: SceneName, at now: Instant) { since[scene] = now }

    /// How long a scene has been idle, if it is.
    func length(of scene: SceneName, at now: Instant) -> Duration {
        (since[scene] ?? begun).duration(to: now)
    }
}

/// How a scene is for those who wait for it to be idle.
struct Idleness: Hashable {
    let scene: SceneName
    let part: ControllerID?
    let isIdle: Bool
    let idleFor: Duration?
    var busy: Set<TransitionID>
    let running: Int
    let queued: Int
    let revision: UInt64

    /// Whether an answer says this; it names some of the busy ones.
    func fits(_ told: Idleness) -> Bool {
        var all = told
        all.busy = busy
        return all == self && told.busy.isSubset(of: busy)
            && told.busy.count == min(busy.count, Limits.blockersShown)
    }
}

extension Idleness {
    init(_ view: IdleView) {
        scene = view.summary.name
        part = view.part
        busy = Set(view.busy.map(\.id))
        isIdle = view.isIdle
        idleFor = view.idleFor
        running = view.summary.running
        queued = view.summary.queued
        revision = view.summary.revision.rawValue
    }
}

/// A parked await of an idle scene.
struct ParkedIdler {
    let number: Int
    /// `nil` if it is answered in the same turn.
    let waiter: WaiterID?
    let request: Request
    let scene: SceneName
    /// The controller below which nothing is to be unfinished; `nil` for the whole scene.
    let part: ControllerID?
    let quiet: Duration
    /// Of a part: since when it is idle, if it is.
    var since: Instant
    let until: Instant
    /// The session that it keeps alive.
    let session: SessionID?
}

extension Rulebook {
    /// How a scene is now.
    func idleness(of scene: SceneName, below part: ControllerID?, for quiet: Duration, since: Instant) -> Idleness {
        let (unfinished, queued) = (oracle.unfinished(in: scene), oracle.queued(in: scene))
        let busy = oracle.busy(in: scene, below: part)
        let length = part == nil ? idleTimes.length(of: scene, at: now) : since.duration(to: now)
        let idleFor = busy.isEmpty ? length : nil
        return Idleness(
            scene: scene, part: part, isIdle: idleFor.map { $0 >= quiet } ?? false,
            idleFor: idleFor.map { min($0, .seconds(120)) }, busy: busy, running: unfinished - queued, queued: queued,
            revision: oracle.scene(scene).revision)
    }

    func awaitIdle(_ scene: SceneName, below part: ControllerID?, quiet: Duration, wait: Duration) -> Prediction {
        let isIdle = idleness(of: scene, below: part, for: quiet, since: now).isIdle
        let parks = wait > .zero && !isDraining && !isIdle
        return Prediction(verdict: parks ? .parked : .idleness)
    }
}

extension Simulation {
    /// How a scene is now.
    func idleness(of scene: SceneName, below part: ControllerID?, for quiet: Duration, since: Instant) -> Idleness {
        rulebook.idleness(of: scene, below: part, for: quiet, since: since)
    }

    private func idleness(of idler: ParkedIdler) -> Idleness {
        idleness(of: idler.scene, below: idler.part, for: idler.quiet, since: idler.since)
    }

    /// A client waits for a scene to be idle, or asks whether it is.
    mutating func awaitIdleScene() throws(Broken) {
        guard let client = someClient() else { return }
        let scene = someScene()
        let quiet = chance.isOnce(in: 3) ? .zero : chance.milliseconds(upTo: chance.isOnce(in: 12) ? 120_000 : 2_000)
        let session = chance.isOnce(in: 3) ? clients[client].sessions.randomElement(using: &chance) : nil
        let part = chance.isOnce(in: 2) ? chance.member(of: oracle.scene(scene).tree) : nil
        try send(.awaitIdle(scene, below: part, quiet: quiet, session: session, wait: someWait()), from: client)
    }

    mutating func parkIdler(
        _ pending: Pending, _ scene: SceneName, below part: ControllerID?, quiet: Duration, _ session: Token?,
        _ wait: Duration
    ) {
        let kept = session.flatMap { oracle.sessions[$0]?.id }
        if let kept { vigils.attach(kept) }
        idlers.append(
            ParkedIdler(
                number: pending.number, waiter: pending.waiter, request: pending.request, scene: scene, part: part,
                quiet: quiet, since: now, until: now.advanced(by: wait), session: kept))
    }

    /// Notes after a record which scenes begin to be idle.
    mutating func noteIdling(after record: Record) {
        switch record {
        case .declare(let scene, _), .delete(let scene): idleTimes.begin(scene, at: now)
        case .start, .serialize, .end, .revoke, .revokeAll, .update, .decide, .perform, .markReady, .veto,
            .answerGuards, .addGuard,
            .removeGuard, .markGone, .openSession,
            .endSession,
            .patch,
            .expire, .interrupt, .endInterrupted,
            .expireUnclaimed, .timeOutParticipants, .adopt, .distrust, .skipFences, .resume, .stop:
            break
        }
        for (scene, entry) in oracle.departures {
            for index in idlers.indices where idlers[index].scene == entry.scene {
                if let part = idlers[index].part, scene.conflicts(entry, with: part) { idlers[index].since = now }
            }
            // Those whose wait is over may be answered with this.
            for index in owedAnswers.indices {
                guard case .awaitIdle(entry.scene, let part?, _, _, _) = owedAnswers[index].request.ask,
                    scene.conflicts(entry, with: part)
                else { continue }
                owedAnswers[index].idleSince = now
            }
        }
        for (id, _) in oracle.endings {
            guard let scene = ledger[id]?.request.scene, oracle.unfinished(in: scene) == 0 else { continue }
            idleTimes.begin(scene, at: now)
        }
    }

    // MARK: - Answers

    /// Expects the answers that a turn begins with: whose scene has been idle for long enough, and whose wait is over.
    mutating func answerDueIdlers(_ turn: inout Turn) {
        let now = now
        for idler in idlers {
            let idleness = idleness(of: idler)
            guard idleness.isIdle || idler.until <= now else { continue }
            wake(idler, idleness)
            if !idleness.isIdle { statistics.count(.idleWaitsOver) }
            // A decision that is due as well may come first, and be seen: beside an idle part, too.
            if !idleness.isIdle || idler.part != nil { turn.wakingIdlers.append(idler.number) }
        }
    }

    /// Expects the answers to those whose scene has become idle with a record, or that may show the record.
    mutating func answerReachedIdlers(in turn: inout Turn) {
        for index in owedAnswers.indices where turn.wakingIdlers.contains(owedAnswers[index].number) {
            guard case .awaitIdle(let scene, let part, let quiet, _, _) = owedAnswers[index].request.ask,
                let since = owedAnswers[index].idleSince
            else { continue }
            owedAnswers[index].idleness.append(idleness(of: scene, below: part, for: quiet, since: since))
        }
        for idler in idlers {
            let idleness = idleness(of: idler)
            guard idleness.isIdle else { continue }
            wake(idler, idleness)
            // Beside an idle part, another decision of the turn may be seen.
            if idler.part != nil { turn.wakingIdlers.append(idler.number) }
        }
    }

    mutating func answerAllIdlers() {
        for idler in idlers {
            wake(idler, idleness(of: idler))
            owedAnswers[owedAnswers.count - 1].latest = observed
        }
    }

    /// Expects an answer, unless the connection of the await closes in this turn.
    private mutating func wake(_ idler: ParkedIdler, _ idleness: Idleness) {
        idlers.removeAll { $0.number == idler.number }
        if let session = idler.session {
            vigils.detach(session, client: .present, grace: configuration.limits.grace, at: now)
        }
        guard idler.number != leavingIdler else { return }
        var owed = OwedAnswer(
            number: idler.number, request: idler.request, verdict: .idleness, computedAt: outside,
            states: [OwedAnswer.State(transition: nil, sequence: observed)], latest: .max)
        owed.wasParked = true
        owed.idleness = [idleness]
        owed.idleSince = idler.since
        statistics.count(idleness.isIdle ? .idleWakes : .wakes)
        owedAnswers.append(owed)
    }

    /// The connection of a parked await closes.
    mutating func leave(_ leaving: ParkedIdler) throws(Broken) {
        statistics.count(.leaves)
        guard let waiter = leaving.waiter else { preconditionFailure("\(leaving.number) waits and has not parked") }
        process.engine.leave(waiter)
        note(.left(waiter))
        // What is due comes first, and finds the await parked.
        leavingIdler = leaving.number
        try absorb(isTurn: true)
        leavingIdler = nil
        guard let index = idlers.firstIndex(where: { $0.number == leaving.number }) else { return }
        idlers.remove(at: index)
        if let session = leaving.session {
            vigils.detach(session, client: .gone, grace: configuration.limits.grace, at: now)
        }
    }

    /// Checks after a turn that nobody waits for what has come.
    func checkNobodyWaitsForIdle() throws(Broken) {
        for idler in idlers where idler.number != leavingIdler {
            guard idler.until > now, !idleness(of: idler).isIdle else {
                throw Broken(.wake, "\(idler.number) waits on for \(idler.scene)")
            }
        }
    }
}
