// The end of a session, and of everything bound to it: in one step, or in portions if that is much.

/// What is left of a session that ends in portions.
struct Leaving: Sendable {
    let ending: SessionEnding
    /// When it began to end.
    let since: Instant
    /// The transitions that are bound to it, the next one to end last.
    var bound: [TransitionID]
    /// Where the other sessions count that its client had when it began to end; one that begins later takes its place nowhere.
    let others: [SceneSelection]
    /// The last transition that was looked at in which its client takes part.
    var seen: DurableState.Participation?
}

/// The answer to the end of a session.
package enum SessionAnswer: Hashable, Sendable {
    case over(SessionView)
    /// It ends in the next turns; a notice tells when.
    case leaving(SessionID)
}

extension ArbiterStateMachine {
    /// Ends a session and everything bound to it; over several turns, if that is more than `Limits.portion`.
    ///
    /// From now on nobody can use it. Its tickets end before its granted transitions, and the last ticket first, so that none of
    /// them is granted in between. The record of the session's end comes last: after a restart before that, it lives again.
    mutating func end(_ id: SessionID, because ending: SessionEnding, in step: inout Step) {
        guard let session = durable.sessions[id], momentary.lives[id]?.leaving == nil else { return }
        guard (durable.index.bound[id]?.count ?? 0) + participations(of: session).count > Limits.portion else {
            return conclude(session, because: ending, in: &step)
        }
        let bound = bound(to: session).sorted { $0.place < $1.place }
        let leaving = Leaving(
            ending: ending, since: step.heardUntil,
            bound: (bound.filter { !$0.isQueued }.reversed() + bound.filter(\.isQueued)).map(\.id),
            others: durable.index.selections(of: session.client, besides: session.caller.scenes))
        change(id) { $0?.end(leaving) }
    }

    /// Ends a portion of what is bound to a session, and the session itself once nothing is left.
    mutating func endMore(of id: SessionID, in step: inout Step) {
        guard let session = durable.sessions[id], var leaving = momentary.lives[id]?.leaving else { return }
        while step.portion > 0 {
            if let next = leaving.bound.popLast() {
                if durable.transitions[next]?.hasRememberedEnd == false {
                    expire(next, because: .sessionLost, in: &step)
                }
            } else if let client = session.client,
                let next = participations(of: session).first(after: leaving.seen)
            {
                leaving.seen = next
                if isWaiting(next, for: session, besides: leaving.others) {
                    markGone(next.id, client: client, in: &step)
                }
            } else {
                return conclude(session, because: leaving.ending, in: &step)
            }
            step.spend(1)
        }
        momentary.lives[id]?.end(leaving)
    }

    /// Ends a session and what is still bound to it, in the order of places, and only then grants what this unblocks.
    mutating func conclude(_ id: SessionID, because ending: SessionEnding, in step: inout Step) {
        if let session = durable.sessions[id] { conclude(session, because: ending, in: &step) }
    }

    private mutating func conclude(_ session: Session, because ending: SessionEnding, in step: inout Step) {
        step.keep(.endSession(session.id, ending))
        let bound = bound(to: session)
        let scenes = scenes(of: session, bound)
        durable.sessions.removeValue(forKey: session.id)
        durable.memory.sessionCount -= 1
        durable.memory.visits -= session.scenes.count
        durable.index.leave(session)
        momentary.lives.removeValue(forKey: session.id)
        momentary.deadlines.cancel(.session(session.id))
        step.add(.notify(.sessionEnded(session, ending)))
        for transition in bound.sorted(by: { $0.place < $1.place }) {
            end(transition.id, as: .expired(.sessionLost), in: &step)
        }
        let guarded = (durable.index.guards[session.id] ?? []).sorted { $0.description < $1.description }
        for scene in guarded { withdrawGuards(of: scene, in: &step) { $0.session == session.id } }
        let others = durable.index.selections(of: session.client)
        let waiting = participations(of: session).all.filter { isWaiting($0, for: session, besides: others) }
        var ended: Set<SceneName> = []
        for joined in waiting {
            guard let client = session.client, part(client, from: joined.id, in: &step),
                let scene = durable.transitions[joined.id]?.request.scene
            else { continue }
            ended.insert(scene)
        }
        for scene in scenes { publish(.sessionEnded(session.id, session.client, ending), in: scene, &step) }
        let changed = Set(bound.map(\.request.scene)).union(scenes).union(guarded).union(ended)
        for scene in changed.sorted(by: { $0.description < $1.description }) { settle(scene, step: &step) }
        prune(at: step.now)
    }

    /// The unfinished transitions that end with a session.
    ///
    /// A remembered end is the owner's last word: the end of its session does not take it back.
    private func bound(to session: Session) -> [Transition] {
        (durable.index.bound[session.id] ?? []).compactMap { durable.transitions[$0] }
            .filter { !$0.hasRememberedEnd }
    }

    /// The scenes that get an event of a session's end: where it requested transitions, and where it takes part in one.
    ///
    /// - Returns: at most `Limits.scenesOfSession`, those used last; of the transitions in which it takes part, as many count.
    private func scenes(of session: Session, _ bound: [Transition]) -> [SceneName] {
        let joined = participations(of: session).latest(Limits.scenesOfSession)
            .compactMap { durable.transitions[$0.id]?.request.scene }.filter(session.caller.scenes.contains)
        var scenes = session.scenes.union(joined).union(bound.map(\.request.scene))
        if scenes.count > Limits.scenesOfSession {
            let used = scenes.map { (name: $0, order: durable.lastOrder(of: $0)) }
            scenes = Set(used.sorted { $0.order > $1.order }.prefix(Limits.scenesOfSession).map(\.name))
        }
        return scenes.sorted { $0.description < $1.description }
    }
}

// MARK: - Participants

extension ArbiterStateMachine {
    /// The last session of a participant is ending: a transition does not wait for it any more.
    mutating func markGone(_ id: TransitionID, client: ClientName, in step: inout Step) {
        guard durable.transitions[id]?.waits(for: client) == true else { return }
        step.keep(.markGone(id, client: client))
        guard part(client, from: id, in: &step), let scene = durable.transitions[id]?.request.scene else { return }
        settle(scene, step: &step)
        prune(at: step.now)
    }

    /// - Returns: whether the transition has ended.
    private mutating func part(_ client: ClientName, from id: TransitionID, in step: inout Step) -> Bool {
        durable.transitions[id]?.mark(client, as: .gone)
        return runIfAllAreReady(id, in: &step)
    }

    /// Whether a transition waits for a session's client, or will, in a scene where none of these sessions counts.
    ///
    /// A running one keeps its laggards.
    private func isWaiting(
        _ joined: DurableState.Participation, for session: Session, besides others: some Collection<SceneSelection>
    ) -> Bool {
        guard let client = session.client, durable.transitions[joined.id]?.waits(for: client) == true,
            let scene = durable.transitions[joined.id]?.request.scene, session.caller.scenes.contains(scene)
        else { return false }
        return !others.contains { $0.contains(scene) }
    }

    /// The unfinished transitions in which a session's client takes part.
    func participations(of session: Session) -> SortedLine<DurableState.Participation> {
        session.client.flatMap { durable.index.participations[$0] } ?? SortedLine()
    }
}

// MARK: - Visits

extension DurableState {
    /// Notes that a session requests a transition in a scene; of more than `Limits.scenesOfSession`, it leaves the one used
    /// longest ago.
    mutating func visit(_ scene: SceneName, by id: SessionID) {
        guard sessions[id]?.scenes.insert(scene).inserted == true, let visited = sessions[id]?.scenes else { return }
        index.visitors[scene, default: []].insert(id)
        memory.visits += 1
        guard visited.count > Limits.scenesOfSession,
            let oldest = visited.min(by: { lastOrder(of: $0) < lastOrder(of: $1) })
        else { return }
        sessions[id]?.scenes.remove(oldest)
        index.leave(oldest, id)
        memory.visits -= 1
    }

    fileprivate func lastOrder(of scene: SceneName) -> RequestOrder {
        scenes[scene]?.lastOrder ?? RequestOrder(rawValue: 0)
    }
}

extension Transition {
    /// Its entry in the index of those in which clients take part.
    var participation: DurableState.Participation { DurableState.Participation(order: order, id: id) }

    /// Whether it waits for a participant to become ready, or will once it is granted.
    fileprivate func waits(for client: ClientName) -> Bool {
        (state == .queued || state == .preparing)
            && participants.contains { $0.client == client && $0.asked == nil && $0.state == .waiting }
    }
}
