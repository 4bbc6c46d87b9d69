internal import ArbiterCore
internal import DequeModule

/// The events of topics without readers, not encoded, because hardly any of them is ever read.
struct EventBacklog {
    /// An event with its estimated size.
    struct Kept {
        let event: SceneEvent
        let byteCount: Int

        init(_ event: SceneEvent) {
            self.event = event
            byteCount = event.byteCount
        }
    }

    private struct Entry {
        /// The number after which the events begin, if it is not the one directly before the first event.
        var beginning: EventNumber?
        var events: Deque<Kept> = []
        var byteCount = 0
        /// The number of the last use; a larger number is a later use.
        var lastUse = 0

        /// Stores an event, and drops the oldest ones while there are too many of them.
        ///
        /// A topic takes at most half of the room, so that another one can always be forgotten.
        ///
        /// - Returns: by how many events and bytes it has grown; negative if more were dropped.
        mutating func append(
            _ kept: Kept, to topic: EventTopic, limits: EventLimits, use: Int
        ) -> (count: Int, bytes: Int) {
            let before = (count: events.count, bytes: byteCount)
            lastUse = use
            events.append(kept)
            byteCount += kept.byteCount
            while events.count > limits.ringEvents || byteCount > limits.waitingBytes / 2,
                let oldest = events.popFirst()
            {
                beginning = topic.number(of: oldest.event)
                byteCount -= oldest.byteCount
            }
            return (events.count - before.count, byteCount - before.bytes)
        }
    }

    private struct Use {
        let topic: EventTopic
        let number: Int
    }

    /// How many outdated uses may stay listed, beyond one for each topic, before they are removed.
    private static let spareUses = 1_000

    private var entries = Table<EventTopic, Entry>()
    /// The last use of each topic in order, and some outdated uses.
    private var uses: Deque<Use> = []
    private var count = 0
    private var byteCount = 0
    private var lastUse = 0

    /// Sets the number of the topic's last event; if it is not the last one here, the events here are dropped.
    mutating func begin(_ topic: EventTopic, at number: EventNumber) {
        guard entries[topic]?.events.last.flatMap({ topic.number(of: $0.event) }) != number else { return }
        drop(topic)
        entries[topic] = Entry(beginning: number, lastUse: nextUse(of: topic))
    }

    /// Stores an event, unless it is momentary, because later readers do not get momentary events.
    ///
    /// - Returns: a topic that was forgotten to make room.
    mutating func append(_ kept: Kept, to topic: EventTopic, limits: EventLimits) -> EventTopic? {
        guard kept.event.number != nil else { return nil }
        if !entries.contains(topic) { entries[topic] = Entry() }
        let use = nextUse(of: topic)
        guard let growth = entries[topic]?.append(kept, to: topic, limits: limits, use: use) else { return nil }
        count += growth.count
        byteCount += growth.bytes
        guard count > limits.waitingEvents || byteCount > limits.waitingBytes || entries.count > limits.rings else {
            return nil
        }
        return makeRoom(except: topic)
    }

    /// Removes the events of a topic, and returns them for encoding.
    mutating func take(_ topic: EventTopic) -> [EventFeeds.Command] {
        guard let entry = entries[topic] else { return [] }
        drop(topic)
        return (entry.beginning.map { [.begin(topic, $0)] } ?? []) + [.publish(topic, entry.events.map(\.event))]
    }

    /// Forgets the topics that fit.
    mutating func drop(where fits: (EventTopic) -> Bool) {
        for topic in entries.keys where fits(topic) { drop(topic) }
    }

    /// Forgets the topic that has not been used for the longest time.
    private mutating func makeRoom(except topic: EventTopic) -> EventTopic? {
        while let first = uses.first {
            // The excepted topic was used last, so if it is the first, it is the only one.
            guard first.topic != topic || !isLast(first) else { return nil }
            uses.removeFirst()
            guard isLast(first) else { continue }
            drop(first.topic)
            return first.topic
        }
        return nil
    }

    /// Lists a use of the topic.
    ///
    /// - Returns: its number, which the topic's entry has to remember.
    private mutating func nextUse(of topic: EventTopic) -> Int {
        if uses.count > 2 * entries.count + Self.spareUses { uses = uses.filter(isLast) }
        lastUse += 1
        uses.append(Use(topic: topic, number: lastUse))
        return lastUse
    }

    /// Whether the use is the last one of a topic that still has events here.
    private func isLast(_ use: Use) -> Bool { entries[use.topic]?.lastUse == use.number }

    private mutating func drop(_ topic: EventTopic) {
        guard let entry = entries.removeValue(forKey: topic) else { return }
        count -= entry.events.count
        byteCount -= entry.byteCount
    }
}
