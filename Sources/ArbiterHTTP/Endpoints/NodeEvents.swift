internal import ArbiterEngine
internal import ArbiterTransfers

/// The events of some shards that another node serves, as they arrive.
final class NodeEvents: StreamSource {
    /// How much is kept for a client that does not take it; then the stream is cut.
    private static let waitingBytes = 16 << 20

    private struct State {
        var number: TransferLoop.Number?
        var bytes: [UInt8] = []
        var ending: StreamPiece?
        var isClosed = false
    }

    private let loop: TransferLoop
    private let outlet: any StreamOutlet
    private let state = Guarded(State())

    /// Asks the other node.
    ///
    /// - Parameters:
    ///   - request: what it is asked.
    ///   - loop: where the transfer takes place.
    ///   - outlet: woken when there is something to read.
    init(_ request: TransferRequest, _ loop: TransferLoop, outlet: any StreamOutlet) {
        (self.loop, self.outlet) = (loop, outlet)
        let number = loop.begin(request) { [self] event in take(event) }
        state.withLock { $0.number = number }
    }

    private func take(_ event: TransferLoop.Event) {
        state.withLock { state in
            switch event {
            case .head(let head): if head.status != 200 { state.ending = .cut }
            case .bytes(let bytes):
                if !state.isClosed, state.ending == nil { state.bytes += bytes }
                if state.bytes.count > Self.waitingBytes { state.ending = .cut }
            // Whatever has ended there, its client has to ask again.
            case .ended(let failure): if state.ending == nil { state.ending = failure == nil ? .end : .cut }
            }
        }
        outlet.wake()
    }

    func read(upTo count: Int) -> StreamPiece {
        state.withLock { state in
            if state.ending == .cut { return .cut }
            guard !state.bytes.isEmpty else { return state.ending ?? .nothing }
            defer { state.bytes.removeFirst(min(count, state.bytes.count)) }
            return .bytes(state.bytes.prefix(count))
        }
    }

    func close() {
        let number = state.withLock { state in
            state.isClosed = true
            state.bytes = []
            return state.number
        }
        if let number { loop.cancel(number) }
    }
}
