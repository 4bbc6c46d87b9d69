internal import ArbiterCore
internal import ArbiterEngine

/// A reader of a topic's events: its place in the topic's ring, and what has to be sent besides.
///
/// It owns only a few lines, and during a reset its place in the state, which others may read as well.
package final class EventSubscription: StreamSource {
    /// Gets the current state; `nil` if there is nothing to follow any more, and the stream is over.
    package typealias Reset = @Sendable (@escaping @Sendable (EventSnapshot?) -> Void) -> Void

    /// Called once when the outlet has closed the subscription, with whether its client closed the connection.
    package typealias WhenClosed = @Sendable (_ isCut: Bool) -> Void
    /// Says whether the client is gone when its connection closes.
    typealias PresenceAtClose = @Sendable (_ isCut: Bool) -> ClientPresence

    let topic: EventTopic
    /// The last event that the reader has; `nil` to begin with the next event.
    let after: EventNumber?
    /// The session that lives by the stream, which ends with it.
    let session: SessionID?
    private let permission: Permission
    private let hub: EventHub
    private let outlet: any StreamOutlet
    private let reset: Reset
    private let whenClosed: WhenClosed
    private let state = Guarded(State())

    private struct State {
        var stage = Stage.arriving
        /// Bytes to send before anything else.
        var pending: ArraySlice<UInt8> = firstLines
        /// What to write and send after `pending`, before anything from the ring.
        var resets: [Reading] = []
        var attention = Attention.reading
        /// Whether the stream ends when there is nothing more to read.
        var isEnding = false
        /// How often the hub's alarm has rung since something was last sent.
        var silentTicks = 0

        /// Gives back what was to be sent.
        mutating func forget() {
            pending = []
            resets = []
        }
    }

    /// A reset that is being read.
    private struct Reading {
        let reset: SharedReset
        /// What remains of it.
        var events: JSONDocument
    }

    private enum Stage {
        /// The hub has not attached it yet. Can transition to: `following`, `asking`.
        case arriving
        /// It waits for the current state. Can transition to: `following`, `cut`.
        case asking
        /// Can transition to: `asking`, `cut`.
        case following(SharedRing, EventRing.Cursor)
        /// The next events are lost, so the connection is closed. Can transition to: nothing.
        case cut
    }

    /// Whether the shell reads on, or waits to be woken.
    private enum Attention {
        /// The shell will read again without a wake. Can transition to: `waiting`, `over`.
        case reading
        /// The last read found nothing. Can transition to: `called`, `over`.
        case waiting
        /// It waits at the gate. Can transition to: `woken`, `reading`, `waiting`, `over`.
        case called
        /// The gate has let it pass, and it will be read at once. Can transition to: `reading`, `waiting`, `over`.
        case woken
        /// Closed. Can transition to: nothing.
        case over
    }

    private static let firstLines = ArraySlice(": connected\nretry: 1000\n\n".utf8)
    private static let comment = ArraySlice(": keep-alive\n\n".utf8)
    /// The number of rings of the hub's alarm in the longest silence.
    static let ticksOfSilence = 3

    init(
        to topic: EventTopic, after: EventNumber?, session: SessionID?, permission: Permission, hub: EventHub,
        outlet: any StreamOutlet, reset: @escaping Reset, whenClosed: @escaping WhenClosed
    ) {
        self.topic = topic
        self.after = after
        self.session = session
        self.permission = permission
        self.hub = hub
        self.outlet = outlet
        self.reset = reset
        self.whenClosed = whenClosed
    }

    /// With whom it shares resets.
    var audience: EventResets.Audience { EventResets.Audience(topic: topic, scenes: permission.caller.scenes) }

    /// Whether its client may not follow any more.
    var isRevoked: Bool { permission.isRevoked }

    // MARK: Called by the shell

    package func read(upTo count: Int) -> StreamPiece {
        let (piece, wasWoken) = state.withLock { state in
            let piece = next(&state, upTo: count)
            if case .bytes = piece { state.silentTicks = 0 }
            return (piece, turn(&state, to: piece == .nothing ? .waiting : .reading))
        }
        if wasWoken { hub.gate.passed() }
        return piece
    }

    /// - Returns: whether it was woken; then the gate has to be notified.
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
        if state.pending.isEmpty, !state.resets.isEmpty {
            state.pending = state.resets[0].events.take(atLeast: count)[...]
            if state.resets[0].events.isOver { state.resets.removeFirst() }
        }
        guard state.pending.isEmpty else {
            let piece = state.pending.prefix(count)
            // An empty slice releases the memory of what has been sent.
            state.pending = piece.endIndex == state.pending.endIndex ? [] : state.pending[piece.endIndex...]
            return .bytes(piece)
        }
        switch state.stage {
        case .cut:
            return .cut
        case .arriving, .asking:
            return state.isEnding ? .end : .nothing
        case .following(let shared, var cursor):
            let piece = shared.ring.withLock { $0.read(&cursor, of: permission.caller.scenes, upTo: count) }
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
        let (wasWoken, isCut) = state.withLock { state in
            let isOurs = if case .cut = state.stage { true } else { state.isEnding }
            state.forget()
            return (turn(&state, to: .over), !isOurs)
        }
        if wasWoken { hub.gate.passed() }
        hub.leave(self)
        whenClosed(isCut)
    }
}

// MARK: - Called by the hub

extension EventSubscription {
    /// What the hub has to do when it holds no locks.
    enum Action {
        case wake(EventSubscription)
        case cut(any StreamOutlet)
        /// Asks for the state for a reset, by the number of the question.
        case askForScene(EventSubscription, Int)
        /// Tells what is stored of a topic.
        case tell(EventHistory, @Sendable (EventHistory) -> Void)
    }

    /// Continues at a cursor, after sending these lines.
    func follow(_ shared: SharedRing, from cursor: EventRing.Cursor, saying lines: [UInt8] = []) -> Action? {
        state.withLock { state in
            state.pending += lines
            state.stage = .following(shared, cursor)
            return wake(&state)
        }
    }

    /// How a reader begins anew.
    enum Beginning {
        case needsReset
        case cut(Action)
        /// It does so already, or is over.
        case nothing
    }

    /// Needs a reset from now on; if an event has been sent in part, the stream is cut off instead.
    func beginAnew() -> Beginning {
        state.withLock { state in
            switch state.stage {
            case .asking, .cut: return .nothing
            case .following(_, let cursor) where cursor.offset > 0: return .cut(cut(&state))
            case .arriving, .following:
                state.stage = .asking
                return .needsReset
            }
        }
    }

    /// Continues after a reset; if the events after it are gone as well, the stream is cut off.
    func follow(_ shared: SharedRing, from cursor: EventRing.Cursor?, behindReset reset: SharedReset) -> Action? {
        state.withLock { state in
            guard case .asking = state.stage else { return nil }
            guard let cursor else { return cut(&state) }
            guard state.attention != .over else { return nil }
            state.resets.append(Reading(reset: reset, events: reset.snapshot.events))
            state.stage = .following(shared, cursor)
            return wake(&state)
        }
    }

    /// Gets the current state for the reset.
    ///
    /// - Parameter question: the number under which the hub waits for it.
    func askForScene(_ question: Int) {
        reset { [hub] snapshot in hub.resume(question, from: snapshot) }
    }

    /// Cuts the stream off if it has not read all of a reset.
    func giveUp(_ reset: SharedReset) -> Action? {
        state.withLock { state in
            state.resets.contains { $0.reset === reset } ? cut(&state) : nil
        }
    }

    /// Called when the ring may have new events.
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

    /// Called when the hub's alarm rings.
    func tick() -> Action? {
        state.withLock { state in
            state.silentTicks += 1
            guard state.silentTicks >= Self.ticksOfSilence, state.attention == .waiting else { return nil }
            state.pending = Self.comment
            return wake(&state)
        }
    }

    /// Ends the stream when everything that is there has been sent.
    func end() -> Action? {
        state.withLock { state in
            state.isEnding = true
            return wake(&state)
        }
    }

    private func cut(_ state: inout State) -> Action {
        state.stage = .cut
        state.forget()
        return .cut(outlet)
    }

    private func wake(_ state: inout State) -> Action? {
        guard state.attention == .waiting else { return nil }
        state.attention = .called
        return .wake(self)
    }

    /// Called when the gate lets it pass.
    ///
    /// - Returns: whether a read, or the close, will follow.
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
