internal import ArbiterCore
internal import ArbiterEngine

/// The events of all scenes out of several streams, each of which has those of some shards.
///
/// Events keep their order within a scene. Their ids are left out: the place in this stream is that of all its parts, and
/// is told in a frame of its own, at most once in `positionEvery`. If one part begins anew with a reset, the others
/// have to as well, because what a reset does not name no longer exists.
final class GatheredEvents: StreamSource {
    /// How often the place in the stream is told, at most.
    private static let positionEvery = Duration.seconds(1)
    /// How much of a part is read at once, in bytes.
    private static let pieceBytes = 16 << 10
    /// How much of a part waits for the resets of the others, in bytes.
    private static let heldBytes = 4 << 20

    /// Opens the stream of some shards; `nil` as the position begins with the next event.
    typealias Open = @Sendable (_ shards: [Int], _ position: EventPosition?) -> any StreamSource

    fileprivate struct Part {
        let shards: [Int]
        let open: Open
        var source: any StreamSource
        var frames = EventFrames()
        var stage = Stage.following
        /// What came after its reset, while other parts have not had theirs.
        var held: [EventFrames.Frame] = []
        var heldBytes = 0
    }

    fileprivate enum Stage {
        /// Can transition to: `resetting`.
        case following
        /// Its reset is awaited, or under way. Can transition to: `reset`.
        case resetting
        /// Its reset is over, that of another part is not. Can transition to: `following`.
        case reset
    }

    fileprivate struct State {
        var parts: [Part] = []
        var position: EventPosition
        var told = EventPosition()
        var toldAt: ContinuousClock.Instant?
        /// The scenes that the resets have named so far.
        var resetScenes = 0
        var output: [UInt8] = Array(": connected\nretry: 1000\n\n".utf8)
        var hasComment = false
        var ending: StreamPiece?
        var isClosed = false
    }

    private let shardCount: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let whenClosed: EventSubscription.WhenClosed
    private let state: Guarded<State>

    /// - Parameters:
    ///   - parts: the shards of each part, and what opens its stream; together they have every shard once.
    ///   - position: where the reader's stream ended; `nil` to begin with the next event.
    ///   - shardCount: how many shards there are.
    ///   - now: the time, for how often the place in the stream is told.
    ///   - whenClosed: called once when the outlet has closed it; false if the stream has ended by itself.
    init(
        _ parts: [(shards: [Int], open: Open)], after position: EventPosition?, of shardCount: Int,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        whenClosed: @escaping EventSubscription.WhenClosed = { _ in }
    ) {
        (self.shardCount, self.now, self.whenClosed) = (shardCount, now, whenClosed)
        let parts = parts.map { shards, open in
            Part(
                shards: shards, open: open,
                source: open(shards, position.map { $0.completed(for: shards) }))
        }
        state = Guarded(State(parts: parts, position: position ?? EventPosition()))
    }

    // MARK: - For the outlet

    func read(upTo count: Int) -> StreamPiece {
        while true {
            if let piece = take(upTo: count) { return piece }
            guard fill() else { return take(upTo: count) ?? .nothing }
        }
    }

    func close() {
        let (sources, isOurs) = state.withLock { state in
            state.isClosed = true
            defer { state.output = [] }
            return (state.parts.map(\.source), state.ending != nil)
        }
        for source in sources { source.close() }
        whenClosed(!isOurs)
    }

    private func take(upTo count: Int) -> StreamPiece? {
        state.withLock { state in
            guard !state.output.isEmpty else { return state.ending }
            defer { state.output.removeFirst(min(count, state.output.count)) }
            return .bytes(state.output.prefix(count))
        }
    }

    /// Reads every part once.
    ///
    /// - Returns: whether there may be more.
    private func fill() -> Bool {
        let sources = state.withLock { $0.isClosed ? [] : $0.parts.map(\.source) }
        var mayHaveMore = false
        for (index, source) in sources.enumerated() {
            let piece = source.read(upTo: Self.pieceBytes)
            if piece != .nothing { mayHaveMore = true }
            let restarted = state.withLock { $0.take(piece, of: index, holding: Self.heldBytes, shardCount) }
            // The sources that have not been read yet may be closed now.
            guard restarted.isEmpty else {
                for index in restarted { restart(index) }
                return true
            }
        }
        state.withLock { [now] in $0.tellPosition(at: now(), every: Self.positionEvery, shardCount) }
        return mayHaveMore
    }

    /// Has a part begin with a reset.
    private func restart(_ index: Int) {
        let (old, shards, open) = state.withLock {
            ($0.parts[index].source, $0.parts[index].shards, $0.parts[index].open)
        }
        old.close()
        let new = open(shards, EventPosition().completed(for: shards))
        let isClosed = state.withLock { state in
            if !state.isClosed { state.parts[index].source = new }
            return state.isClosed
        }
        if isClosed { new.close() }
    }
}

extension EventPosition {
    /// The places of these shards only.
    ///
    /// A shard whose place is not known gets a number that no stream has reached, so that its stream begins with a
    /// reset.
    fileprivate func completed(for shards: [Int]) -> EventPosition {
        EventPosition(
            Dictionary(uniqueKeysWithValues: shards.map { ($0, numbers[$0] ?? EventNumber(rawValue: .max)) }))
    }
}

// MARK: - What the parts send

extension GatheredEvents.State {
    /// Takes what was read of a part.
    ///
    /// - Returns: the parts that have to begin with a reset.
    fileprivate mutating func take(
        _ piece: StreamPiece, of index: Int, holding limit: Int, _ shardCount: Int
    ) -> [Int] {
        guard ending == nil else { return [] }
        switch piece {
        case .nothing: return []
        case .end, .cut:
            ending = piece
            return []
        case .bytes(let bytes):
            let frames = parts[index].frames.append(bytes)
            var restarted: [Int] = []
            for frame in frames { restarted += take(frame, of: index, shardCount) }
            if parts[index].frames.isTooLong || parts[index].heldBytes > limit { ending = .cut }
            return restarted
        }
    }

    private mutating func take(_ frame: EventFrames.Frame, of index: Int, _ shardCount: Int) -> [Int] {
        guard parts[index].stage != .reset else {
            parts[index].held.append(frame)
            parts[index].heldBytes += frame.lines.count
            return []
        }
        if let id = frame.id, let place = EventPosition(id, shards: shardCount) { position.advance(to: place) }
        guard !frame.lines.isEmpty else {
            if frame.isComment { hasComment = true }
            return []
        }
        switch frame.name {
        case EventJSON.reset:
            let restarted = beginReset(with: index)
            resetScenes += 1
            add(frame.lines)
            return restarted
        case EventJSON.resetEnd:
            let restarted = beginReset(with: index)
            parts[index].stage = .reset
            return restarted + finishReset(shardCount)
        default:
            add(frame.lines)
            return []
        }
    }

    private mutating func add(_ lines: ArraySlice<UInt8>) {
        output += lines
        output.append(UInt8(ascii: "\n"))
        hasComment = false
    }

    /// Begins a reset of all parts with that of one, unless one is under way.
    ///
    /// - Returns: the other parts, which have to begin with a reset.
    private mutating func beginReset(with index: Int) -> [Int] {
        guard parts[index].stage == .following else { return [] }
        resetScenes = 0
        let others = parts.indices.filter { $0 != index }
        for other in others { parts[other].frames = EventFrames() }
        for part in parts.indices { parts[part].stage = .resetting }
        return others
    }

    /// Tells that the reset is over, once that of every part is, and goes on with what has come since.
    ///
    /// - Returns: the parts that have to begin with another reset.
    private mutating func finishReset(_ shardCount: Int) -> [Int] {
        guard parts.allSatisfy({ $0.stage == .reset }) else { return [] }
        output += EventJSON.lines(
            id: position.text(ofShards: shardCount), name: EventJSON.resetEnd,
            data: JSONWriter.object { $0.member("scenes", resetScenes) })
        told = position
        for part in parts.indices { parts[part].stage = .following }
        var restarted: [Int] = []
        for part in parts.indices {
            let held = parts[part].held
            (parts[part].held, parts[part].heldBytes) = ([], 0)
            for frame in held { restarted += take(frame, of: part, shardCount) }
        }
        return restarted
    }

    /// Tells the place in the stream if it is known whole, and was not told shortly before; else a comment, if there is one.
    fileprivate mutating func tellPosition(
        at now: ContinuousClock.Instant, every pause: Duration, _ shardCount: Int
    ) {
        let isDue = toldAt.map { $0.duration(to: now) >= pause } ?? true
        if isDue, position != told, parts.allSatisfy({ $0.stage == .following }),
            parts.allSatisfy({ $0.shards.allSatisfy { position.numbers[$0] != nil } })
        {
            output += "id: \(position.text(ofShards: shardCount))\n\n".utf8
            (told, toldAt, hasComment) = (position, now, false)
        }
        guard hasComment, output.isEmpty else { return }
        output += ": keep-alive\n\n".utf8
        hasComment = false
    }
}
