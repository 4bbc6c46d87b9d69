internal import ArbiterCore

/// What has become of every transition, noted beside the machine, with the record that made it so.
///
/// A crash takes back what was made so by records that are lost, and nothing else.
struct Ledger {
    /// What was asked for; kept apart because it never changes and is large.
    final class Asking {
        let token: Token
        let request: TransitionRequest
        let isSerialized: Bool
        let requestedAt: Moment

        init(_ request: TransitionRequest, token: Token, isSerialized: Bool, at moment: Moment) {
            self.request = request
            self.token = token
            self.isSerialized = isSerialized
            requestedAt = moment
        }
    }

    struct Entry {
        let id: TransitionID
        let asking: Asking
        let created: UInt64
        var remembered: UInt64?
        var grant: (fence: Fence, sequence: UInt64)?
        var ending: (outcome: TransitionOutcome, at: Instant, sequence: UInt64)?
        var forgotten: UInt64?
        var told = Told()
        /// Not before its owner's last word, as far as the arbiter can know of one.
        var heardAt: Instant
        /// The journal has lost its end, and so it runs again.
        var isRevived = false

        var token: Token { asking.token }
        var request: TransitionRequest { asking.request }
        var isSerialized: Bool { asking.isSerialized }
        var requestedAt: Moment { asking.requestedAt }

        var isUnfinished: Bool { ending == nil }
        var isQueued: Bool { grant == nil && ending == nil }
    }

    /// What clients were answered, with the last record that the answer could depend on.
    struct Told {
        var known: UInt64?
        var fence: (fence: Fence, sequence: UInt64)?
        var outcome: (outcome: TransitionOutcome, sequence: UInt64)?
    }

    /// Something that has just come about.
    enum News {
        case granted(TransitionID, SceneName)
        case ended(TransitionOutcome)
        case forgotten
    }

    let limits: Limits
    /// In request order.
    var entries: [Entry] = []
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

    /// Takes note of a command that changed the durable state.
    mutating func note(_ command: Command, at moment: Moment, sequence: UInt64) {
        switch command {
        case .start(let request, let id, let token):
            enter(request, id, token, isSerialized: false, at: moment, sequence: sequence)
        case .serialize(let request, let id, let token, _):
            enter(request, id, token, isSerialized: true, at: moment, sequence: sequence)
        case .end(let id, _, .completed):
            if let index = index(of: id), entries[index].isQueued { entries[index].remembered = sequence }
        case .distrust:
            lastFence = Fence(rawValue: lastFence.rawValue + Limits.fenceJump)
        case .end, .renew, .await, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare,
            .delete, .leave, .attach, .detach, .drain, .expire, .decide, .markReady, .settle, .closeSession, .resume,
            .answer:
            break
        }
    }

    private mutating func enter(
        _ request: TransitionRequest, _ id: TransitionID, _ token: Token, isSerialized: Bool, at moment: Moment,
        sequence: UInt64
    ) {
        let asking = Asking(request, token: token, isSerialized: isSerialized, at: moment)
        entries.append(Entry(id: id, asking: asking, created: sequence, heardAt: moment.instant))
    }

    /// The owner has spoken, or has been there until now.
    mutating func hear(_ id: TransitionID, at now: Instant) {
        if let index = index(of: id) { entries[index].heardAt = now }
    }

    /// After a restart everybody is as good as heard.
    mutating func hearEverybody(at now: Instant) {
        for index in entries.indices { entries[index].heardAt = now }
    }

    /// Drops what can never come back.
    mutating func compact(upTo synced: UInt64) {
        entries.removeAll { $0.forgotten.map { $0 <= synced } ?? false }
    }

    /// Holds every record of the machine against what is known, and takes note of what is new.
    mutating func observe(_ machine: ArbiterStateMachine, at now: Instant, sequence: UInt64) throws(Broken) -> [News] {
        var news: [News] = []
        var grants: [Int] = []
        var missing: [Int] = []
        for index in entries.indices where entries[index].forgotten == nil {
            guard let transition = machine.transition(entries[index].id) else {
                missing.append(index)
                continue
            }
            let entry = entries[index]
            try checkRequest(of: transition, entry)
            switch transition.phase {
            case .queued(let queued):
                guard entry.isQueued, queued.completesAtGrant == (entry.remembered != nil) else {
                    throw Broken(.life, "\(entry.id) is queued again")
                }
            case .preparing(let grant), .running(let grant):
                guard entry.isUnfinished, entry.grant.map({ $0.fence == grant.fence }) ?? true else {
                    throw Broken(.life, "\(entry.id) runs again, or with another fence")
                }
                if entry.grant == nil { grants.append(index) }
                entries[index].grant = entry.grant ?? (grant.fence, sequence)
                if entry.grant == nil { entries[index].heardAt = now }
            case .ended(let ending):
                guard entry.ending.map({ $0.outcome == ending.outcome && $0.at == ending.endedAt.instant }) ?? true,
                    entry.grant.map({ $0.fence == ending.grant?.fence }) ?? (entry.ending == nil || ending.grant == nil)
                else { throw Broken(.life, "\(entry.id) has ended otherwise: \(ending)") }
                if entry.grant == nil, let grant = ending.grant {
                    grants.append(index)
                    entries[index].grant = (grant.fence, sequence)
                }
                guard entry.ending == nil else { continue }
                entries[index].ending = (ending.outcome, ending.endedAt.instant, sequence)
                news.append(.ended(ending.outcome))
            }
        }
        news += try forget(missing, at: now, sequence: sequence)
        return try checkGrants(grants) + news
    }

    private func checkRequest(of transition: Transition, _ entry: Entry) throws(Broken) {
        guard transition.token == entry.token, transition.requestedAt == entry.requestedAt,
            transition.isSerialized == entry.isSerialized, transition.request == entry.request
        else { throw Broken(.life, "\(entry.id) is not what was asked for") }
    }

    /// New grants have fences beyond all others, and nobody who asked earlier in the same scene still waits or was
    /// granted later.
    private mutating func checkGrants(_ grants: [Int]) throws(Broken) -> [News] {
        var news: [News] = []
        let found = grants.compactMap { index in entries[index].grant.map { (index: index, fence: $0.fence) } }
        // One step may grant several, in several scenes.
        for (index, fence) in found.sorted(by: { $0.fence < $1.fence }) {
            guard fence > lastFence, fence > lastFenceTold else {
                throw Broken(.fence, "\(entries[index].id) has \(fence) after \(max(lastFence, lastFenceTold))")
            }
            lastFence = fence
            let scene = entries[index].request.scene
            for earlier in entries[..<index] where earlier.request.scene == scene && earlier.isQueued {
                throw Broken(.order, "\(entries[index].id) is granted before \(earlier.id), which asked earlier")
            }
            for later in entries[(index + 1)...] where later.request.scene == scene {
                guard later.grant.map({ fence < $0.fence }) ?? true else {
                    throw Broken(.order, "\(entries[index].id) is granted after \(later.id), which asked later")
                }
            }
            news.append(.granted(entries[index].id, scene))
        }
        return news
    }

    /// Whatever the machine has forgotten must have ended, and be old or one too many.
    private mutating func forget(
        _ missing: [Int], at now: Instant, sequence: UInt64
    ) throws(Broken) -> [News] {
        var news: [News] = []
        var kept = entries.count { $0.forgotten == nil && $0.ending != nil }
        for index in missing {
            guard let ending = entries[index].ending else {
                throw Broken(.life, "\(entries[index].id) is forgotten and was not over")
            }
            let isOld = ending.at.advanced(by: limits.retainedDuration) <= now
            guard kept > limits.retainedCount, isOld || kept > limits.retainedMaximum else {
                throw Broken(.life, "\(entries[index].id) is forgotten too early")
            }
            kept -= 1
            entries[index].forgotten = sequence
            news.append(.forgotten)
        }
        guard kept <= limits.retainedMaximum else { throw Broken(.life, "\(kept) ended ones are kept") }
        return news
    }
}
