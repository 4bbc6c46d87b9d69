package import ArbiterCore
package import ArbiterEngine

/// The records of a simulated life of an arbiter, and the state after them.
package struct RecordedLife {
    package private(set) var machine = ArbiterStateMachine()
    package private(set) var records: [JournalEntry] = []
    private let time = ManualTime()
    private var random: SplitMix64
    private var unfinished: [(id: TransitionID, token: Token)] = []

    /// A life with this many records; the same seed gives the same life.
    package init(seed: UInt64, records count: Int) {
        random = SplitMix64(seed: seed)
        while records.count < count { step() }
    }

    private mutating func step() {
        time.advance(by: .milliseconds(Int.random(in: 0...20, using: &random)))
        let (id, token) = (TransitionID(rawValue: random.next()), Token(high: random.next(), low: random.next()))
        var request = TransitionRequest(client: ClientName("client \(random.next() % 9)"))
        if random.isOnce(in: 3) { request.idempotencyKey = IdempotencyKey("key-\(id.rawValue)") }
        if random.isOnce(in: 2), !unfinished.isEmpty {
            let owned = unfinished.remove(at: Int.random(in: unfinished.indices, using: &random))
            if random.isOnce(in: 5) {
                apply(.expire(owned.id, .abandoned))
            } else {
                apply(.end(owned.id, token: owned.token, random.isOnce(in: 2) ? .cancelled : .completed))
            }
        } else {
            apply(.serialize(request, id: id, token: token))
            unfinished.append((id, token))
        }
    }

    private mutating func apply(_ record: Record) {
        let moment = time.now()
        guard !machine.apply(record, at: moment).records.isEmpty else { return }
        records.append(
            JournalEntry(sequence: UInt64(records.count + 1), moment: moment, record: record))
    }
}
