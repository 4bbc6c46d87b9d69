package import ArbiterCore
package import ArbiterEngine
internal import Synchronization

/// Everything that the daemon counts.
package final class Metrics: Sendable {
    package let engine = EngineMetrics()
    let transitions = TransitionMetrics()
    let connections = ConnectionMetrics()
    /// Answers with a problem, by its code.
    private let problems = Dictionary(uniqueKeysWithValues: Problem.Code.allCases.map { ($0, Counter()) })
    private let isCounting = Atomic(false)
    /// When the certificate expires, in seconds since 1970; 0 without one.
    private let expiration = Atomic(0)

    package init() {}

    /// Counts what happens from now on; before, the journal is replayed.
    package func begin() { isCounting.store(true, ordering: .relaxed) }

    /// Counts events of the engine.
    package func note(_ events: [SceneEvent]) {
        guard isCounting.load(ordering: .relaxed) else { return }
        for event in events { transitions.note(event) }
    }

    /// Notes when the certificate that is shown over TLS expires, in seconds since 1970.
    package func noteCertificate(expiringAt time: Int) { expiration.store(time, ordering: .relaxed) }

    var certificateExpiration: Int? {
        let time = expiration.load(ordering: .relaxed)
        return time > 0 ? time : nil
    }

    func note(_ code: Problem.Code) { problems[code]?.add() }

    /// The codes of problems that were answered, with how often.
    var problemCounts: [(code: Problem.Code, count: Int)] {
        Problem.Code.allCases.map { ($0, problems[$0]?.count ?? 0) }
    }
}

/// What happened to transitions.
final class TransitionMetrics: Sendable {
    /// From the request to the grant.
    let waits = Histogram.ofDurations()
    /// From the grant to the end.
    let holds = Histogram.ofDurations()
    /// Grants at once, and of tickets that waited.
    let immediateGrants = Counter()
    let queuedGrants = Counter()
    /// Ends by outcome, and by reason where a word says it.
    private let ends: [End: Counter]

    struct End: Hashable {
        let outcome: String
        let reason: String
    }

    init() {
        let plain = ["completed", "cancelled", "superseded", "revoked"].map { End(outcome: $0, reason: "") }
        let interrupted = ["completed", "cancelled"].map { End(outcome: $0, reason: EndReason.interrupted) }
        let expired = ExpiryReason.allCases.map { End(outcome: "expired", reason: $0.rawValue) }
        let rejected = ["expectation-failed", "invalid-operation", "scope-gone", "vetoed"].map {
            End(outcome: "rejected", reason: $0)
        }
        ends = Dictionary(uniqueKeysWithValues: (plain + interrupted + expired + rejected).map { ($0, Counter()) })
    }

    func note(_ event: SceneEvent) {
        guard case .transition(let stage, let view) = event.kind else { return }
        switch stage {
        case .preparing, .running:
            // One that was preparing has been granted before.
            guard let grant = view.transition.grant, grant.grantedAt == event.timestamp else { return }
            if stage == .running, view.transition.waitsForParticipants { return }
            noteGrant(of: view.transition, at: grant.grantedAt)
        case .ended: noteEnd(of: view.transition)
        case .queued, .contended, .interrupting, .released, .updated: break
        }
    }

    private func noteGrant(of transition: Transition, at time: Timestamp) {
        let waited = transition.requestedAt.timestamp.duration(to: time)
        (waited > .zero ? queuedGrants : immediateGrants).add()
        waits.observe(waited)
    }

    private func noteEnd(of transition: Transition) {
        guard case .ended(let ending) = transition.phase else { return }
        let reason =
            switch ending.outcome {
            case .expired(let reason): reason.rawValue
            case .rejected(let rejection): rejection.reason
            case .completed, .cancelled: ending.interruptedBy == nil ? "" : EndReason.interrupted
            case .superseded, .revoked: ""
            }
        ends[End(outcome: ending.outcome.name, reason: reason)]?.add()
        if let grant = transition.grant { holds.observe(grant.grantedAt.duration(to: ending.endedAt.timestamp)) }
    }

    /// How many transitions ended in each way.
    var endCounts: [(end: End, count: Int)] {
        ends.map { ($0.key, $0.value.count) }
            .sorted { ($0.end.outcome, $0.end.reason) < ($1.end.outcome, $1.end.reason) }
    }
}

extension Transition {
    /// Whether it was preparing before it ran.
    fileprivate var waitsForParticipants: Bool { !participants.isEmpty }
}

extension Timestamp {
    fileprivate func duration(to other: Timestamp) -> Duration {
        .milliseconds(other.milliseconds - milliseconds)
    }
}

/// What happened to connections.
final class ConnectionMetrics: Sendable {
    let open = Counter()
    let accepted = Counter()
    /// Closed because there were too many.
    let crowded = Counter()
    /// Closed because their client had too many.
    let tooManyOfClient = Counter()
    /// Closed because a request took too long to come.
    let slow = Counter()
}

/// What happened to the requests of one route.
final class RouteMetrics: Sendable {
    /// From the complete request to the answer, or to the head of a stream.
    let durations = Histogram.ofDurations()
    private let statuses: [Int: Counter]
    private let others = Counter()

    init() {
        let known = Set(Problem.Code.allCases.flatMap(\.statuses)).union([200, 201, 202, 204, 304])
        statuses = Dictionary(uniqueKeysWithValues: known.map { ($0, Counter()) })
    }

    func note(_ status: Int, after duration: Duration) {
        (statuses[status] ?? others).add()
        durations.observe(duration)
    }

    /// How many answers had each status.
    var counts: [(status: Int, count: Int)] {
        statuses.map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
    }
}
