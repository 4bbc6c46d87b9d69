/// Checks whether an arbiter that keeps its promises can have given the answers that clients saw (docs/promises.md).
///
/// A call without an answer is indeterminate: it may have taken effect at any time after it was sent, or not at all.
/// Every transition is assumed to have the scope `scene`.
package struct HistoryChecker {
    private let calls: [ObservedCall]
    private let known: [String: Known]

    /// What all calls together reveal about a transition.
    private struct Known {
        let id: String
        let scene: String
        var fences: Set<Int> = []
        var outcomes: Set<String> = []
        var tokens: Set<String> = []
        /// When its request was first sent, if that is known.
        var asked: UInt64?
        /// When an answer first showed that it is queued or granted.
        var told: UInt64?
        /// The last instant at which it was certainly not granted yet.
        var waited: UInt64?
        /// When its owner first learned that it runs.
        var runs: UInt64?
        /// The earliest instant at which it may have stopped to run: its owner sent the end, or its lease may have run
        /// out.
        var endSent: UInt64?
        var lease: UInt64 = 0
        /// When its owner last sent a request that renews the lease.
        var lastWord: UInt64?
        var fence: Int? { fences.count == 1 ? fences.first : nil }
    }

    package init(_ calls: [ObservedCall]) {
        self.calls = calls.sorted { $0.answered < $1.answered }
        var known: [String: Known] = [:]
        for call in self.calls { Self.take(note: call, in: &known) }
        Self.noteAsking(self.calls, in: &known)
        self.known = known
    }

    /// All contradictions to the promises; empty if there are none.
    package func violations() -> [String] {
        mutualExclusion() + requestOrder() + fences() + outcomes() + idempotency() + durability()
    }
}

// MARK: - Collecting what is known

extension HistoryChecker {
    private static func take(note call: ObservedCall, in known: inout [String: Known]) {
        switch call.question {
        case .end(let id, _):
            // The end may have taken effect without an answer.
            let earlier = known[id]?.endSent ?? .max
            known[id, default: Known(id: id, scene: call.scene)].endSent = min(earlier, call.sent)
        case .renew(let id), .await(let id):
            guard call.answer != nil else { break }
            let word = known[id]?.lastWord ?? 0
            known[id, default: Known(id: id, scene: call.scene)].lastWord = max(word, call.sent)
        case .start, .serialize, .look: break
        }
        guard case .transition(let seen)? = call.answer else { return }
        var record = known[seen.id] ?? Known(id: seen.id, scene: call.scene)
        record.lease = max(record.lease, seen.lease)
        if let fence = seen.fence { record.fences.insert(fence) }
        if let outcome = seen.outcome { record.outcomes.insert(outcome) }
        if let token = seen.token { record.tokens.insert(token) }
        if seen.state == "queued" { record.waited = max(record.waited ?? 0, call.sent) }
        record.told = min(record.told ?? .max, call.answered)
        if seen.state == "running", call.question.isOwners {
            record.runs = min(record.runs ?? .max, call.answered)
            record.lastWord = max(record.lastWord ?? 0, call.sent)
        }
        known[seen.id] = record
    }

    /// Records when each transition was requested: when its key was first sent.
    private static func noteAsking(_ calls: [ObservedCall], in known: inout [String: Known]) {
        var firstSent: [String: UInt64] = [:]
        for call in calls {
            guard let key = call.question.key else { continue }
            firstSent[key] = min(firstSent[key] ?? .max, call.sent)
        }
        for call in calls {
            guard let key = call.question.key, case .transition(let seen)? = call.answer else { continue }
            known[seen.id]?.asked = firstSent[key]
            let waited = known[seen.id]?.waited ?? 0
            known[seen.id]?.waited = max(waited, firstSent[key] ?? 0)
        }
    }
}

extension ObservedCall.Question {
    fileprivate var key: String? {
        switch self {
        case .start(let key), .serialize(let key): key
        case .await, .renew, .end, .look: nil
        }
    }

    /// Whether only the owner can ask this.
    fileprivate var isOwners: Bool {
        if case .look = self { false } else { true }
    }
}

// MARK: - Checking the promises

extension HistoryChecker {
    /// A holder is alone from the answer to its grant until its end was sent, or until its lease could have run out.
    private func mutualExclusion() -> [String] {
        perScene { records in
            let held = records.compactMap { record -> (id: String, from: UInt64, to: UInt64)? in
                guard let from = record.runs else { return nil }
                // The daemon started the lease no earlier than the owner sent its last answered request.
                let leaseOver = (record.lastWord ?? from) + record.lease
                let to = min(record.endSent ?? .max, leaseOver)
                return from < to ? (record.id, from, to) : nil
            }.sorted { $0.from < $1.from }
            return zip(held, held.dropFirst()).filter { $0.to > $1.from }.map { first, second in
                "\(first.id) and \(second.id) were held at once"
            }
        }
    }

    /// A transition that was known to be queued before another one was requested is granted first.
    private func requestOrder() -> [String] {
        perScene { records in
            inversions(of: records, from: \.told, to: \.asked).map { earlier, later in
                "\(later.id) was granted before \(earlier.id), which stood in line before it"
            }
        }
    }

    /// No transition has two fences, no two transitions have the same fence, and a later grant has a greater one.
    private func fences() -> [String] {
        perScene { records in
            var violations = records.filter { $0.fences.count > 1 }.map {
                "\($0.id) has the fences \($0.fences.sorted())"
            }
            var owners: [Int: String] = [:]
            for record in records {
                for fence in record.fences {
                    guard let other = owners.updateValue(record.id, forKey: fence) else { continue }
                    violations.append("\(other) and \(record.id) have the same fence \(fence)")
                }
            }
            return violations
                + inversions(of: records, from: \.runs, to: \.waited).map { earlier, later in
                    "\(later.id) got fence \(later.fence ?? 0) after \(earlier.id) got \(earlier.fence ?? 0)"
                }
        }
    }

    /// Pairs in which one instant precedes the other, but the fences are in the opposite order.
    private func inversions(
        of records: [Known], from: KeyPath<Known, UInt64?>, to: KeyPath<Known, UInt64?>
    ) -> [(earlier: Known, later: Known)] {
        let granted = records.filter { $0.fence != nil }
        let earlier = granted.filter { $0[keyPath: from] != nil }.sorted {
            $0[keyPath: from] ?? 0 < $1[keyPath: from] ?? 0
        }
        let later = granted.filter { $0[keyPath: to] != nil }.sorted { $0[keyPath: to] ?? 0 < $1[keyPath: to] ?? 0 }
        var found: [(Known, Known)] = []
        var index = 0
        var highest: Known?
        for candidate in later {
            while index < earlier.count, earlier[index][keyPath: from] ?? 0 < candidate[keyPath: to] ?? 0 {
                if highest?.fence ?? .min < earlier[index].fence ?? .min { highest = earlier[index] }
                index += 1
            }
            guard let highest, highest.fence ?? .min > candidate.fence ?? .min else { continue }
            found.append((highest, candidate))
        }
        return found
    }

    private func outcomes() -> [String] {
        known.values.filter { $0.outcomes.count > 1 }.map { "\($0.id) ended as \($0.outcomes.sorted())" }.sorted()
    }

    /// A key creates only one transition in a scene, whose token is always the same.
    private func idempotency() -> [String] {
        var ids: [String: String] = [:]
        var violations: [String] = []
        for call in calls {
            guard let key = call.question.key, case .transition(let seen)? = call.answer else { continue }
            if let other = ids.updateValue(seen.id, forKey: "\(call.scene) \(key)"), other != seen.id {
                violations.append("the key \(key) made \(other) and \(seen.id)")
            }
        }
        return violations + known.values.filter { $0.tokens.count > 1 }.map { "\($0.id) has two tokens" }.sorted()
    }

    /// What an answer has shown remains true in all answers to later requests.
    private func durability() -> [String] {
        var violations: [String] = []
        for (id, calls) in Dictionary(grouping: calls, by: \.subject) {
            guard let id else { continue }
            var progress = Progress()
            for call in calls.sorted(by: { $0.sent < $1.sent }) {
                guard let answer = call.answer else { continue }
                progress.settle(before: call.sent)
                switch answer {
                case .refused("unknown-transition"):
                    if progress.settled != nil { violations.append("\(id) was known, and is not any more") }
                case .refused: break
                case .transition(let seen):
                    if let settled = progress.settled, seen.rank < settled.rank {
                        violations.append("\(id) was \(settled.state), and is \(seen.state) again")
                    }
                    progress.add(seen, at: call.answered)
                }
            }
        }
        return violations.sorted()
    }

    private func perScene(_ check: ([Known]) -> [String]) -> [String] {
        Dictionary(grouping: known.values, by: \.scene).sorted { $0.key < $1.key }.flatMap { check($0.value) }
    }
}

/// The known progress of a transition, at an instant that advances.
private struct Progress {
    /// The most advanced state in an answer so far.
    private(set) var settled: ObservedTransition?
    private var pending: [(transition: ObservedTransition, answered: UInt64)] = []

    mutating func add(_ transition: ObservedTransition, at answered: UInt64) {
        pending.append((transition, answered))
    }

    mutating func settle(before instant: UInt64) {
        for (transition, answered) in pending where answered < instant && transition.rank > (settled?.rank ?? -1) {
            settled = transition
        }
        pending.removeAll { $0.answered < instant }
    }
}

extension ObservedTransition {
    /// The rank of a state; it never decreases during the life of a transition.
    fileprivate var rank: Int {
        switch state {
        case "queued": 0
        case "running": 1
        default: 2
        }
    }
}

extension ObservedCall {
    /// The transition that the call is about, as far as the call and its answer reveal it.
    fileprivate var subject: String? {
        switch question {
        case .await(let id), .renew(let id), .end(let id, _), .look(let id): return id
        case .start, .serialize:
            if case .transition(let seen)? = answer { return seen.id }
            return nil
        }
    }
}
