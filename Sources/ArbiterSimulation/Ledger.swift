internal import ArbiterCore

/// What has become of every transition, noted beside the machine, with the record that made it so.
///
/// A crash takes back what was made so by records that are lost, and nothing else.
struct Ledger {
    struct Entry {
        let asking: Asking
        let requestedAt: Moment
        let lease: Duration
        let created: UInt64
        var remembered: UInt64?
        var grant: (fence: Fence, sequence: UInt64)?
        /// When it began to run.
        var ran: UInt64?
        var gesture: (decided: DecidedGesture, sequence: UInt64)?
        var readied: [(client: ClientName, sequence: UInt64)] = []
        var ending: (outcome: TransitionOutcome, at: Instant, sequence: UInt64)?
        var forgotten: UInt64?
        var told = Told()
        /// The journal has lost its end, and so it runs again.
        var isRevived = false

        // Momentary.

        /// Not before its owner's last word, as far as the arbiter can know of one.
        var heardAt: Instant
        var preparingSince: Instant?
        /// Where its finger is.
        var progress: GestureProgress?

        var id: TransitionID { asking.id }
        var token: Token { asking.token }
        var request: TransitionRequest { asking.request }
        var isSerialized: Bool { asking.isSerialized }

        var isUnfinished: Bool { ending == nil }
        var isQueued: Bool { grant == nil && ending == nil }
        var isPreparing: Bool { grant != nil && ran == nil && ending == nil }
    }

    /// What clients were answered, with the last record that the answer could depend on.
    struct Told {
        var known: UInt64?
        var fence: (fence: Fence, sequence: UInt64)?
        var laggards: (names: [ClientName], sequence: UInt64)?
        var gesture: (decided: DecidedGesture, sequence: UInt64)?
        var outcome: (outcome: TransitionOutcome, sequence: UInt64)?
    }

    /// Something that has just come about.
    enum News {
        case granted(TransitionID)
        case ended(TransitionID, TransitionOutcome)
        case forgotten
    }

    let limits: Limits
    /// In request order.
    var entries: [Entry] = []
    /// In the order they were opened.
    var sessions: [SessionEntry] = []
    /// The last fence that anybody was told, over all restarts.
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

    /// What an idempotency key stands for at an instant.
    func entry(for key: IdempotencyKey, at now: Instant) -> Entry? {
        guard let latest = entries.last(where: { $0.forgotten == nil && $0.request.idempotencyKey == key }),
            now < latest.requestedAt.instant.advanced(by: Limits.idempotency)
        else { return nil }
        return latest
    }

    // MARK: - Events

    /// Takes note of a command that changed the durable state; `lease` is what it holds for where it does not say.
    mutating func note(_ command: Command, at moment: Moment, sequence: UInt64, lease: Duration) {
        switch command {
        case .start(let request, let id, let token):
            let asking = Asking(request, id: id, token: token, isSerialized: false)
            enter(asking, at: moment, sequence: sequence, lease: lease)
        case .serialize(let request, let id, let token, _):
            let asking = Asking(request, id: id, token: token, isSerialized: true)
            enter(asking, at: moment, sequence: sequence, lease: lease)
        case .end(let id, _, .completed):
            if let index = index(of: id), entries[index].isQueued { entries[index].remembered = sequence }
        case .decide(let id, let gesture):
            if let index = index(of: id) {
                entries[index].gesture = (gesture, sequence)
                entries[index].progress = nil
            }
        case .markReady(let id, let client):
            if let index = index(of: id) {
                entries[index].readied.append((client, sequence))
                entries[index].heardAt = moment.instant
            }
        case .distrust, .skipFences:
            lastFence = Fence(rawValue: lastFence.rawValue + Limits.fenceJump)
        case .end, .revoke, .renew, .await, .progress, .release, .ready, .openSession, .renewSession, .endSession,
            .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .settle, .closeSession, .resume, .answer:
            break
        }
    }

    private mutating func enter(_ asking: Asking, at moment: Moment, sequence: UInt64, lease: Duration) {
        entries.append(
            Entry(
                asking: asking, requestedAt: moment, lease: asking.request.lease ?? lease, created: sequence,
                heardAt: moment.instant))
    }

    /// The owner has spoken, or has been there until now.
    mutating func hear(_ id: TransitionID, at now: Instant) {
        if let index = index(of: id) { entries[index].heardAt = now }
    }

    /// A finger has moved.
    mutating func drive(_ id: TransitionID, to progress: GestureProgress) {
        guard let index = index(of: id) else { return }
        var latest = progress
        latest.velocity = progress.velocity ?? entries[index].progress?.velocity
        latest.sequence = progress.sequence ?? entries[index].progress?.sequence
        entries[index].progress = latest
    }

    /// After a restart everybody is as good as heard, and no finger is anywhere.
    mutating func hearEverybody(at now: Instant) {
        for index in entries.indices {
            entries[index].heardAt = now
            entries[index].progress = nil
            entries[index].preparingSince = entries[index].isPreparing ? now : nil
        }
    }

    /// Drops what can never come back.
    mutating func compact(upTo synced: UInt64) {
        entries.removeAll { $0.forgotten.map { $0 <= synced } ?? false }
        compactSessions(upTo: synced)
    }
}
