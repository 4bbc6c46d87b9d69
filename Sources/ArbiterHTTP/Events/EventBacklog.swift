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

    private struct Use {
        let topic: EventTopic
        let number: Int
    }

    /// Uses that may be listed beyond two for each topic before those that others have followed are taken out.
    private static let spareUses = 1_000

    private var entries: [EventTopic: Entry] = [:]
    /// The last use of each topic, in their order, and some earlier ones.
    private var uses: Deque<Use> = []
    private var count = 0
    private var byteCount = 0
    private var lastUse = 0

    /// The topic's last event has this number; where another was the last one here, what is kept is dropped.
    mutating func begin(_ topic: EventTopic, at number: EventNumber) {
        guard entries[topic]?.events.last.flatMap(topic.number) != number else { return }
        drop(topic)
        entries[topic] = Entry(beginning: number)
        noteUse(of: topic)
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
        noteUse(of: topic)
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
        while let first = uses.first {
            // The one that is spared was used last, so there is no other behind it.
            guard first.topic != topic || !isLast(first) else { return nil }
            uses.removeFirst()
            guard isLast(first) else { continue }
            drop(first.topic)
            return first.topic
        }
        return nil
    }

    private mutating func noteUse(of topic: EventTopic) {
        lastUse += 1
        entries[topic]?.lastUse = lastUse
        uses.append(Use(topic: topic, number: lastUse))
        if uses.count > 2 * entries.count + Self.spareUses { uses = uses.filter(isLast) }
    }

    /// Whether its topic has not been used, or forgotten, since.
    private func isLast(_ use: Use) -> Bool { entries[use.topic]?.lastUse == use.number }

    private mutating func drop(_ topic: EventTopic) {
        guard let entry = entries.removeValue(forKey: topic) else { return }
        count -= entry.events.count
        byteCount -= entry.byteCount
    }
}
