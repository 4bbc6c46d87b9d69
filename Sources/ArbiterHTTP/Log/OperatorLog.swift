internal import ArbiterCore
package import ArbiterEngine
package import Logging

/// What an operator reads at `info`: who lost a lock or a session and why, and for whom there was no room.
///
/// A transition that ends as its owner wanted leaves no line, nor does any request. Clients' own texts are in it without
/// what looks like a token.
package final class OperatorLog: Sendable {
    /// Refusals for want of room may come by the thousand: of each code one line is written in so long.
    static let quietTime = Duration.seconds(1)

    private let logger: Logger
    private let time: any TimeSource
    private let refusals = Guarded<[Problem.Code: Refusals]>([:])

    private struct Refusals {
        var lastLine: Instant
        /// Since that line.
        var unsaid = 0
    }

    package init(_ logger: Logger, time: any TimeSource = SystemTimeSource()) {
        self.logger = logger
        self.time = time
    }

    /// Writes what the engine has to tell.
    package func note(_ notice: EngineNotice) {
        switch notice {
        case .happened(.ended(let view)): noteEnd(of: view)
        case .happened(.sessionEnded(let session, let ending)): noteEnd(of: session, ending)
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
        switch ending.outcome {
        case .expired(let reason):
            metadata["reason"] = "\(reason.rawValue)"
            logger.info("transition expired", metadata: metadata)
        case .revoked(let reason):
            metadata["reason"] = "\(loggable(reason.description))"
            logger.info("transition revoked", metadata: metadata)
        case .completed, .cancelled, .rejected, .superseded:
            break
        }
    }

    private func noteEnd(of session: Session, _ ending: SessionEnding) {
        var metadata: Logger.Metadata = ["id": "\(session.id)"]
        if let client = session.client { metadata["client"] = "\(loggable(client.description))" }
        switch ending {
        case .ended: logger.info("session ended", metadata: metadata)
        case .expired: logger.info("session lost", metadata: metadata)
        }
    }

    /// Notes a refusal for want of room.
    func noteRefusal(_ problem: Problem, scene: SceneName? = nil, client: ClientName? = nil) {
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
        var metadata: Logger.Metadata = ["code": "\(problem.code.rawValue)"]
        if let scene { metadata["scene"] = "\(loggable(scene.description))" }
        if let client { metadata["client"] = "\(loggable(client.description))" }
        if unsaid > 0 { metadata["refusedSinceLastLine"] = "\(unsaid)" }
        logger.info("refused for want of room: \(problem.detail)", metadata: metadata)
    }
}
