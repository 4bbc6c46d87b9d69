internal import ArbiterCore
internal import ArbiterModel

/// The answer and the record of an ask by the rules, computed from the ledger and the oracle alone.
struct Prediction {
    let verdict: Verdict
    /// The record that it makes; `nil` if it changes nothing durable.
    var record: Record?
    /// The oracle after the record, if it had to be computed.
    var oracle: NaiveOracle?
    /// What the answer to a dry run says.
    var trial: Trial?
}

/// The rules, and the state that they are applied to.
struct Rulebook {
    let ledger: Ledger
    let oracle: NaiveOracle
    let idleTimes: IdleTimes
    let isDraining: Bool
    let now: Instant

    /// Predicts the answer and the record of an ask.
    ///
    /// - Parameters:
    ///   - ask: the request.
    ///   - record: the record that was made, of which only the random ids and tokens are used.
    /// - Returns: the expected answer and record.
    func prediction(on ask: Ask, kept record: Record?) -> Prediction {
        let drawn = Drawn(record)
        return switch ask {
        case .start(let request): start(named(request), drawn)
        case .serialize(let request, let wait):
            serialize(named(request), drawn, mayPark: wait > .zero && !isDraining)
        case .dryRun(let request, let isSerialized): dryRun(request, isSerialized: isSerialized)
        case .await(let id, let token, let milestone, _, let wait):
            owned(id, token: token) { entry in
                // The owner hears of an interruption at once.
                let isNews = token != nil && oracle[id]?.interruption != nil && !entry.knowsInterruption
                let parks = wait > .zero && !isDraining && !entry.hasReached(milestone, in: oracle) && !isNews
                return Prediction(verdict: parks ? .parked : .transition(id))
            }
        case .awaitIdle(let scene, let part, let quiet, _, let wait):
            awaitIdle(scene, below: part, quiet: quiet, wait: wait)
        case .look(let id): owned(id, token: nil) { _ in Prediction(verdict: .transition(id)) }
        case .end(let id, let token, let outcome): owned(id, token: token) { end($0, outcome, token) }
        case .revoke(let id, let reason): owned(id, token: nil) { revoke($0, reason) }
        case .revokeAll(let scene, let client, let reason): revokeAll(in: scene, of: client, reason)
        case .update(let id, let token, let update): owned(id, token: token) { self.update($0, update) }
        case .renew(let id, let token): owned(id, token: token) { renew($0) }
        case .progress(let id, let token, let progress): owned(id, token: token) { self.progress($0, progress) }
        case .release(let id, let token, let release): owned(id, token: token) { self.release($0, release) }
        case .perform(let id, let token, let operation, let expectations, let ignoresGuards):
            owned(id, token: token) { perform($0, operation, expectations, ignoresGuards: ignoresGuards) }
        case .addGuard(let scene, let controllers, let onSilence, let token):
            addGuard(of: controllers, in: scene, onSilence, token, drawn)
        case .removeGuard(let scene, let id, let token): removeGuard(id, of: scene, token)
        case .report(let readiness, let id, let client, let session): report(readiness, on: id, client, session)
        case .openSession(let client, let timeToLive): openSession(client, timeToLive, drawn)
        case .renewSession(let token):
            Prediction(verdict: oracle.sessions[token].map { .session($0.id) } ?? .refused(.unknownSession))
        case .attach(let token):
            Prediction(verdict: oracle.sessions[token] == nil ? .refused(.unknownSession) : .attached)
        case .endSession(let token):
            oracle.sessions[token].map {
                Prediction(verdict: .session($0.id), record: .endSession($0.id, .ended))
            } ?? refused(.unknownSession)
        case .declare(let scene, let storyboard, let precondition): declare(scene, storyboard, precondition)
        case .patch(let scene, let patch, let precondition): self.patch(scene, patch, precondition)
        case .delete(let scene, let precondition): delete(scene, precondition)
        }
    }

    /// The ids and tokens that the engine has drawn; placeholders if there is no record.
    struct Drawn {
        var transition = TransitionID(rawValue: 0)
        var session = SessionID(rawValue: 0)
        var token = Token(high: 0, low: 0)
        var guarding = GuardID(rawValue: 0)

        init(_ record: Record?) {
            switch record {
            case .start(_, let id, let token), .serialize(_, let id, let token): (transition, self.token) = (id, token)
            case .openSession(_, _, let id, let token, _): (session, self.token) = (id, token)
            case .addGuard(_, let new): guarding = new.id
            case .end, .revoke, .revokeAll, .update, .decide, .perform, .interrupt, .endInterrupted, .markReady, .veto,
                .answerGuards,
                .removeGuard, .markGone,
                .endSession,
                .declare, .patch, .delete,
                .expire,
                .expireUnclaimed,
                .timeOutParticipants, .adopt, .distrust, .skipFences, .resume, .stop, nil:
                break
            }
        }
    }

    func refused(_ refusal: Verdict.Refusal) -> Prediction { Prediction(verdict: .refused(refusal)) }

    func owned(_ id: TransitionID, token: Token?, _ prediction: (Ledger.Entry) -> Prediction) -> Prediction {
        guard let entry = ledger[id], entry.forgotten == nil else { return refused(.unknownTransition) }
        if let token, token != entry.token { return refused(.wrongToken) }
        return prediction(entry)
    }

    private func openSession(_ client: ClientName?, _ timeToLive: Duration, _ drawn: Drawn) -> Prediction {
        guard oracle.sessions.count < oracle.limits.sessions else { return refused(.tooManySessions) }
        return Prediction(
            verdict: .session(drawn.session),
            record: .openSession(client: client, timeToLive: timeToLive, id: drawn.session, token: drawn.token))
    }

    // MARK: - Scenes

    private func declare(_ name: SceneName, _ storyboard: Storyboard, _ precondition: Precondition) -> Prediction {
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        if oracle.hindering(in: name) > 0 { return refused(.busy) }
        if let refusal = refusalOfScene(name) { return refused(refusal) }
        return Prediction(
            verdict: .declared(StoryboardVersion(revision: Revision(rawValue: oracle.scene(name).revision + 1))),
            record: .declare(name, storyboard))
    }

    private func patch(_ name: SceneName, _ patch: StoryboardPatch, _ precondition: Precondition) -> Prediction {
        guard oracle.scenes[name] != nil else { return refused(.unknownScene) }
        let scene = oracle.scene(name)
        guard let version = scene.version else { return refused(.undeclared) }
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        guard let patched = scene.patched(by: patch) else { return refused(.invalidStoryboard) }
        let old = scene.storyboard
        if patched.segues == old.segues, patched.transitionTypes == old.transitionTypes,
            patched.defaults == old.defaults
        {
            return Prediction(verdict: .declared(version))
        }
        if oracle.line.contains(where: { $0.scene == name && scene.isInUse(patch, by: $0.request) }) {
            return refused(.inUse)
        }
        return Prediction(
            verdict: .declared(StoryboardVersion(revision: version.revision, patches: version.patches + 1)),
            record: .patch(name, patch.without(old.defaults)))
    }

    private func delete(_ name: SceneName, _ precondition: Precondition) -> Prediction {
        guard oracle.scenes[name] != nil else { return refused(.unknownScene) }
        if let refusal = refusal(of: precondition, in: name) { return refused(refusal) }
        return oracle.hindering(in: name) > 0 ? refused(.busy) : Prediction(verdict: .done, record: .delete(name))
    }

    private func refusal(of precondition: Precondition, in name: SceneName) -> Verdict.Refusal? {
        let actual = oracle.scene(name).version
        return switch precondition {
        case .none: nil
        case .declared: actual == nil ? .versionMismatch : nil
        case .undeclared: actual == nil ? nil : .alreadyDeclared
        case .version(let versions): versions.contains { $0 == actual } ? nil : .versionMismatch
        }
    }

    func refusalOfScene(_ name: SceneName) -> Verdict.Refusal? {
        guard oracle.scenes[name] == nil, oracle.scenes.count >= oracle.limits.scenes else { return nil }
        return oracle.scenes.keys.contains(where: oracle.isForgettable) ? nil : .tooManyScenes
    }
}

extension StoryboardPatch {
    /// The patch without the defaults that only later rules know and that are as they are said to be.
    fileprivate func without(_ defaults: Storyboard.Defaults) -> StoryboardPatch {
        var patch = self
        if patch.defaults.priority == defaults.priority { patch.defaults.priority = nil }
        if let said = patch.defaults.interruptibility, said.consent == defaults.consent {
            patch.defaults.interruptibility = nil
        }
        if patch.defaults.type == .some(defaults.type) { patch.defaults.type = nil }
        return patch
    }
}
