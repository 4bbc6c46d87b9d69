internal import ArbiterCore
internal import ArbiterEngine
internal import Synchronization

/// The states that resets tell: each is asked for once for all who need it at the time, and held once for all who read it.
///
/// What they hold together is bounded: beyond the limit, the readers of the oldest are cut off, and ask again.
struct EventResets {
    /// Who reads the same resets: the readers of a topic that may see the same scenes.
    struct Audience: Hashable {
        let topic: EventTopic
        let scenes: SceneSelection
    }

    private struct Ask {
        let audience: Audience
        var readers: [EventSubscription]
    }

    private struct Held {
        let audience: Audience
        weak var reset: SharedReset?
    }

    private let limit: Int
    let meter: ResetMeter
    private var asks: [Int: Ask] = [:]
    /// The ask of each audience that further readers may join.
    private var open: [Audience: Int] = [:]
    private var lastAsk = 0
    /// What is held, oldest first.
    private var held: [Held] = []

    init(limit: Int, meter: ResetMeter) {
        self.limit = limit
        self.meter = meter
    }

    /// Notes a reader that waits for the current state.
    ///
    /// - Returns: the number of the question that has to be asked for it; `nil` if it has been asked for another reader.
    mutating func wait(_ reader: EventSubscription) -> Int? {
        if let number = open[reader.audience] {
            asks[number]?.readers.append(reader)
            return nil
        }
        lastAsk += 1
        asks[lastAsk] = Ask(audience: reader.audience, readers: [reader])
        open[reader.audience] = lastAsk
        return lastAsk
    }

    /// Takes the readers that have waited for an answer.
    mutating func take(_ number: Int) -> (audience: Audience, readers: [EventSubscription])? {
        guard let ask = asks.removeValue(forKey: number) else { return nil }
        if open[ask.audience] == number { open.removeValue(forKey: ask.audience) }
        return (ask.audience, ask.readers)
    }

    /// A reader does not wait any more; a question for which nobody waits is joined by nobody.
    mutating func leave(_ reader: EventSubscription) {
        for (number, ask) in asks where ask.audience == reader.audience {
            asks[number]?.readers.removeAll { $0 === reader }
            if asks[number]?.readers.isEmpty == true { _ = take(number) }
        }
    }

    /// Shares a state among its readers.
    ///
    /// - Returns: the state, and those whose readers have to be cut off.
    mutating func hold(
        _ snapshot: EventSnapshot, for audience: Audience
    ) -> (reset: SharedReset, dropped: [(topic: EventTopic, reset: SharedReset)]) {
        let reset = SharedReset(snapshot, meter)
        held.removeAll { $0.reset == nil }
        held.append(Held(audience: audience, reset: reset))
        var dropped: [(topic: EventTopic, reset: SharedReset)] = []
        var excess = meter.byteCount - limit
        // The newest is held regardless of its size.
        while excess > 0, held.count > 1 {
            let oldest = held.removeFirst()
            guard let reset = oldest.reset else { continue }
            excess -= reset.snapshot.byteCount
            dropped.append((oldest.audience.topic, reset))
        }
        return (reset, dropped)
    }

    /// The newest state that is held for an audience.
    func newest(for audience: Audience) -> SharedReset? {
        held.last { $0.audience == audience && $0.reset != nil }?.reset
    }

    /// Has what is known of these topics shared with no further reader.
    mutating func close(where fits: (EventTopic) -> Bool) {
        for audience in Array(open.keys) where fits(audience.topic) { open.removeValue(forKey: audience) }
        held.removeAll { fits($0.audience.topic) }
    }
}

/// A state that readers share until all of them have it.
final class SharedReset: Sendable {
    let snapshot: EventSnapshot
    private let meter: ResetMeter

    init(_ snapshot: EventSnapshot, _ meter: ResetMeter) {
        (self.snapshot, self.meter) = (snapshot, meter)
        meter.add(snapshot.byteCount)
    }

    deinit { meter.add(-snapshot.byteCount) }
}

/// How many bytes resets hold, estimated.
final class ResetMeter: Sendable {
    private let bytes = Atomic(0)

    var byteCount: Int { bytes.load(ordering: .relaxed) }

    fileprivate func add(_ count: Int) { bytes.add(count, ordering: .relaxed) }
}
