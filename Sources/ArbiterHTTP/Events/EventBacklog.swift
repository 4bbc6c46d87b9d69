internal import ArbiterCore
internal import DequeModule

/// The events of scenes that nobody follows: as they are, since hardly any of them is ever asked for.
struct EventBacklog {
    private struct Entry {
        /// Behind which number it begins, where that is not the one before the first event.
        var beginning: EventNumber?
        var events: Deque<SceneEvent> = []
        /// When it was last used, counted in uses.
        var lastUse = 0
    }

    private var entries: [SceneName: Entry] = [:]
    private var count = 0
    private var lastUse = 0

    /// The scene's last event has this number; where another was the last one here, what is kept is of no use.
    mutating func begin(_ scene: SceneName, at number: EventNumber) {
        guard entries[scene]?.events.last?.number != number else { return }
        drop(scene)
        lastUse += 1
        entries[scene] = Entry(beginning: number, lastUse: lastUse)
    }

    /// Keeps an event; what is momentary is of no use to those who come later.
    ///
    /// - Returns: a scene that has been forgotten for it.
    mutating func append(_ event: SceneEvent, limits: EventLimits) -> SceneName? {
        guard event.number != nil else { return nil }
        entries[event.scene, default: Entry()].events.append(event)
        count += 1
        lastUse += 1
        entries[event.scene]?.lastUse = lastUse
        if entries[event.scene, default: Entry()].events.count > limits.ringEvents {
            let oldest = entries[event.scene]?.events.popFirst()
            entries[event.scene]?.beginning = oldest?.number
            count -= 1
        }
        guard count > limits.waitingEvents || entries.count > limits.rings else { return nil }
        return makeRoom(except: event.scene)
    }

    /// Gives out what there is of a scene, to be encoded.
    mutating func take(_ scene: SceneName) -> [EventFeeds.Command] {
        guard let entry = entries[scene] else { return [] }
        drop(scene)
        return (entry.beginning.map { [.begin(scene, $0)] } ?? []) + [.publish(Array(entry.events))]
    }

    /// Forgets the scene that is idle longest.
    private mutating func makeRoom(except scene: SceneName) -> SceneName? {
        let others = entries.lazy.filter { $0.key != scene }
        guard let idle = others.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { return nil }
        drop(idle)
        return idle
    }

    private mutating func drop(_ scene: SceneName) {
        count -= entries.removeValue(forKey: scene)?.events.count ?? 0
    }
}
