internal import ArbiterCore
internal import ArbiterEngine

/// One reader of a topic's events: where it is in the topic's ring, and what is to be sent beside.
///
/// What is its own is a line or two, and the scene as it was when it had to begin anew, until that has been sent.
package final class EventSubscription: StreamSource {
    /// Says how everything is; `nil` if there is nothing to follow any more, and so the stream is over.
    package typealias Reset = @Sendable (@escaping @Sendable (EventSnapshot?) -> Void) -> Void

    let topic: EventTopic
    /// The last event that the reader has; `nil` if it wants what comes from now on.
    let after: EventNumber?
    private let hub: EventHub
    private let outlet: any StreamOutlet
    private let reset: Reset
    private let whenClosed: @Sendable () -> Void
    private let state = Guarded(State())

    private struct State {
        var stage = Stage.arriving
        /// What is to be sent before anything else.
        var pending: ArraySlice<UInt8> = firstLines
        /// What is to be written, and then sent before anything else.
        var documents: [JSONDocument] = []
        var attention = Attention.reading
        /// Whether it is over once there is nothing more to read.
        var isEnding = false
        /// Rings of the hub's clock since it was last given something.
        var silentTicks = 0
    }

    private enum Stage {
        /// On its way into the hub. Can transition to: `following`, `asking`.
        case arriving
        /// The scene whole has been asked for. Can transition to: `following`, `cut`.
        case asking
        /// Can transition to: `asking`, `cut`.
        case following(SharedRing, EventRing.Cursor)
        /// What comes next is lost, so that the connection has to be. Can transition to: nothing.
        case cut
    }

    /// Whether the shell reads, or waits to be woken.
    private enum Attention {
        /// It will read again of itself. Can transition to: `waiting`, `over`.
        case reading
        /// The last read found nothing. Can transition to: `called`, `over`.
        case waiting
        /// Stands before the gate. Can transition to: `woken`, `reading`, `waiting`, `over`.
        case called
        /// Has been let through the gate, and will read at once. Can transition to: `reading`, `waiting`, `over`.
        case woken
        /// Closed. Can transition to: nothing.
        case over
    }

    private static let firstLines = ArraySlice(": connected\nretry: 1000\n\n".utf8)
    private static let comment = ArraySlice(": keep-alive\n\n".utf8)
    /// How many rings of the hub's clock make up the longest silence.
    static let ticksOfSilence = 3

    init(
        to topic: EventTopic, after: EventNumber?, hub: EventHub, outlet: any StreamOutlet,
        reset: @escaping Reset, whenClosed: @escaping @Sendable () -> Void
    ) {
        self.topic = topic
        self.after = after
        self.hub = hub
        self.outlet = outlet
        self.reset = reset
        self.whenClosed = whenClosed
    }

    // MARK: Asked by the shell

    package func read(upTo count: Int) -> StreamPiece {
        let (piece, wasWoken) = state.withLock { state in
            let piece = next(&state, upTo: count)
            if case .bytes = piece { state.silentTicks = 0 }
            return (piece, turn(&state, to: piece == .nothing ? .waiting : .reading))
        }
        if wasWoken { hub.gate.passed() }
        return piece
    }

    /// - Returns: whether it was woken, so that the gate is to be told.
    private func turn(_ state: inout State, to attention: Attention) -> Bool {
        switch state.attention {
        case .over: return false
        case .reading, .waiting, .called, .woken:
            defer { state.attention = attention }
            return state.attention == .woken
        }
    }

    private func next(_ state: inout State, upTo count: Int) -> StreamPiece {
        if case .cut = state.stage { return .cut }
        if state.pending.isEmpty, !state.documents.isEmpty {
            state.pending = state.documents[0].take(atLeast: count)[...]
            if state.documents[0].isOver { state.documents.removeFirst() }
        }
        guard state.pending.isEmpty else {
            let piece = state.pending.prefix(count)
            // Without the rest, so that what has been sent is let go of.
            state.pending = piece.endIndex == state.pending.endIndex ? [] : state.pending[piece.endIndex...]
            return .bytes(piece)
        }
        switch state.stage {
        case .cut:
            return .cut
        case .arriving, .asking:
            return state.isEnding ? .end : .nothing
        case .following(let shared, var cursor):
            let piece = shared.ring.withLock { $0.read(&cursor, upTo: count) }
            state.stage = .following(shared, cursor)
            switch piece {
            case .bytes(let bytes): return .bytes(bytes)
            case .nothing: return state.isEnding ? .end : .nothing
            case .lost:
                state.stage = .cut
                return .cut
            }
        }
    }

    package func close() {
        if state.withLock({ turn(&$0, to: .over) }) { hub.gate.passed() }
        hub.leave(self)
        whenClosed()
    }
}

// MARK: - Told by the hub

extension EventSubscription {
    /// What the hub is to do, once it has let go of its locks.
    enum Action {
        case wake(EventSubscription)
        case cut(any StreamOutlet)
        case askForScene(EventSubscription)
    }

    /// Goes on from here, once it has said these lines.
    func follow(_ shared: SharedRing, from cursor: EventRing.Cursor, saying lines: [UInt8] = []) -> Action? {
        state.withLock { state in
            state.pending += lines
            state.stage = .following(shared, cursor)
            return wake(&state)
        }
    }

    /// Has to begin anew; where half an event has been sent, on another connection.
    func beginAnew() -> Action? {
        state.withLock { state in
            switch state.stage {
            case .asking, .cut: return nil
            case .following(_, let cursor) where cursor.offset > 0: return cut(&state)
            case .arriving, .following:
                state.stage = .asking
                return .askForScene(self)
            }
        }
    }

    /// Goes on behind the scene whole, or on another connection if what follows that is gone as well.
    func follow(_ shared: SharedRing, from cursor: EventRing.Cursor?, behindReset events: JSONDocument) -> Action? {
        state.withLock { state in
            guard case .asking = state.stage else { return nil }
            guard let cursor else { return cut(&state) }
            state.documents.append(events)
            state.stage = .following(shared, cursor)
            return wake(&state)
        }
    }

    /// Asks for the scene whole.
    func askForScene() {
        reset { [self] snapshot in hub.resume(self, from: snapshot) }
    }

    /// There is something new in its ring.
    func look() -> Action? {
        state.withLock { state in
            if case .following(let shared, let cursor) = state.stage,
                cursor.position < shared.ring.withLock({ $0.start })
            {
                return cut(&state)
            }
            return wake(&state)
        }
    }

    /// Time has passed.
    func tick() -> Action? {
        state.withLock { state in
            state.silentTicks += 1
            guard state.silentTicks >= Self.ticksOfSilence, state.attention == .waiting else { return nil }
            state.pending = Self.comment
            return wake(&state)
        }
    }

    /// Is over once everything that is there has been sent.
    func end() -> Action? {
        state.withLock { state in
            state.isEnding = true
            return wake(&state)
        }
    }

    private func cut(_ state: inout State) -> Action {
        state.stage = .cut
        return .cut(outlet)
    }

    private func wake(_ state: inout State) -> Action? {
        guard state.attention == .waiting else { return nil }
        state.attention = .called
        return .wake(self)
    }

    /// Its turn at the gate has come.
    ///
    /// - Returns: whether it will read, or be closed, after this.
    func wakeNow() -> Bool {
        let isCalled = state.withLock { state in
            guard state.attention == .called else { return false }
            state.attention = .woken
            return true
        }
        if isCalled { outlet.wake() }
        return isCalled
    }
}
