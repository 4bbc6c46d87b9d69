internal import ArbiterEngine
internal import DequeModule

/// The clients of other nodes that have closed their connections, by the names under which their requests were passed on.
final class Departures: Sendable {
    /// Where nodes tell of them.
    static let path = "/cluster/departures"
    /// How many are remembered; each is asked for as soon as the connection of the node that told of it closes.
    private static let limit = 20_000

    private struct State {
        var names: Set<String> = []
        var order: Deque<String> = []
    }

    private let state = Guarded(State())

    func note(_ name: String) {
        state.withLock { state in
            guard state.names.insert(name).inserted else { return }
            state.order.append(name)
            if state.order.count > Self.limit { state.names.remove(state.order.removeFirst()) }
        }
    }

    /// Whether the client of a request has left; asked once.
    func take(_ name: String) -> Bool { state.withLock { $0.names.remove(name) != nil } }
}
