internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTestKit

/// The records that a simulated arbiter makes, which do not contradict each other.
struct DiskLife {
    private(set) var records: [JournalEntry] = []
    /// Ends that a start has not found.
    ///
    /// What a process has cut off comes back if the machine dies before that is on the disk.
    private var lost: [(after: Int, records: [JournalEntry])] = []
    private var machine = ArbiterStateMachine()
    private var unfinished: [Owned] = []
    private var moment = Moment(
        instant: Instant(nanoseconds: 5_000_000_000), timestamp: Timestamp(milliseconds: 1_767_225_600_000))

    private struct Owned {
        let id: TransitionID
        let token: Token
    }

    /// The last record.
    var last: Int { records.count }

    /// Makes this many records more, with names up to a size in bytes.
    mutating func live(_ count: Int, size: Int, _ chance: inout SplitMix64) {
        let goal = records.count + count
        while records.count < goal { step(size, &chance) }
    }

    private mutating func step(_ size: Int, _ chance: inout SplitMix64) {
        moment = Moment(
            instant: moment.instant.advanced(by: .milliseconds(1)),
            timestamp: Timestamp(milliseconds: moment.timestamp.milliseconds + 1))
        guard unfinished.count < 40, !chance.isOnce(in: 2) || unfinished.isEmpty else {
            let owned = unfinished.remove(at: Int.random(in: unfinished.indices, using: &chance))
            apply(
                chance.isOnce(in: 5)
                    ? .expire(owned.id, .abandoned)
                    : .end(owned.id, token: owned.token, chance.isOnce(in: 2) ? .cancelled : .completed))
            return
        }
        let owned = Owned(
            id: TransitionID(rawValue: chance.next()), token: Token(high: chance.next(), low: chance.next()))
        let length = min(Int.random(in: 1...size, using: &chance), Limits.clientNameBytes)
        var request = TransitionRequest(client: ClientName(String(repeating: "n", count: length)))
        if let scene = SceneName("scene-\(chance.next() % 8)") { request.scene = scene }
        if chance.isOnce(in: 3) {
            let filler = String(repeating: "k", count: Int.random(in: 0...min(size, 200), using: &chance))
            request.idempotencyKey = IdempotencyKey("key-\(owned.id.rawValue)-\(filler)")
        }
        if apply(.serialize(request, id: owned.id, token: owned.token)) { unfinished.append(owned) }
    }

    @discardableResult
    private mutating func apply(_ record: Record) -> Bool {
        guard !machine.apply(record, at: moment).records.isEmpty else { return false }
        records.append(JournalEntry(sequence: UInt64(records.count + 1), moment: moment, record: record))
        return true
    }

    /// Whether what a start has found behind a snapshot are these records, or an end that comes back.
    mutating func includes(_ found: [JournalEntry], behind snapshot: Int) -> Bool {
        let last = snapshot + found.count
        if last <= records.count, found.elementsEqual(records[snapshot..<last]) { return true }
        for end in lost.reversed() where end.after <= records.count {
            let candidate = records.prefix(end.after) + end.records
            guard last <= candidate.count, found.elementsEqual(candidate[snapshot..<last]) else { continue }
            records = Array(candidate)
            return true
        }
        return false
    }

    /// Notes that a log was begun, so that no end comes back any more.
    mutating func goOn() { lost = [] }

    /// Goes on behind an earlier record, with the state that was found there.
    mutating func goBack(to last: Int, with machine: ArbiterStateMachine) {
        if last < records.count { lost.append((last, Array(records[last...]))) }
        records.removeLast(records.count - last)
        self.machine = machine
        unfinished = []
        for entry in records {
            switch entry.record {
            case .serialize(_, let id, let token): unfinished.append(Owned(id: id, token: token))
            case .end(let id, _, _), .expire(let id, _): unfinished.removeAll { $0.id == id }
            default: preconditionFailure("no such record is made here: \(entry.record)")
            }
        }
    }
}
