internal import ArbiterCore
internal import ArbiterModel

/// The life of every transition, kept independently of the state machine, each step with the sequence of its record.
///
/// A crash takes back exactly the steps of the lost records.
struct Ledger {
    struct Entry {
        let asking: Asking
        let requestedAt: Moment
        let lease: Duration
        let created: UInt64
        var grant: (fence: Fence, sequence: UInt64)?
        /// The record with which it began to run.
        var ran: UInt64?
        var gesture: (decided: DecidedGesture, sequence: UInt64)?
        /// The operation that it was given while it ran.
        var performed: (operation: Operation, sequence: UInt64)?
        var readied: [(client: ClientName, sequence: UInt64)] = []
        /// Those who were asked at its grant because they guard something, and the sessions that were ready.
        var asked: [NaiveOracle.Member] = []
        var answered: [(session: SessionID, sequence: UInt64)] = []
        /// The guards that have ended before they were answered for.
        var withdrawn: [(guard: GuardID, sequence: UInt64)] = []
        var ending: (outcome: TransitionOutcome, at: Instant, sequence: UInt64)?
        var forgotten: UInt64?
        var told = Told()
        /// Whether the journal has lost its end, so that it runs again.
        var isRevived = false

        // Momentary state.

        /// Whether its owner has said that it claims its grant.
        var claims = false
        /// Whether its owner has said something since its grant, which claims it.
        var isClaimed = false
        /// The last sign of life of its owner, or later.
        var heardAt: Instant
        var preparingSince: Instant?
        /// Since when the grace of its interruption runs.
        var interruptedSince: Instant?
        /// Whether an await of its owner was answered since then.
        var knowsInterruption = false
        /// When it was granted, on the arbiter's clock.
        var grantedAt: Instant?
        /// The progress of its gesture.
        var progress: GestureProgress?

        var id: TransitionID { asking.id }
        var token: Token { asking.token }
        var request: TransitionRequest { asking.request }
        /// The request with the operation that it was given since.
        var performedRequest: TransitionRequest {
            var performed = request
            if let operation = self.performed?.operation { performed.operation = operation }
            return performed
        }
        var isSerialized: Bool { asking.isSerialized }

        var isUnfinished: Bool { ending == nil }
        var isQueued: Bool { grant == nil && ending == nil }
        var isPreparing: Bool { grant != nil && ran == nil && ending == nil }
    }

    /// What clients were answered, with the last record that the answer may depend on.
    struct Told {
        var known: UInt64?
        var fence: (fence: Fence, sequence: UInt64)?
        var laggards: (names: [ClientName], sequence: UInt64)?
        var gesture: (decided: DecidedGesture, sequence: UInt64)?
        var performed: UInt64?
        var outcome: (outcome: TransitionOutcome, sequence: UInt64)?
    }

    /// Something that a record has changed.
    enum News {
        case granted(TransitionID)
        case ended(TransitionID, TransitionOutcome)
        case forgotten
    }

    let limits: Limits
    /// In request order.
    var entries: [Entry] = []
    /// In the order in which they were opened.
    var sessions: [SessionEntry] = []
    /// The greatest fence that a client got, over all restarts.
    var lastFenceTold = Fence(rawValue: 0)
    var lastFence = Fence(rawValue: 0)

    init(limits: Limits) {
        self.limits = limits
    }

    subscript(id: TransitionID) -> Entry? {
        index(of: id).map { entries[$0] }
    }

    func index(of id: TransitionID) -> Int? {
        entries.lastIndex { $0.id == id }
    }

    /// The transition that the idempotency key of a request stands for at an instant, in the scene of the request.
    func entry(withKeyOf request: TransitionRequest, at now: Instant) -> Entry? {
        guard let key = request.idempotencyKey,
            let latest = entries.last(where: {
                $0.forgotten == nil && $0.request.idempotencyKey == key && $0.request.scene == request.scene
            }), now < latest.requestedAt.instant.advanced(by: Limits.idempotency)
        else { return nil }
        return latest
    }

    /// Whether the idempotency key of a request stands for a transition of another scene at an instant.
    func hasKey(of request: TransitionRequest, elsewhereAt now: Instant) -> Bool {
        guard let key = request.idempotencyKey else { return false }
        return entries.contains {
            $0.forgotten == nil && $0.request.idempotencyKey == key && $0.request.scene != request.scene
                && now < $0.requestedAt.instant.advanced(by: Limits.idempotency)
        }
    }

    // MARK: - Events

    /// Notes a record; `lease` is the scene's default for its transition.
    mutating func note(_ record: Record, at moment: Moment, sequence: UInt64, lease: Duration) {
        switch record {
        case .start(let request, let id, let token):
            let asking = Asking(request, id: id, token: token, isSerialized: false)
            enter(asking, at: moment, sequence: sequence, lease: lease)
        case .serialize(let request, let id, let token):
            let asking = Asking(request, id: id, token: token, isSerialized: true)
            enter(asking, at: moment, sequence: sequence, lease: lease)
        case .decide(let id, let gesture):
            if let index = index(of: id) {
                entries[index].gesture = (gesture, sequence)
                entries[index].progress = nil
            }
        case .perform(let id, let operation):
            if let index = index(of: id) { entries[index].performed = (operation, sequence) }
        case .markReady(let id, let client):
            if let index = index(of: id) {
                entries[index].readied.append((client, sequence))
            }
        case .openSession(_, _, let id, _, _): open(id, sequence: sequence)
        case .endSession(let id, _): close(id, sequence: sequence)
        case .distrust, .skipFences:
            lastFence = Fence(rawValue: lastFence.rawValue + Limits.fenceJump)
        case .removeGuard(_, let id):
            for index in entries.indices where entries[index].isPreparing { withdraw(id, from: index, sequence) }
        case .answerGuards(let id, let session):
            if let index = index(of: id) { entries[index].answered.append((session, sequence)) }
        case .end, .revoke, .revokeAll, .update, .veto, .addGuard, .declare, .patch, .delete, .markGone, .expire,
            .expireUnclaimed,
            .timeOutParticipants,
            .interrupt, .endInterrupted, .adopt, .resume,
            .stop:
            break
        }
    }

    /// A guard has ended; nobody speaks for it any more in a transition, unless somebody has already.
    private mutating func withdraw(_ id: GuardID, from index: Int, _ sequence: UInt64) {
        for case let asked? in entries[index].asked.map(\.asked) where asked.by == id {
            if entries[index].answered.contains(where: { $0.session == asked.session }) { continue }
            entries[index].withdrawn.append((id, sequence))
        }
    }

    private mutating func enter(_ asking: Asking, at moment: Moment, sequence: UInt64, lease: Duration) {
        entries.append(
            Entry(
                asking: asking, requestedAt: moment, lease: asking.request.lease ?? lease, created: sequence,
                heardAt: moment.instant))
    }

    /// Notes a sign of life of a transition's owner; one that is no word claims no grant.
    mutating func hear(_ id: TransitionID, at now: Instant, isWord: Bool = true) {
        guard let index = index(of: id) else { return }
        entries[index].heardAt = now
        if isWord, entries[index].grant != nil { entries[index].isClaimed = true }
    }

    /// Notes whether a transition's owner claims its grant.
    mutating func note(_ id: TransitionID, claims: Bool) {
        if let index = index(of: id) { entries[index].claims = claims }
    }

    /// Notes that the grace of an interrupted transition runs from an instant, unless it does already.
    ///
    /// - Returns: whether it did not.
    mutating func noteInterruption(of id: TransitionID, at now: Instant) -> Bool {
        guard let index = index(of: id), entries[index].interruptedSince == nil else { return false }
        entries[index].interruptedSince = now
        return true
    }

    /// Notes that an await of the owner of an interrupted transition is answered.
    mutating func noteInterruptionIsKnown(_ id: TransitionID) {
        if let index = index(of: id) { entries[index].knowsInterruption = true }
    }

    /// Notes the progress of a gesture.
    ///
    /// - Returns: the progress with what earlier ones said.
    mutating func drive(_ id: TransitionID, to progress: GestureProgress) -> GestureProgress {
        guard let index = index(of: id) else { return progress }
        var latest = progress
        latest.velocity = progress.velocity ?? entries[index].progress?.velocity
        latest.sequence = progress.sequence ?? entries[index].progress?.sequence
        entries[index].progress = latest
        return latest
    }

    /// Starts the momentary state afresh, as a restart does.
    mutating func restartMomentary(at now: Instant) {
        for index in entries.indices {
            entries[index].heardAt = now
            entries[index].claims = false
            // A restart gives every grant its full lease.
            entries[index].isClaimed = entries[index].grant != nil
            entries[index].progress = nil
            entries[index].preparingSince = entries[index].isPreparing ? now : nil
            entries[index].interruptedSince = nil
            entries[index].knowsInterruption = false
        }
    }

    /// Drops the entries that no crash can bring back.
    mutating func compact(upTo synced: UInt64) {
        entries.removeAll { $0.forgotten.map { $0 <= synced } ?? false }
        compactSessions(upTo: synced)
    }
}
