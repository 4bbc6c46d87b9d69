internal import ArbiterCore

/// The kind of an answer.
enum Verdict: Hashable {
    /// A new transition, as it stands.
    case new
    /// A transition that was known before, as it stands.
    case known(TransitionID)
    case parked
    case done
    case busy
    case unknown
    case wrongToken
    case alreadyEnded
    case alreadyDecided
    case endedWithoutOwner
    case holdingGrants
    case keyReused
    case queueFull
    case tooManyTransitions
    case tooManyScenes
    case impossible

    init(_ reply: Result<Reply, ArbiterError>, to command: Command) {
        switch reply {
        case .success(.transition(let view)):
            self = view.transition.id == command.newID ? .new : .known(view.transition.id)
        case .success(.parked): self = .parked
        case .success(.done), .success(.declared), .success(.progress), .success(.session): self = .done
        case .failure(let error):
            switch error {
            case .busy: self = .busy
            case .unknownTransition, .unknownScene: self = .unknown
            case .wrongToken: self = .wrongToken
            case .alreadyEnded: self = .alreadyEnded
            case .alreadyDecided: self = .alreadyDecided
            case .endedWithoutOwner: self = .endedWithoutOwner
            case .holdingGrants: self = .holdingGrants
            case .keyReused: self = .keyReused
            case .queueFull: self = .queueFull
            case .tooManyTransitions: self = .tooManyTransitions
            case .tooManyScenes: self = .tooManyScenes
            case .operationRefused, .expectationFailed, .unknownTransitionType, .revisionMismatch, .decidedOtherwise,
                .notInteractive, .notRunning, .tooLate, .unknownSession, .notAParticipant, .tooManySessions:
                self = .impossible
            }
        }
    }

    var number: UInt64 {
        switch self {
        case .new: 0
        case .known(let id): id.rawValue
        case .parked: 1
        case .done: 2
        case .busy: 3
        case .unknown: 4
        case .wrongToken: 5
        case .alreadyEnded: 6
        case .alreadyDecided: 7
        case .endedWithoutOwner: 8
        case .holdingGrants: 9
        case .keyReused: 10
        case .queueFull: 11
        case .tooManyTransitions: 12
        case .tooManyScenes: 13
        case .impossible: 14
        }
    }
}

extension Command {
    /// The id of the transition that it may make.
    var newID: TransitionID? {
        switch self {
        case .start(_, let id, _), .serialize(_, let id, _, _): id
        case .await, .end, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .resume, .answer:
            nil
        }
    }

    var park: Park? {
        switch self {
        case .serialize(_, _, _, let park), .await(_, _, _, let park): park
        case .start, .end, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust,
            .resume, .answer:
            nil
        }
    }
}

/// The answer that the rules give, worked out from the ledger and the oracle alone.
struct Expectation {
    let ledger: Ledger
    let oracle: NaiveOracle
    let isDraining: Bool
    let now: Instant

    func verdict(on command: Command) -> Verdict {
        switch command {
        case .start(let request, _, _): start(request)
        case .serialize(let request, _, _, let park): serialize(request, mayPark: park != nil && !isDraining)
        case .await(let id, let token, let milestone, let park):
            owned(id, token: token) { entry in
                park != nil && !isDraining && !entry.hasReached(milestone) ? .parked : .known(id)
            }
        case .end(let id, let token, let outcome):
            owned(id, token: token) { entry in end(entry, outcome) }
        case .renew(let id, let token):
            owned(id, token: token) { entry in
                switch entry.ending?.outcome {
                case nil: .known(id)
                case .expired, .rejected, .superseded: .endedWithoutOwner
                case .completed, .cancelled: .alreadyEnded
                }
            }
        case .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare, .delete, .leave, .attach,
            .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .distrust, .resume, .answer:
            .done
        }
    }

    private func start(_ request: TransitionRequest) -> Verdict {
        if let repeated = repeated(request, isSerialized: false) { return repeated.verdict }
        if oracle.isHoldingGrants { return .holdingGrants }
        if oracle.unfinished(in: request.scene) > 0 { return .busy }
        return refusalToAdmit(request) ?? .new
    }

    private func serialize(_ request: TransitionRequest, mayPark: Bool) -> Verdict {
        if let repeated = repeated(request, isSerialized: true) {
            return mayPark && repeated.entry?.isQueued == true ? .parked : repeated.verdict
        }
        if let refusal = refusalToAdmit(request) { return refusal }
        let others = oracle.unfinished(in: request.scene)
        if others > 0, oracle.queued(in: request.scene) >= ledger.limits.queuedPerScene { return .queueFull }
        return mayPark && (others > 0 || oracle.isHoldingGrants) ? .parked : .new
    }

    private func repeated(
        _ request: TransitionRequest, isSerialized: Bool
    ) -> (verdict: Verdict, entry: Ledger.Entry?)? {
        guard let key = request.idempotencyKey, let entry = ledger.entry(for: key, at: now) else { return nil }
        guard entry.request == request, entry.isSerialized == isSerialized else { return (.keyReused, nil) }
        return (.known(entry.id), entry)
    }

    private func refusalToAdmit(_ request: TransitionRequest) -> Verdict? {
        if oracle.line.count >= ledger.limits.unfinished { return .tooManyTransitions }
        if oracle.unfinished(in: request.scene) == 0, oracle.busyScenes >= ledger.limits.scenes {
            return .tooManyScenes
        }
        return nil
    }

    private func owned(_ id: TransitionID, token: Token?, _ verdict: (Ledger.Entry) -> Verdict) -> Verdict {
        guard let entry = ledger[id], entry.forgotten == nil else { return .unknown }
        if let token, token != entry.token { return .wrongToken }
        return verdict(entry)
    }

    private func end(_ entry: Ledger.Entry, _ outcome: EndOutcome) -> Verdict {
        switch (entry.ending?.outcome, outcome) {
        case (.expired, _), (.rejected, _), (.superseded, _): .endedWithoutOwner
        case (.completed, .cancelled), (.cancelled, .completed): .alreadyEnded
        case (nil, .cancelled): entry.isQueued && entry.remembered != nil ? .alreadyDecided : .known(entry.id)
        case (nil, .completed), (.completed, .completed), (.cancelled, .cancelled): .known(entry.id)
        }
    }
}

extension Ledger.Entry {
    func hasReached(_ milestone: Milestone) -> Bool {
        if ending != nil { true } else { grant != nil && milestone != .ended }
    }
}
