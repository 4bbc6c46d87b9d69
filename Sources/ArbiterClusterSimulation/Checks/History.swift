internal import ArbiterCore

/// What clients saw, and whether a cluster that keeps its promises can have answered so.
///
/// The rules are those of `Tests/Cluster/history.py`; what can be decided at once is, so that a failure is found where it
/// happens.
struct History {
    /// What all calls together reveal about a transition.
    struct Known {
        let id: TransitionID
        let scene: SceneName
        let client: String
        var fence: Fence?
        var outcome: TransitionOutcome?
        /// When its request was first sent.
        var asked: Instant?
        /// When an answer first showed that it is queued or granted.
        var told: Instant?
        /// The last instant at which it was certainly not granted yet.
        var waited: Instant?
        /// When its owner first learned that it runs.
        var runs: Instant?
        /// Until when its owner believes in its lease.
        var believed = Instant(nanoseconds: 0)
        var endSent: Instant?
        /// The instants from which answers show at least a rank.
        var shown: [(since: Instant, rank: Int)] = []

        /// Whether its owner rightly believes that it holds the scene.
        func isHeld(at now: Instant) -> Bool { runs != nil && endSent == nil && now < believed }
    }

    private(set) var known: [TransitionID: Known] = [:]
    /// Those that run in each scene, as far as their owners know.
    private var held: [SceneName: Set<TransitionID>] = [:]
    private var keys: [IdempotencyKey: TransitionID] = [:]
    private var firstSent: [IdempotencyKey: Instant] = [:]
    /// The keys of which every call was answered with `not-owner`, and that nobody asks with any more.
    private(set) var forsworn: Set<IdempotencyKey> = []
    /// The clients of requests without a key that are in records; each names itself anew for every request.
    private var recorded: Set<ClientName> = []
    /// The highest fence that was written with in each scene.
    private var written: [SceneName: Fence] = [:]

    // MARK: - What happens

    mutating func noteSending(of key: IdempotencyKey?, at now: Instant) {
        guard let key, firstSent[key] == nil else { return }
        firstSent[key] = now
    }

    /// A record in the store says that a request has made a transition.
    mutating func noteRecord(of request: TransitionRequest) throws(Broken) {
        guard request.idempotencyKey == nil, let client = request.client else { return }
        guard recorded.insert(client).inserted else {
            throw Broken(.once, "the request of \(client) is in two records")
        }
    }

    mutating func forswear(_ key: IdempotencyKey) { forsworn.insert(key) }

    /// An end was sent, which may take effect from now on.
    mutating func noteEnd(of id: TransitionID, at now: Instant) {
        if known[id]?.endSent == nil { known[id]?.endSent = now }
        if let scene = known[id]?.scene { held[scene]?.remove(id) }
    }

    mutating func note(_ call: Call) throws(Broken) {
        guard let id = call.subject else { return }
        if case .refused(.unknownTransition) = call.reply, known[id] != nil {
            throw Broken(.durability, "\(id) in \(call.scene) was known, and is not any more")
        }
        guard let view = call.seen else { return }
        var entry = known[id] ?? Known(id: id, scene: call.scene, client: call.client)
        try checkKey(of: call, id)
        try checkRank(of: view, in: &entry, call)
        try noteFence(of: view, in: &entry)
        try noteOutcome(of: view, in: &entry, call)
        if let key = call.key, let asked = firstSent[key] {
            entry.asked = asked
            entry.waited = max(entry.waited ?? asked, asked)
        } else if entry.asked == nil, call.question.isRequest {
            entry.asked = call.sent
            entry.waited = call.sent
        }
        if view.rank == 0 { entry.waited = max(entry.waited ?? call.sent, call.sent) }
        entry.told = entry.told ?? call.answered
        try noteBelief(in: &entry, call)
        known[id] = entry
    }

    // MARK: - One call

    private mutating func checkKey(of call: Call, _ id: TransitionID) throws(Broken) {
        guard let key = call.key else { return }
        if let other = keys[key], other != id {
            throw Broken(.key, "the key \(key) has made \(other) and \(id) in \(call.scene)")
        }
        keys[key] = id
    }

    /// What an answer has shown remains true in the answers to calls that are sent later.
    private func checkRank(of view: TransitionView, in entry: inout Known, _ call: Call) throws(Broken) {
        if let earlier = entry.shown.last(where: { $0.since < call.sent }), view.rank < earlier.rank {
            throw Broken(
                .durability, "\(entry.id) in \(entry.scene) is \(view.transition.state) again for \(call.client)")
        }
        if entry.shown.last.map({ $0.rank < view.rank }) ?? true { entry.shown.append((call.answered, view.rank)) }
    }

    private func noteFence(of view: TransitionView, in entry: inout Known) throws(Broken) {
        guard let fence = view.transition.grant?.fence else { return }
        if let other = entry.fence, other != fence {
            throw Broken(.fence, "\(entry.id) has the fences \(other) and \(fence)")
        }
        entry.fence = fence
    }

    private func noteOutcome(of view: TransitionView, in entry: inout Known, _ call: Call) throws(Broken) {
        guard let outcome = view.outcome else { return }
        if let other = entry.outcome, other != outcome {
            throw Broken(.outcome, "\(entry.id) in \(entry.scene) has ended as \(other), and then as \(outcome)")
        }
        entry.outcome = outcome
        if case .end(_, _, let wanted) = call.question, case .transition = call.reply, !outcome.isThat(wanted) {
            throw Broken(.outcome, "the end of \(entry.id) as \(wanted) was acknowledged, and it ended as \(outcome)")
        }
        try checkLease(of: entry, outcome, at: call.answered)
    }

    /// A lease has not run out as long as its owner rightly believes in it.
    private func checkLease(of entry: Known, _ outcome: TransitionOutcome, at now: Instant) throws(Broken) {
        guard outcome == .expired(.lease) || outcome == .expired(.unclaimed), entry.isHeld(at: now) else { return }
        throw Broken(
            .lease,
            "\(entry.id) of \(entry.client) in \(entry.scene) is \(outcome), and its lease is valid for "
                + "\(now.duration(to: entry.believed))")
    }

    private mutating func noteBelief(in entry: inout Known, _ call: Call) throws(Broken) {
        guard let until = call.believedUntil else { return }
        entry.runs = entry.runs ?? call.answered
        entry.believed = max(entry.believed, until)
        guard entry.isHeld(at: call.answered) else { return }
        for id in (held[entry.scene] ?? []).sorted(by: { $0.rawValue < $1.rawValue }) where id != entry.id {
            guard let other = known[id] else { continue }
            guard !other.isHeld(at: call.answered) else {
                throw Broken(
                    .exclusion,
                    "\(entry.client) and \(other.client) hold \(entry.scene) at once: \(entry.id) with fence "
                        + "\(entry.fence?.rawValue ?? 0), \(id) with \(other.fence?.rawValue ?? 0) for "
                        + "\(call.answered.duration(to: other.believed)) more")
            }
            held[entry.scene]?.remove(id)
        }
        held[entry.scene, default: []].insert(entry.id)
        guard let fence = entry.fence else { return }
        if let highest = written[entry.scene], fence < highest {
            throw Broken(.exclusion, "\(entry.client) writes in \(entry.scene) with fence \(fence) after \(highest)")
        }
        written[entry.scene] = fence
    }

    /// A record in the store says that a transition has expired.
    func checkExpiry(of id: TransitionID, _ reason: ExpiryReason, at now: Instant) throws(Broken) {
        guard let entry = known[id] else { return }
        try checkLease(of: entry, .expired(reason), at: now)
    }

    // MARK: - All calls

    /// Checks what only all calls together show.
    func checkOrder() throws(Broken) {
        let scenes = Dictionary(grouping: known.values, by: \.scene)
        for (scene, entries) in scenes.sorted(by: { $0.key.description < $1.key.description }) {
            if let (earlier, later) = Self.inversion(in: entries, sooner: \.told, later: \.asked) {
                throw Broken(
                    .order, "\(later) was granted before \(earlier) in \(scene), which stood in line before it")
            }
            if let (earlier, later) = Self.inversion(in: entries, sooner: \.runs, later: \.waited) {
                throw Broken(.fence, "\(later) got a lower fence in \(scene) than \(earlier), which ran before it")
            }
            let fences = Dictionary(grouping: entries.filter { $0.fence != nil }, by: \.fence)
            if let same = fences.values.first(where: { $0.count > 1 }) {
                throw Broken(.fence, "\(same[0].id) and \(same[1].id) have the same fence in \(scene)")
            }
        }
    }

    /// Two transitions of which one was sooner than the other, and that have fences in the opposite order.
    private static func inversion(
        in entries: [Known], sooner: KeyPath<Known, Instant?>, later: KeyPath<Known, Instant?>
    ) -> (TransitionID, TransitionID)? {
        typealias Point = (instant: Instant, fence: Fence, id: TransitionID)
        func points(_ path: KeyPath<Known, Instant?>) -> [Point] {
            entries.compactMap { entry -> Point? in
                guard let fence = entry.fence, let instant = entry[keyPath: path] else { return nil }
                return (instant, fence, entry.id)
            }.sorted { ($0.instant, $0.fence) < ($1.instant, $1.fence) }
        }
        let first = points(sooner)
        var (index, highest) = (0, Point?.none)
        for candidate in points(later) {
            while index < first.count, first[index].instant < candidate.instant {
                if highest.map({ $0.fence < first[index].fence }) ?? true { highest = first[index] }
                index += 1
            }
            if let highest, highest.fence > candidate.fence { return (highest.id, candidate.id) }
        }
        return nil
    }
}

extension Question {
    /// Whether it requests a transition.
    var isRequest: Bool {
        switch self {
        case .start, .serialize: true
        case .await, .renew, .end, .look, .openSession, .renewSession, .endSession, .attach: false
        }
    }
}

extension TransitionOutcome {
    fileprivate func isThat(_ wanted: EndOutcome) -> Bool {
        switch wanted {
        case .completed: self == .completed
        case .cancelled: self == .cancelled
        }
    }
}
