internal import ArbiterEngine

/// The body of an answer that is too long to be written in one go: it is written as its client takes it.
final class DocumentSource: StreamSource {
    private struct State {
        /// What has been written and not been taken.
        var written: ArraySlice<UInt8>
        var document: JSONDocument
    }

    private let state: Guarded<State>

    /// - Parameters:
    ///   - beginning: what has been taken of the document.
    ///   - document: the rest of it.
    init(_ beginning: [UInt8], _ document: JSONDocument) {
        state = Guarded(State(written: beginning[...], document: document))
    }

    /// It has something to give until it is over.
    var maySleep: Bool { false }

    func read(upTo count: Int) -> StreamPiece {
        state.withLock { state in
            if state.written.isEmpty { state.written = state.document.take(atLeast: count)[...] }
            guard !state.written.isEmpty else { return .end }
            let piece = state.written.prefix(count)
            // Without the rest, so that what has been sent is let go of.
            state.written = piece.endIndex == state.written.endIndex ? [] : state.written[piece.endIndex...]
            return .bytes(piece)
        }
    }

    func close() {
        state.withLock { $0 = State(written: [], document: JSONDocument([])) }
    }
}
