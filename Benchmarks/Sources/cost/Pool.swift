internal import ArbiterCore

/// A scene without a hierarchy, each name of which is locked by a transition and has tickets waiting for it.
struct Pool {
    /// What the tickets ask for.
    enum Kind: String, CaseIterable {
        /// One name.
        case name = "one name"
        /// One name, every second one shared.
        case shared = "one name, shared in turns"
        /// Any of ten names.
        case any = "any of ten names"
    }

    static let names = 100
    private static let choice = 10

    private var machine: ArbiterStateMachine
    private let kind: Kind
    private let names = (0..<Self.names).compactMap { ControllerID("name-\($0)") }
    private var holders: [TransitionID] = []
    /// The tickets that wait for a name, or for any name of a group, and the index of the first of each line.
    private var lines: [[TransitionID]]
    private var heads: [Int]
    private var next = 0
    private var lastID: UInt64 = 0

    init(waiting: Int, _ kind: Kind) {
        self.kind = kind
        var limits = Limits()
        limits.queuedPerScene = 2 * waiting + 1
        limits.unfinished = 2 * (waiting + Self.names)
        machine = ArbiterStateMachine(limits: limits)
        let count = kind == .any ? Self.names / Self.choice : Self.names
        lines = Array(repeating: [], count: count)
        heads = Array(repeating: 0, count: count)
        for name in names.indices { holders.append(ask(TransitionRequest(scope: .controllers([names[name]])))) }
        for ticket in 0..<waiting { lines[ticket % count].append(ask(for: ticket % count)) }
    }

    /// A ticket at the end of the queue that is cancelled again.
    mutating func giveUp() { end(ask(for: line(of: turn()))) }

    /// The end of a holder, the grant of the next, and a new ticket at the end of the queue.
    mutating func handOver() {
        let name = turn()
        let line = line(of: name)
        end(holders[name])
        lines[line].append(ask(for: line))
        holders[name] = lines[line][heads[line]]
        heads[line] += 1
    }

    private mutating func turn() -> Int {
        next = (next + 1) % Self.names
        return next
    }

    private func line(of name: Int) -> Int { kind == .any ? name / Self.choice : name }

    private mutating func ask(for line: Int) -> TransitionID {
        switch kind {
        case .name: ask(TransitionRequest(scope: .controllers([names[line]])))
        case .shared:
            ask(
                TransitionRequest(
                    scope: .controllers([names[line]]), mode: lines[line].count % 2 == 0 ? .shared : .exclusive))
        case .any: ask(TransitionRequest(scope: .anyOf(Array(names[line * Self.choice..<(line + 1) * Self.choice]))))
        }
    }

    private mutating func ask(_ request: TransitionRequest) -> TransitionID {
        lastID += 1
        let id = TransitionID(rawValue: lastID)
        apply(.serialize(request, id: id, token: token(of: id)))
        return id
    }

    private mutating func end(_ id: TransitionID) { apply(.end(id, token: token(of: id), .cancelled)) }

    private func token(of id: TransitionID) -> Token { Token(high: id.rawValue, low: id.rawValue) }

    private mutating func apply(_ record: Record) {
        let moment = Moment(instant: Instant(nanoseconds: 0), timestamp: Timestamp(milliseconds: 0))
        let outcome: Outcome<Void> = machine.apply(record, at: moment)
        if case .failure(let error) = outcome.answer { fatalError("\(record): \(error)") }
    }
}
