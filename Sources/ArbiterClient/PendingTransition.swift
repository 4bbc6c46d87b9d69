internal import Synchronization

/// A request for a transition on its way, so that it can be given up at any moment.
final class PendingTransition: Sendable {
    let scene: String
    /// The idempotency key of the request.
    let key: String
    let body: [String: JSONValue]
    private let state = Mutex(State())

    private struct State {
        /// The request, once it has been sent.
        var asked: WireRequest?
        var document: JSONValue?
        var heldUntil = ContinuousClock.now
        /// When the newest request was sent that `heldUntil` is from.
        var heard = ContinuousClock.now
        var isAnimated = true
        var decision: String?
    }

    init(_ scene: String, _ options: TransitionOptions) {
        self.scene = scene
        // 128 random bits.
        key = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
            .map { String(repeating: "0", count: $0.leadingZeroBitCount / 4) + ($0 == 0 ? "" : String($0, radix: 16)) }
            .joined()
        body = options.members.merging(["scene": .string(scene)]) { $1 }
    }

    var asked: WireRequest? { state.withLock { $0.asked } }
    var headers: [String: String] { asked?.headers ?? [:] }
    var document: JSONValue? { state.withLock { $0.document } }
    var id: String { document?["id"]?.string ?? "" }
    /// The transitions in its way, at most 8.
    var blockers: [String] { document?["blockers"]?.array?.compactMap(\.string) ?? [] }
    var hasEnded: Bool { document?["state"]?.string == "ended" }
    var isWaiting: Bool { ["queued", "preparing"].contains(document?["state"]?.string) }
    var isNoop: Bool { document?["noop"]?.bool ?? false }
    var lease: Duration { document?["leaseSeconds"]?.number.map { .seconds($0) } ?? WireTimes.lease }
    /// Whether the answer shows less than its lease, because the grant is to be claimed.
    var isUnclaimed: Bool {
        guard let left = document?["leaseRemaining"]?.number else { return false }
        return .seconds(left) < lease
    }
    /// Until when the lease certainly lasts.
    var heldUntil: ContinuousClock.Instant { state.withLock { $0.heldUntil } }

    /// Whether its operation is drawn; one that was performed may be asked for without an animation.
    var isAnimated: Bool {
        get { state.withLock { $0.isAnimated } }
        set { state.withLock { $0.isAnimated = newValue } }
    }

    /// `finish` or `cancel`, once its gesture was decided: it ends as that was.
    var decision: String? {
        get { state.withLock { $0.decision } }
        set { state.withLock { $0.decision = newValue } }
    }

    /// The transition without its token.
    var shown: JSONValue {
        guard case .object(var members)? = document else { return .null }
        members["token"] = nil
        return .object(members)
    }

    func note(asked request: WireRequest) { state.withLock { $0.asked = request } }

    func hold(until instant: ContinuousClock.Instant) { state.withLock { $0.heldUntil = instant } }

    /// Whether it may wait or run at the daemon after an error, so that it has to be given up.
    func mayWait(after error: any Error) -> Bool {
        switch error as? ClientError {
        case .refused(let refusal): refusal.status == 503 || document != nil
        case .ended, .closed: false
        case .timedOut, .blockedBySelf, .unreachable, nil: true
        }
    }

    /// Takes in what the daemon says of the transition; its token is in the first answer only.
    func note(_ answer: WireAnswer) throws {
        guard case .object(var members) = try answer.accepted() else { return }
        state.withLock { state in
            members["token"] = members["token"] ?? state.document?["token"]
            let left = members["leaseRemaining"] ?? members["leaseSeconds"]
            state.document = .object(members)
            // An answer may come after that to a later request.
            guard answer.sent >= state.heard else { return }
            state.heard = answer.sent
            state.heldUntil = answer.sent + (left?.number.map { .seconds($0) } ?? WireTimes.lease)
        }
    }

    /// A body that names the transition with its token.
    func named(_ fields: [String: JSONValue] = [:]) -> JSONValue {
        .object(fields.merging(["id": document?["id"] ?? .null, "token": document?["token"] ?? .null]) { $1 })
    }
}
