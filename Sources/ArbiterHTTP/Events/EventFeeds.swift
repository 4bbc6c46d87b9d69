internal import ArbiterCore
internal import ArbiterEngine

/// The rings and readers of all topics, as used on the hub's queue.
///
/// Each command returns the actions to take once no lock is held.
struct EventFeeds {
    /// What can be done with them.
    enum Command {
        case begin(EventTopic, EventNumber)
        case publish(EventTopic, [SceneEvent])
        /// Events of a topic without readers have been dropped.
        case forget(EventTopic)
        case attach(EventSubscription)
        case detach(EventSubscription)
        /// Tells what is stored of a topic.
        case read(EventTopic, SceneSelection, @Sendable (EventHistory) -> Void)
        /// Answers what was asked for a reset, by its number; `nil` if there is nothing to follow any more.
        case resume(Int, EventSnapshot?)
        /// Starts a shard afresh; its streams end.
        case restart(Shard)
        /// Ends the streams by which a session lived; it has ended.
        case endStreams(of: SessionID)
        /// Ends the streams of clients whose permission has been revoked.
        case endRevoked
        case tick
        case close
    }

    private struct Feed {
        let shared = SharedRing()
        var readers: [ObjectIdentifier: EventSubscription] = [:]
        var byteCount = 0
        /// The number of the last use; a larger number is a later use.
        var lastUse = 0
    }

    private let limits: EventLimits
    private var feeds: [EventTopic: Feed] = [:]
    private var byteCount = 0
    private var lastUse = 0
    private var isClosed = false
    /// The readers by which sessions live.
    private var attached: [SessionID: [ObjectIdentifier: EventSubscription]] = [:]
    /// The topics whose readers may have something to read, with how many events are new.
    private var stirred: [EventTopic: Int] = [:]
    private var resets: EventResets
    private var actions: [EventSubscription.Action] = []

    init(limits: EventLimits, meter: ResetMeter = ResetMeter()) {
        self.limits = limits
        resets = EventResets(limit: limits.resetBytes, meter: meter)
    }

    /// Applies the commands in order.
    ///
    /// - Returns: the actions to take.
    mutating func apply(_ commands: [Command]) -> [EventSubscription.Action] {
        for command in commands { apply(command) }
        for (topic, count) in stirred {
            trim(topic, keeping: count)
            tell(feeds[topic]) { $0.look() }
        }
        stirred.removeAll(keepingCapacity: true)
        defer { actions = [] }
        return actions
    }

    private mutating func apply(_ command: Command) {
        switch command {
        case .begin(let topic, let number): begin(topic, at: number)
        case .publish(let topic, let events):
            for event in events { append(event, to: topic) }
            // Only for readers is more kept than the limits allow.
            if feeds[topic]?.readers.isEmpty == true { trim(topic, keeping: 1) }
        case .forget(let topic): if feeds[topic]?.readers.isEmpty == true { drop(topic) }
        case .attach(let reader):
            attach(reader)
            // Its permission may have been revoked after it was found, and before the reader came here.
            if reader.isRevoked { act(reader.end()) }
        case .detach(let reader): detach(reader)
        case .read(let topic, let scenes, let completion): read(topic, of: scenes, completion)
        case .resume(let question, let snapshot): resume(question, from: snapshot)
        case .endStreams(let session): for reader in (attached[session] ?? [:]).values { act(reader.end()) }
        case .endRevoked: for feed in feeds.values { tell(feed) { $0.isRevoked ? $0.end() : nil } }
        case .tick: for feed in feeds.values { tell(feed) { $0.tick() } }
        case .restart(let shard):
            resets.close { $0.belongs(to: shard) }
            for topic in Array(feeds.keys) where topic.belongs(to: shard) { restart(topic) }
        case .close:
            isClosed = true
            for feed in feeds.values { tell(feed) { $0.end() } }
        }
    }

    private mutating func tell(_ feed: Feed?, _ message: (EventSubscription) -> EventSubscription.Action?) {
        guard let feed else { return }
        for reader in feed.readers.values { act(message(reader)) }
    }

    private mutating func act(_ action: EventSubscription.Action?) {
        if let action { actions.append(action) }
    }
}

// MARK: - Events

extension EventFeeds {
    private mutating func begin(_ topic: EventTopic, at number: EventNumber) {
        let (isBroken, bytes) = use(topic).ring.withLock { ring in (ring.begin(at: number), ring.byteCount) }
        finish(topic, isBroken: isBroken, bytes)
    }

    private mutating func append(_ event: SceneEvent, to topic: EventTopic) {
        let encoded = EventJSON.encode(event, in: topic)
        let (appended, bytes) = use(topic).ring.withLock { ring in
            (ring.append(encoded, of: event.scene, number: topic.number(of: event)), ring.byteCount)
        }
        finish(topic, isBroken: appended == .behindGap, bytes)
        stirred[topic, default: 0] += 1
    }

    /// Keeps the limits of a topic's ring, once its readers can have what was published.
    private mutating func trim(_ topic: EventTopic, keeping count: Int) {
        guard let feed = feeds[topic] else { return }
        let bytes = feed.shared.ring.withLock { [limits] ring in
            ring.trim(to: limits, keeping: min(count, limits.waitingEvents))
            return ring.byteCount
        }
        byteCount += bytes - feed.byteCount
        feeds[topic]?.byteCount = bytes
        dropIdleFeeds(except: topic)
    }

    private mutating func finish(_ topic: EventTopic, isBroken: Bool, _ bytes: Int) {
        byteCount += bytes - (feeds[topic]?.byteCount ?? 0)
        feeds[topic]?.byteCount = bytes
        if isBroken, let feed = feeds[topic] { for reader in feed.readers.values { begin(reader) } }
        if stirred[topic] == nil { stirred[topic] = 0 }
        dropIdleFeeds(except: topic)
    }

    /// The topic's ring, which is created if necessary and marked as used.
    private mutating func use(_ topic: EventTopic) -> SharedRing {
        lastUse += 1
        feeds[topic, default: Feed()].lastUse = lastUse
        return feeds[topic, default: Feed()].shared
    }

    /// Drops the rings of topics without readers until the limits are kept.
    private mutating func dropIdleFeeds(except topic: EventTopic) {
        while feeds.count > limits.rings || byteCount > limits.allBytes {
            let idle = feeds.lazy.filter { $0.key != topic && $0.value.readers.isEmpty }
            guard let dropped = idle.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { return }
            drop(dropped)
        }
    }

    private mutating func drop(_ topic: EventTopic) {
        guard let feed = feeds.removeValue(forKey: topic) else { return }
        byteCount -= feed.byteCount
    }
}

extension EventFeeds {
    /// Gives a topic a new ring; its present readers end with the contents of the old one.
    private mutating func restart(_ topic: EventTopic) {
        guard let feed = feeds[topic] else { return }
        tell(feed) { $0.end() }
        drop(topic)
        if !feed.readers.isEmpty { feeds[topic] = Feed(readers: feed.readers, lastUse: feed.lastUse) }
    }
}

// MARK: - Readers

extension EventFeeds {
    private mutating func attach(_ reader: EventSubscription) {
        let shared = use(reader.topic)
        feeds[reader.topic]?.readers[ObjectIdentifier(reader)] = reader
        if let session = reader.session { attached[session, default: [:]][ObjectIdentifier(reader)] = reader }
        dropIdleFeeds(except: reader.topic)
        let cursor = shared.ring.withLock { ring in
            reader.after.map { ring.cursor(behind: $0, allowsFuture: false) } ?? ring.cursorAtEnd()
        }
        // With this id, a reader that loses its connection before its first event can resume without missing any.
        let newest = reader.after == nil ? shared.ring.withLock(\.newest) : nil
        let lines = newest.map { reader.topic.linesOfBeginning(at: $0) } ?? []
        if let cursor { act(reader.follow(shared, from: cursor, saying: lines)) } else { begin(reader) }
        if isClosed { act(reader.end()) }
    }

    private mutating func read(
        _ topic: EventTopic, of scenes: SceneSelection, _ completion: @escaping @Sendable (EventHistory) -> Void
    ) {
        let history = use(topic).ring.withLock { $0.history(of: scenes) }
        actions.append(.tell(history, completion))
        dropIdleFeeds(except: topic)
    }

    private mutating func detach(_ reader: EventSubscription) {
        resets.leave(reader)
        feeds[reader.topic]?.readers.removeValue(forKey: ObjectIdentifier(reader))
        if let session = reader.session {
            attached[session]?.removeValue(forKey: ObjectIdentifier(reader))
            if attached[session]?.isEmpty == true { attached.removeValue(forKey: session) }
        }
        guard let feed = feeds[reader.topic], feed.readers.isEmpty else { return }
        // An empty ring without a known number need not be kept.
        if feed.shared.ring.withLock({ $0.newest == nil }) { drop(reader.topic) }
    }

}

// MARK: - Resets

extension EventFeeds {
    /// Has a reader begin with a reset.
    private mutating func begin(_ reader: EventSubscription) {
        switch reader.beginAnew() {
        case .needsReset:
            if !share(with: reader), let question = resets.wait(reader) {
                actions.append(.askForScene(reader, question))
            }
        case .cut(let action): actions.append(action)
        case .nothing: break
        }
    }

    /// Gives a reader a state of all scenes that others are still reading, if the ring has every event since that
    /// state.
    ///
    /// The state of a single scene is not shared in this way, because it says how much of each lease is left.
    private mutating func share(with reader: EventSubscription) -> Bool {
        guard case .shard = reader.topic, let feed = feeds[reader.topic],
            let reset = resets.newest(for: reader.audience),
            let cursor = feed.shared.ring.withLock({
                $0.cursor(behind: reset.snapshot.number, allowsFuture: false)
            })
        else { return false }
        act(reader.follow(feed.shared, from: cursor, behindReset: reset))
        return true
    }

    private mutating func resume(_ question: Int, from snapshot: EventSnapshot?) {
        guard let (audience, all) = resets.take(question), let feed = feeds[audience.topic] else { return }
        let readers = all.filter { feed.readers[ObjectIdentifier($0)] != nil }
        guard !readers.isEmpty else { return }
        guard let snapshot else {
            for reader in readers { act(reader.end()) }
            return
        }
        let (reset, dropped) = resets.hold(snapshot, for: audience)
        // The snapshot may include events that have not arrived here yet; the cursor skips them when they do.
        let cursor = feed.shared.ring.withLock { $0.cursor(behind: snapshot.number, allowsFuture: true) }
        for reader in readers { act(reader.follow(feed.shared, from: cursor, behindReset: reset)) }
        for each in dropped { tell(feeds[each.topic]) { $0.giveUp(each.reset) } }
    }
}
