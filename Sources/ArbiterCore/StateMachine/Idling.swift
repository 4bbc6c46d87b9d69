internal import DequeModule

/// Since when scenes are idle, and which awaits wait for that; part of the momentary state.
///
/// A scene that has no entry has been idle since the process began, if it is idle.
struct Idling: Sendable {
    /// Every scene without an entry has been idle at least since then, if it is idle.
    private(set) var begun = Instant(nanoseconds: 0)
    /// When the last transition of a scene ended, or when the scene was declared or deleted, if that was later.
    private var since: [SceneName: Instant] = [:]
    /// The scenes that no longer exist, each with its instant, in the order in which they went.
    private var gone: Deque<Gone> = []
    /// The parked awaits.
    private(set) var waiters: [WaiterID: IdleWaiter] = [:]
    /// The parked awaits of parts of each scene.
    private var parts: [SceneName: Set<WaiterID>] = [:]
    /// The parked awaits of each scene as a whole, those that want it to be quiet for the shortest time first.
    private var lines: [SceneName: [(quiet: Duration, waiter: WaiterID)]] = [:]

    /// A scene that no longer exists, with its instant when it went.
    struct Gone: Sendable {
        let scene: SceneName
        let since: Instant
    }

    init(begun: Instant = Instant(nanoseconds: 0)) {
        self.begun = begun
    }

    func since(_ scene: SceneName) -> Instant { since[scene] ?? begun }

    /// Counts anew from an instant.
    mutating func begin(_ scene: SceneName, at now: Instant) {
        since[scene] = now
    }

    /// Notes that a scene no longer exists.
    ///
    /// - Returns: the scene that went first, if there are too many of them; its entry is outdated if the scene exists again.
    mutating func note(gone scene: SceneName) -> Gone? {
        guard let instant = since[scene] else { return nil }
        gone.append(Gone(scene: scene, since: instant))
        return gone.count > Limits.goneScenes ? gone.removeFirst() : nil
    }

    /// Drops the entry of a scene that does not exist; its instant counts for all scenes without an entry.
    ///
    /// For an instant that is longer ago than anybody can ask about, this makes no difference.
    mutating func drop(_ first: Gone) {
        guard since[first.scene] == first.since else { return }
        since.removeValue(forKey: first.scene)
        begun = max(begun, first.since)
    }

    // MARK: Waiters

    mutating func add(_ waiter: WaiterID, _ waiting: IdleWaiter) {
        let previous = waiters.updateValue(waiting, forKey: waiter)
        precondition(previous == nil, "\(waiter) is already parked")
        guard waiting.part == nil else {
            parts[waiting.scene, default: []].insert(waiter)
            return
        }
        var line = lines.removeValue(forKey: waiting.scene) ?? []
        let index = line.firstIndex { waiting.quiet < $0.quiet } ?? line.endIndex
        line.insert((waiting.quiet, waiter), at: index)
        lines[waiting.scene] = line
    }

    mutating func remove(_ waiter: WaiterID) -> IdleWaiter? {
        guard let waiting = waiters.removeValue(forKey: waiter) else { return nil }
        guard waiting.part == nil else {
            parts[waiting.scene]?.remove(waiter)
            if count(ofPartsOf: waiting.scene) == 0 { parts[waiting.scene] = nil }
            return waiting
        }
        var line = lines.removeValue(forKey: waiting.scene) ?? []
        line.removeAll { $0.waiter == waiter }
        if !line.isEmpty { lines[waiting.scene] = line }
        return waiting
    }

    /// Whether anybody waits for a part of a scene.
    var hasParts: Bool { !parts.isEmpty }

    /// How many wait for parts of a scene.
    func count(ofPartsOf scene: SceneName) -> Int { parts[scene]?.count ?? 0 }

    /// The awaits of parts of a scene.
    func parts(of scene: SceneName) -> [(waiter: WaiterID, part: ControllerID)] {
        guard hasParts else { return [] }
        return (parts[scene] ?? []).compactMap { waiter in waiters[waiter]?.part.map { (waiter, $0) } }
    }

    /// Counts anew for the await of a part.
    mutating func begin(_ waiter: WaiterID, at now: Instant) { waiters[waiter]?.since = now }

    /// The first await of a scene as a whole that will be answered, with the time for which the scene has to be quiet.
    func first(of scene: SceneName) -> (quiet: Duration, waiter: WaiterID)? { lines[scene]?.first }
}

/// A parked await; it is answered when its scene, or a part of it, has been idle for so long.
struct IdleWaiter: Sendable {
    let scene: SceneName
    /// The controller below which nothing is to be unfinished; `nil` for the whole scene.
    let part: ControllerID?
    let quiet: Duration
    /// Of a part: when it parked, or when the last transition ended after that which conflicted with the part.
    var since: Instant
    /// The session that it keeps alive.
    let session: SessionID?
}
