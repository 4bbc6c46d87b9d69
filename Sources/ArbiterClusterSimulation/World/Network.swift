internal import ArbiterEngine

/// What connects nodes, etcd and clients: messages are late, or lost, or come through when a cut has healed.
final class Network: Sendable {
    enum Place: Hashable, Sendable, CustomStringConvertible {
        case node(Int)
        case etcd
        case clients

        var description: String {
            switch self {
            case .node(let number): "node \(number)"
            case .etcd: "etcd"
            case .clients: "clients"
            }
        }
    }

    /// What does not get through: messages of one place to another.
    struct Cut: Hashable, Sendable, CustomStringConvertible {
        let from: Place
        let to: Place

        var description: String { "\(from) to \(to)" }
    }

    private struct State {
        var cuts: Set<Cut> = []
        /// What comes through when a cut has healed.
        var held: [(cut: Cut, send: @Sendable () -> Void)] = []
        var isTroubled = false
    }

    private let timeline: Timeline
    private let chance: Chance
    private let state = Guarded(State())

    init(_ timeline: Timeline, _ chance: Chance) {
        (self.timeline, self.chance) = (timeline, chance)
    }

    /// Whether messages may be late or lost also where nothing is cut.
    var isTroubled: Bool {
        get { state.withLock { $0.isTroubled } }
        set { state.withLock { $0.isTroubled = newValue } }
    }

    func isCut(from: Place, to: Place) -> Bool { state.withLock { $0.cuts.contains(Cut(from: from, to: to)) } }

    func cut(from: Place, to: Place) { state.withLock { _ = $0.cuts.insert(Cut(from: from, to: to)) } }

    func heal(from: Place, to: Place) {
        let cut = Cut(from: from, to: to)
        let held = state.withLock { state in
            state.cuts.remove(cut)
            defer { state.held.removeAll { $0.cut == cut } }
            return state.held.filter { $0.cut == cut }.map(\.send)
        }
        for send in held { send() }
    }

    func healAll() {
        for cut in state.withLock({ $0.cuts }).sorted(by: { "\($0)" < "\($1)" }) { heal(from: cut.from, to: cut.to) }
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - from: from where.
    ///   - to: where to.
    ///   - process: the process that gets it, if it is one.
    ///   - body: what happens when it arrives.
    func send(from: Place, to: Place, in process: Process? = nil, _ body: @escaping @Sendable () -> Void) {
        let cut = Cut(from: from, to: to)
        if state.withLock({ $0.cuts.contains(cut) }) {
            guard chance.isOnce(in: 2) else { return }
            state.withLock { state in
                state.held.append((cut, { [self] in deliver(to: process, body) }))
            }
            return
        }
        deliver(to: process, body)
    }

    private func deliver(to process: Process?, _ body: @escaping @Sendable () -> Void) {
        let isTroubled = isTroubled
        if isTroubled, chance.isOnce(in: 400) { return }
        let isLate = isTroubled && chance.isOnce(in: 100)
        let delay = chance.duration(isLate ? .milliseconds(2) ... .seconds(3) : .microseconds(100) ... .milliseconds(2))
        timeline.schedule(after: delay, in: process, body)
    }
}
