package import ArbiterCore
package import ArbiterEngine
internal import Dispatch

/// Brings the events of each scene, and those of all scenes, to their readers.
///
/// A thread that commits only puts events into an inbox. Events of a topic without readers stay there unencoded. All
/// others are encoded once, on the hub's own queue, and put into the topic's ring. Every reader reads the ring at its
/// own pace; one that falls out of the ring is cut off.
package final class EventHub: Sendable {
    private let limits: EventLimits
    private let alarm: any Alarm
    private let queue = DispatchQueue(label: "arbiter.events", qos: .userInitiated)
    /// Reads scenes for resets, which is slow and must not delay events.
    private let resets = DispatchQueue(label: "arbiter.events.resets")
    private let inbox = Guarded(Inbox())
    private let meter = ResetMeter()
    let gate: WakeGate
    /// The longest silence of a stream.
    var longestSilence: Duration { limits.longestSilence }
    /// Used on the queue only.
    private let feeds: Guarded<EventFeeds>

    private struct Inbox {
        var commands: [EventFeeds.Command] = []
        var eventCount = 0
        /// The number of readers of each topic.
        var readers: [EventTopic: Int] = [:]
        var backlog = EventBacklog()
        var isClosed = false

        /// Accepts events of a topic; they are encoded if the topic has readers.
        mutating func take(_ events: ArraySlice<SceneEvent>, for topic: EventTopic, limits: EventLimits) {
            guard readers[topic] == nil else {
                if eventCount + events.count > limits.waitingEvents { dropEvents() }
                eventCount += events.count
                commands.append(.publish(topic, Array(events)))
                return
            }
            for event in events {
                // Otherwise an older ring of that topic would seem to be complete.
                if let dropped = backlog.append(EventBacklog.Kept(event), to: topic, limits: limits) {
                    commands.append(.forget(dropped))
                }
            }
        }

        /// Replaces the waiting events by the number of the last one, so that their readers get a reset.
        mutating func dropEvents() {
            eventCount = 0
            commands = commands.flatMap { command -> [EventFeeds.Command] in
                guard case .publish(let topic, let events) = command else { return [command] }
                return events.last { $0.number != nil }.flatMap(topic.number).map { [.begin(topic, $0)] } ?? []
            }
        }
    }

    package init(limits: EventLimits = EventLimits(), alarm: any Alarm = SystemAlarm()) {
        self.limits = limits
        self.alarm = alarm
        gate = WakeGate(limit: limits.wakesAtOnce)
        feeds = Guarded(EventFeeds(limits: limits, meter: meter))
        setAlarm()
    }

    // MARK: For threads that commit

    /// Sets the numbers of the newest event of each scene of a shard, and of all of them.
    package func begin(
        _ lastEvents: (scenes: [SceneName: EventNumber], overall: EventNumber), of shard: Shard = .only
    ) {
        for (scene, number) in lastEvents.scenes { begin(.scene(scene), at: number) }
        begin(.shard(shard), at: lastEvents.overall)
    }

    /// Sets the number of a topic's last event, whether or not that was published here.
    package func begin(_ topic: EventTopic, at number: EventNumber) {
        let isFirst = inbox.withLock { inbox in
            guard inbox.readers[topic] != nil else {
                inbox.backlog.begin(topic, at: number)
                return false
            }
            inbox.commands.append(.begin(topic, number))
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    /// Ends the streams of a shard, because events that were published may be missing from the journal.
    ///
    /// New readers begin after these numbers.
    package func restart(
        _ lastEvents: (scenes: [SceneName: EventNumber], overall: EventNumber), of shard: Shard = .only
    ) {
        end(shard)
        begin(lastEvents, of: shard)
    }

    /// Ends the streams of a shard, and forgets its events, because they are published elsewhere from now on.
    package func end(_ shard: Shard) {
        let isFirst = inbox.withLock { inbox in
            inbox.backlog.drop { $0.belongs(to: shard) }
            inbox.commands.append(.restart(shard))
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    /// Publishes events, those of each scene in the order of their numbers; returns at once.
    ///
    /// An event that was published before is ignored. If a number is missing, the readers get a reset.
    package func publish(_ events: [SceneEvent], of shard: Shard = .only) {
        guard !events.isEmpty else { return }
        let isFirst = inbox.withLock { [limits] inbox in
            let wasIdle = inbox.commands.isEmpty
            var first = events.startIndex
            while first < events.endIndex {
                let scene = events[first].scene
                let last = events[first...].firstIndex { $0.scene != scene } ?? events.endIndex
                inbox.take(events[first..<last], for: .scene(scene), limits: limits)
                first = last
            }
            inbox.take(events[...], for: .shard(shard), limits: limits)
            return wasIdle && !inbox.commands.isEmpty
        }
        if isFirst { poke() }
    }

    /// Ends the streams of a session that has ended.
    package func note(_ notice: EngineNotice) {
        if case .happened(.sessionEnded(let session, _)) = notice { endStreams(of: session.id) }
    }

    /// Ends the streams by which a session lived, after what has been published so far.
    func endStreams(of session: SessionID) {
        post(.endStreams(of: session))
    }

    /// Ends the streams of clients whose permission has been revoked.
    package func endRevoked() {
        post(.endRevoked)
    }

    /// How many streams are open.
    var readerCount: Int { inbox.withLock { $0.readers.values.reduce(0, +) } }

    /// How many bytes the states take that resets tell, estimated.
    var resetBytes: Int { meter.byteCount }

    // MARK: For readers

    /// Follows a topic, from an event or from now on.
    ///
    /// If events after `after` are gone, or if `after` is unknown, the reader gets `reset`, which has the current
    /// state, and continues after it.
    ///
    /// - Parameters:
    ///   - topic: the topic to follow.
    ///   - after: the last event that the reader has; `nil` to begin with the next event.
    ///   - session: the session that lives by the stream; the stream ends with it.
    ///   - permission: what the reader may do; it gets the events of its scenes only.
    ///   - outlet: the outlet to wake when there is something to read.
    ///   - reset: gets the current state for a reset, later and from any thread; called on a queue that may block.
    ///   - whenClosed: called once when the outlet has closed the subscription; false if the daemon ended the stream.
    /// - Returns: the stream's source.
    package func subscribe(
        to topic: EventTopic, after: EventNumber?, session: SessionID? = nil,
        permission: Permission = .everything, outlet: any StreamOutlet, reset: @escaping EventSubscription.Reset,
        whenClosed: @escaping EventSubscription.WhenClosed = { _ in }
    ) -> EventSubscription {
        let subscription = EventSubscription(
            to: topic, after: after, session: session, permission: permission, hub: self, outlet: outlet, reset: reset,
            whenClosed: whenClosed)
        let isFirst = inbox.withLock { inbox in
            let before = inbox.commands.count
            inbox.readers[topic, default: 0] += 1
            inbox.commands += inbox.backlog.take(topic) + [.attach(subscription)]
            return before == 0
        }
        if isFirst { poke() }
        return subscription
    }

    /// Reads what is stored of a topic, later and on another thread.
    func readHistory(
        of topic: EventTopic, in scenes: SceneSelection, _ completion: @escaping @Sendable (EventHistory) -> Void
    ) {
        let isFirst = inbox.withLock { inbox in
            let before = inbox.commands.count
            inbox.commands += inbox.backlog.take(topic) + [.read(topic, scenes, completion)]
            return before == 0
        }
        if isFirst { poke() }
    }

    /// Ends every stream after what has been published so far; a later stream ends at once.
    package func close() {
        inbox.withLock { $0.isClosed = true }
        post(.close)
    }

    func leave(_ subscription: EventSubscription) {
        let isFirst = inbox.withLock { inbox in
            let readers = inbox.readers[subscription.topic] ?? 0
            inbox.readers[subscription.topic] = readers > 1 ? readers - 1 : nil
            inbox.commands.append(.detach(subscription))
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    func resume(_ question: Int, from snapshot: EventSnapshot?) {
        post(.resume(question, snapshot))
    }

    // MARK: On the queue

    private func post(_ command: EventFeeds.Command) {
        let isFirst = inbox.withLock { inbox in
            inbox.commands.append(command)
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    private func poke() {
        queue.async { [self] in
            let commands = inbox.withLock { inbox in
                inbox.eventCount = 0
                defer { inbox.commands = [] }
                return inbox.commands
            }
            let actions = feeds.withLock { $0.apply(commands) }
            for action in actions { perform(action) }
        }
    }

    private func perform(_ action: EventSubscription.Action) {
        switch action {
        case .wake(let subscription): gate.wake(subscription)
        case .cut(let outlet): outlet.cut()
        case .tell(let history, let completion): resets.async { completion(history) }
        case .askForScene(let subscription, let question): resets.async { subscription.askForScene(question) }
        }
    }

    /// One alarm serves all streams.
    private func setAlarm() {
        alarm.ring(after: limits.longestSilence / EventSubscription.ticksOfSilence) { [weak self] in
            guard let self, !inbox.withLock({ $0.isClosed }) else { return }
            post(.tick)
            setAlarm()
        }
    }
}
