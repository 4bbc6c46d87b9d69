internal import ArbiterCore
internal import DequeModule

/// The events of topics that nobody follows: as they are, since hardly any of them is ever asked for.
struct EventBacklog {
    private struct Entry {
        /// Behind which number it begins, where that is not the one before the first event.
        var beginning: EventNumber?
        var events: Deque<SceneEvent> = []
        var byteCount = 0
        /// When it was last used, counted in uses.
        var lastUse = 0
    }

    private var entries: [EventTopic: Entry] = [:]
    private var count = 0
    private var byteCount = 0
    private var lastUse = 0

    /// The topic's last event has this number; where another was the last one here, what is kept is dropped.
    mutating func begin(_ topic: EventTopic, at number: EventNumber) {
        guard entries[topic]?.events.last.flatMap(topic.number) != number else { return }
        drop(topic)
        lastUse += 1
        entries[topic] = Entry(beginning: number, lastUse: lastUse)
    }

    /// Keeps an event; what is momentary is of no use to those who come later.
    ///
    /// - Returns: a topic that has been forgotten for it.
    mutating func append(_ event: SceneEvent, to topic: EventTopic, limits: EventLimits) -> EventTopic? {
        guard event.number != nil else { return nil }
        entries[topic, default: Entry()].events.append(event)
        entries[topic]?.byteCount += event.byteCount
        count += 1
        byteCount += event.byteCount
        lastUse += 1
        entries[topic]?.lastUse = lastUse
        if entries[topic, default: Entry()].events.count > limits.ringEvents { dropOldest(of: topic) }
        // No topic takes more than half, so that there is another one to forget.
        while entries[topic, default: Entry()].byteCount > limits.waitingBytes / 2 { dropOldest(of: topic) }
        guard count > limits.waitingEvents || byteCount > limits.waitingBytes || entries.count > limits.rings else {
            return nil
        }
        return makeRoom(except: topic)
    }

    private mutating func dropOldest(of topic: EventTopic) {
        guard let oldest = entries[topic]?.events.popFirst() else { return }
        entries[topic]?.beginning = topic.number(of: oldest)
        entries[topic]?.byteCount -= oldest.byteCount
        count -= 1
        byteCount -= oldest.byteCount
    }

    /// Gives out what there is of a topic, to be encoded.
    mutating func take(_ topic: EventTopic) -> [EventFeeds.Command] {
        guard let entry = entries[topic] else { return [] }
        drop(topic)
        return (entry.beginning.map { [.begin(topic, $0)] } ?? []) + [.publish(topic, Array(entry.events))]
    }

    /// Forgets the topic that is idle longest.
    private mutating func makeRoom(except topic: EventTopic) -> EventTopic? {
        let others = entries.lazy.filter { $0.key != topic }
        guard let idle = others.min(by: { $0.value.lastUse < $1.value.lastUse })?.key else { return nil }
        drop(idle)
        return idle
    }

    private mutating func drop(_ topic: EventTopic) {
        guard let entry = entries.removeValue(forKey: topic) else { return }
        count -= entry.events.count
        byteCount -= entry.byteCount
    }
}
