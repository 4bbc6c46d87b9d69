internal import ArbiterEngine

/// The body of a long answer, written piece by piece as its client reads it.
final class DocumentSource: StreamSource {
    private struct State {
        /// The bytes that are written but not read yet.
        var written: ArraySlice<UInt8>
        var document: JSONDocument
    }

    private let state: Guarded<State>

    /// Makes the body of a document that is partly written.
    ///
    /// - Parameters:
    ///   - beginning: the bytes that have been taken from the document.
    ///   - document: the rest of the document.
    init(_ beginning: [UInt8], _ document: JSONDocument) {
        state = Guarded(State(written: beginning[...], document: document))
    }

    /// False, because it always has bytes until its end.
    var maySleep: Bool { false }

    func read(upTo count: Int) -> StreamPiece {
        state.withLock { state in
            if state.written.isEmpty { state.written = state.document.take(atLeast: count)[...] }
            guard !state.written.isEmpty else { return .end }
            let piece = state.written.prefix(count)
            // An empty slice would keep the bytes that have been read in memory.
            state.written = piece.endIndex == state.written.endIndex ? [] : state.written[piece.endIndex...]
            return .bytes(piece)
        }
    }

    func close() {
        state.withLock { $0 = State(written: [], document: JSONDocument([], keeping: 0)) }
    }
}
