internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// What an operator has to know, at `info`: which client lost a lock or session and why, and what was refused for lack
/// of room.
///
/// A transition that ends as its owner requested is not logged, and neither is a request. Texts from clients are made
/// loggable.
package final class OperatorLog: Sendable {
    /// Refusals for lack of room may come by the thousand, so for each code one line is written in this time.
    static let quietTime = Duration.seconds(1)

    private let logger: Logger
    private let time: any TimeSource
    private let refusals = Guarded<[Problem.Code: Refusals]>([:])

    private struct Refusals {
        var lastLine: Instant
        /// The refusals since that line.
        var unsaid = 0
    }

    package init(_ logger: Logger, time: any TimeSource = SystemTimeSource()) {
        self.logger = logger
        self.time = time
    }

    /// Writes a notice of the engine.
    package func note(_ notice: EngineNotice) {
        switch notice {
        case .happened(.ended(let view)): noteEnd(of: view)
        case .happened(.sessionEnded(let session, let ending)): noteEnd(of: session, ending)
        case .happened(.resumed): logger.notice("grants go on")
        case .refused(let error, let scene, let client): noteRefusal(Problem(error), scene: scene, client: client)
        }
    }

    private func noteEnd(of view: TransitionView) {
        let transition = view.transition
        guard case .ended(let ending) = transition.phase else { return }
        var metadata: Logger.Metadata = [
            "scene": "\(loggable(transition.request.scene.description))", "id": "\(transition.id)",
            "wasGranted": "\(ending.grant != nil)", "wasApplied": "\(ending.change != nil)",
        ]
        if let client = transition.request.client { metadata["client"] = "\(loggable(client.description))" }
        if let principal = transition.request.principal {
            metadata["principal"] = "\(loggable(principal.description))"
        }
        // The id of a trace is as long as a token, and is none.
        if let trace = transition.request.trace { metadata["trace"] = "\(trace.traceID)" }
        switch ending.outcome {
        case .expired(let reason):
            metadata["reason"] = "\(reason.rawValue)"
            logger.info("transition expired", metadata: metadata)
        case .revoked(let revocation):
            metadata["reason"] = "\(loggable(revocation.reason.description))"
            if let principal = revocation.principal { metadata["by"] = "\(loggable(principal.description))" }
            logger.info("transition revoked", metadata: metadata)
        case .completed, .cancelled, .rejected, .superseded:
            break
        }
    }

    private func noteEnd(of session: Session, _ ending: SessionEnding) {
        var metadata: Logger.Metadata = ["id": "\(session.id)"]
        if let client = session.client { metadata["client"] = "\(loggable(client.description))" }
        if let principal = session.caller.principal { metadata["principal"] = "\(loggable(principal.description))" }
        switch ending {
        case .ended: logger.info("session ended", metadata: metadata)
        case .expired: logger.info("session lost", metadata: metadata)
        }
    }

    /// Notes a refusal for lack of room.
    func noteRefusal(_ problem: Problem, scene: SceneName? = nil, client: ClientName? = nil) {
        var metadata: Logger.Metadata = [:]
        if let scene { metadata["scene"] = "\(loggable(scene.description))" }
        if let client { metadata["client"] = "\(loggable(client.description))" }
        note(problem, "refused for lack of room", metadata)
    }

    /// Notes that a client was not authenticated, or may not do what it asked for.
    func noteDenial(_ problem: Problem, of peer: Peer, _ caller: Caller) {
        var metadata: Logger.Metadata = [:]
        if let address = peer.address { metadata["address"] = "\(address)" }
        if case .local(let user) = peer { metadata["user"] = "\(user.user)" }
        if let principal = caller.principal { metadata["principal"] = "\(loggable(principal.description))" }
        note(problem, "denied", metadata)
    }

    private func note(_ problem: Problem, _ what: String, _ more: Logger.Metadata) {
        let now = time.now().instant
        let unsaid = refusals.withLock { refusals -> Int? in
            guard let last = refusals[problem.code], now < last.lastLine.advanced(by: Self.quietTime) else {
                defer { refusals[problem.code] = Refusals(lastLine: now) }
                return refusals[problem.code]?.unsaid ?? 0
            }
            refusals[problem.code]?.unsaid += 1
            return nil
        }
        guard let unsaid else { return }
        var metadata = more
        metadata["code"] = "\(problem.code.rawValue)"
        if unsaid > 0 { metadata["refusedSinceLastLine"] = "\(unsaid)" }
        logger.info("\(what): \(loggable(problem.detail))", metadata: metadata)
    }
}
