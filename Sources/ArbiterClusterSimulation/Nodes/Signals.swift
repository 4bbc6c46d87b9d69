internal import ArbiterCore
internal import ArbiterEngine

/// What nodes have said, until the simulation takes it.
final class Signals: Sendable {
    enum Signal: Sendable {
        /// A node answers the ask of a number.
        case answer(Int, send: @Sendable () -> Void)
        /// The ask of a number has opened a stream at the home of its session, over the nodes that have passed it on.
        case attached(Int, home: Process, relays: [Process])
        /// An answer has reached its client.
        case heard(Int, Reply)
        /// Nothing may come any more, or something is to be done now.
        case timer(client: Int, number: Int)
        /// A node begins to serve a shard.
        case began(shard: Int, tenure: Int64, node: Int)
        /// An engine publishes events, in a tenure of its shard.
        case events(shard: Int, tenure: Int64, node: Int, [SceneEvent])
        /// An engine begins its replay again with a snapshot, in a tenure of its shard; its streams end, and begin behind that.
        case forgot(shard: Int, tenure: Int64, node: Int)
        /// A comment is due on the stream that the ask of a number has opened.
        case comment(Int)
        /// A process has ended by itself.
        case died(Process)
        /// Something has happened that is counted.
        case counted(ClusterStatistics.Figure)
        /// A relay has done what it must not do.
        case misrelayed(String)
    }

    private let signals = Guarded<[Signal]>([])

    func post(_ signal: Signal) { signals.withLock { $0.append(signal) } }

    /// Takes everything in its order; answers are in that of their asks, because an engine may give several at once.
    func takeAll() -> [Signal] {
        let taken = signals.withLock { signals in
            defer { signals = [] }
            return signals
        }
        guard taken.count > 1 else { return taken }
        return taken.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
    }
}

extension Signals.Signal {
    fileprivate var rank: Int {
        switch self {
        case .answer(let number, _): number
        case .attached, .heard, .timer, .began, .events, .forgot, .comment, .died, .counted, .misrelayed: 0
        }
    }
}
