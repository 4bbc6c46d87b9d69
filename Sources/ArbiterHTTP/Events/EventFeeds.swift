internal import ArbiterCore
internal import ArbiterEngine

/// Every scene's ring and readers, as the hub's queue sees them: one command after the other, each with what is to be
/// done once no lock is held.
struct EventFeeds {
    /// What happens to them, in the order in which it was asked for.
    enum Command {
        case begin(SceneName, EventNumber)
        case publish([SceneEvent])
        /// Events of a scene that nobody follows have been dropped.
        case forget(SceneName)
        case attach(EventSubscription)
        case detach(EventSubscription)
        /// The scene whole, and the event that tells it; `nil` if there is no scene any more.
        case resume(EventSubscription, EventNumber, event: [UInt8]?)
        case tick
        case close
    }

    private struct Feed {
        let shared = SharedRing()
        var readers: [ObjectIdentifier: EventSubscription] = [:]
        var byteCount = 0
        /// When it was last used, counted in uses.
        var lastUse = 0
    }

    private let limits: EventLimits
    private var feeds: [SceneName: Feed] = [:]
    private var byteCount = 0
    private var lastUse = 0
    private var isClosed = false
    /// Scenes whose readers have something to read.
    private var stirred: Set<SceneName> = []
    private var actions: [EventSubscription.Action] = []

    init(limits: EventLimits) {
        self.limits = limits
    }

    /// Applies the commands, in their order.
    ///
    /// - Returns: what is to be done now.
    mutating func apply(_ commands: [Command]) -> [EventSubscription.Action] {
        for command in commands { apply(command) }
        for scene in stirred { tell(feeds[scene]) { $0.look() } }
        stirred.removeAll(keepingCapacity: true)
        defer { actions = [] }
        return actions
    }

    private mutating func apply(_ command: Command) {
        switch command {
        case .begin(let scene, let number): begin(scene, at: number)
        case .publish(let events): for event in events { append(event) }
        case .forget(let scene): if feeds[scene]?.readers.isEmpty == true { drop(scene) }
        case .attach(let reader): attach(reader)
        case .detach(let reader): detach(reader)
        case .resume(let reader, let number, let event): resume(reader, behind: number, event)
        case .tick: for feed in feeds.values { tell(feed) { $0.tick() } }
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
    private mutating func begin(_ scene: SceneName, at number: EventNumber) {
        let (isBroken, bytes) = use(scene).ring.withLock { ring in (ring.begin(at: number), ring.byteCount) }
        finish(scene, isBroken: isBroken, bytes)
    }

    private mutating func append(_ event: SceneEvent) {
        let encoded = EventJSON.encode(event)
        let (appended, bytes) = use(event.scene).ring.withLock { [limits] ring in
            (ring.append(encoded, number: event.number, limits: limits), ring.byteCount)
        }
        finish(event.scene, isBroken: appended == .behindGap, bytes)
    }

    private mutating func finish(_ scene: SceneName, isBroken: Bool, _ bytes: Int) {
        byteCount += bytes - (feeds[scene]?.byteCount ?? 0)
        feeds[scene]?.byteCount = bytes
        if isBroken { tell(feeds[scene]) { $0.beginAnew() } }
        stirred.insert(scene)
        dropIdleFeeds(except: scene)
    }

    /// The scene's ring, made if there is none yet, and used last.
    private mutating func use(_ scene: SceneName) -> SharedRing {
        lastUse += 1
        feeds[scene, default: Feed()].lastUse = lastUse
        return feeds[scene, default: Feed()].shared
    }

    /// Makes room, as long as there is a scene that nobody reads.
    private mutating func dropIdleFeeds(except scene: SceneName) {
        while feeds.count > limits.rings || byteCount > limits.allBytes {
            let idle = feeds.lazy.filter { $0.key != scene && $0.value.readers.isEmpty }
            guard let dropped = idle.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { return }
            drop(dropped)
        }
    }

    private mutating func drop(_ scene: SceneName) {
        guard let feed = feeds.removeValue(forKey: scene) else { return }
        byteCount -= feed.byteCount
    }
}

// MARK: - Readers

extension EventFeeds {
    private mutating func attach(_ reader: EventSubscription) {
        let shared = use(reader.scene)
        feeds[reader.scene]?.readers[ObjectIdentifier(reader)] = reader
        dropIdleFeeds(except: reader.scene)
        let cursor = shared.ring.withLock { ring in
            reader.after.map { ring.cursor(behind: $0, allowsFuture: false) } ?? ring.cursorAtEnd()
        }
        act(cursor.map { reader.follow(shared, from: $0) } ?? reader.beginAnew())
        if isClosed { act(reader.end()) }
    }

    private mutating func detach(_ reader: EventSubscription) {
        feeds[reader.scene]?.readers.removeValue(forKey: ObjectIdentifier(reader))
        guard let feed = feeds[reader.scene], feed.readers.isEmpty else { return }
        // A ring that knows nothing is of no use to anybody else.
        if feed.shared.ring.withLock({ $0.newest == nil }) { drop(reader.scene) }
    }

    private mutating func resume(_ reader: EventSubscription, behind number: EventNumber, _ event: [UInt8]?) {
        guard let feed = feeds[reader.scene], feed.readers[ObjectIdentifier(reader)] != nil else { return }
        guard let event else { return act(reader.end()) }
        // What the scene has gone through may not have come here yet, and is passed over when it does.
        let cursor = feed.shared.ring.withLock { $0.cursor(behind: number, allowsFuture: true) }
        act(reader.follow(feed.shared, from: cursor, behindReset: event))
    }
}
