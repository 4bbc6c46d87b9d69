internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

/// The events of some shards that another node serves, as they arrive.
final class NodeEvents: StreamSource {
    private struct State {
        var number: TransferLoop.Number?
        var arrived = ArrivedStream()
        var isClosed = false
        /// The number among what is under way.
        var open: Int?
    }

    private let loop: TransferLoop
    private let open: OpenTransfers
    private let outlet: any StreamOutlet
    private let state = Guarded(State())

    /// Asks the other node.
    ///
    /// - Parameters:
    ///   - request: what it is asked.
    ///   - loop: where the transfer takes place.
    ///   - shards: the shards that it serves; when one of them gets another owner, the stream is cut.
    ///   - open: what is under way.
    ///   - outlet: woken when there is something to read.
    init(
        _ request: TransferRequest, _ loop: TransferLoop, of shards: [Int], _ open: OpenTransfers,
        outlet: any StreamOutlet
    ) {
        (self.loop, self.open, self.outlet) = (loop, open, outlet)
        let place = open.begin(Dictionary(uniqueKeysWithValues: shards.map { ($0, nil) })) { [weak self] in
            self?.cut()
        }
        state.withLock { $0.open = place }
        let number = loop.begin(request) { [self] event in take(event) }
        state.withLock { $0.number = number }
    }

    private func take(_ event: TransferLoop.Event) {
        state.withLock { state in
            switch event {
            case .head(let head): if head.status != 200 { state.arrived.ending = .cut }
            case .bytes(let bytes):
                if !state.isClosed, state.arrived.ending == nil { state.arrived.bytes += bytes }
                state.arrived.steer(state.number, in: loop)
            // The client has to ask again in both cases.
            case .ended(let failure):
                if state.arrived.ending == nil { state.arrived.ending = failure == nil ? .end : .cut }
            }
        }
        outlet.wake()
    }

    private func cut() {
        state.withLock { if $0.arrived.ending == nil { $0.arrived.ending = .cut } }
        outlet.wake()
    }

    func read(upTo count: Int) -> StreamPiece {
        state.withLock { state in
            defer { state.arrived.steer(state.number, in: loop) }
            return state.arrived.read(upTo: count)
        }
    }

    func close() {
        let (number, place) = state.withLock { state in
            state.isClosed = true
            state.arrived.bytes = []
            return (state.number, state.open)
        }
        if let place { open.end(place) }
        if let number { loop.cancel(number) }
    }
}
