package import ArbiterCore
package import ArbiterEngine
internal import Dispatch

/// Brings the events of every scene, and those of all scenes together, to their readers.
///
/// A thread that commits only puts events into an inbox. Those of a topic without readers stay there as they are. The others are
/// encoded once, on a queue of the hub's own, and put into their topic's ring, from which every reader takes at its own
/// pace, or falls out of it and is cut off.
package final class EventHub: Sendable {
    private let limits: EventLimits
    private let alarm: any Alarm
    private let queue = DispatchQueue(label: "arbiter.events", qos: .userInitiated)
    /// Reading a scene whole is slow, and must not keep events waiting.
    private let resets = DispatchQueue(label: "arbiter.events.resets")
    private let inbox = Guarded(Inbox())
    let gate: WakeGate
    /// Reached on the queue only.
    private let feeds: Guarded<EventFeeds>

    private struct Inbox {
        var commands: [EventFeeds.Command] = []
        var eventCount = 0
        /// How many follow each topic.
        var readers: [EventTopic: Int] = [:]
        var backlog = EventBacklog()
        var isClosed = false

        /// Takes in events of a topic, to be encoded if the topic has readers.
        mutating func take(_ events: ArraySlice<SceneEvent>, for topic: EventTopic, limits: EventLimits) {
            guard readers[topic] == nil else {
                if eventCount + events.count > limits.waitingEvents { dropEvents() }
                eventCount += events.count
                commands.append(.publish(topic, Array(events)))
                return
            }
            for event in events {
                // A ring of before would take itself for the newest.
                if let dropped = backlog.append(event, to: topic, limits: limits) { commands.append(.forget(dropped)) }
            }
        }

        /// Leaves of every waiting event only that it was there, so that its readers begin anew.
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
        feeds = Guarded(EventFeeds(limits: limits))
        setAlarm()
    }

    // MARK: For whoever commits

    /// The newest event of each scene and the newest of all have these numbers.
    package func begin(_ lastEvents: (scenes: [SceneName: EventNumber], overall: EventNumber)) {
        for (scene, number) in lastEvents.scenes { begin(.scene(scene), at: number) }
        begin(.allScenes, at: lastEvents.overall)
    }

    /// The topic's last event has this number, whether or not it has been published here.
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

    /// What was published before may not have happened: every stream ends, and those who come back begin behind these
    /// numbers.
    package func restart(_ lastEvents: (scenes: [SceneName: EventNumber], overall: EventNumber)) {
        let isFirst = inbox.withLock { inbox in
            inbox.backlog = EventBacklog()
            inbox.commands.append(.restart)
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
        begin(lastEvents)
    }

    /// Tells events, each scene's in the order of their numbers; returns at once.
    ///
    /// An event that was published before is passed over; a number that is left out has the scene's readers begin anew.
    package func publish(_ events: [SceneEvent]) {
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
            inbox.take(events[...], for: .allScenes, limits: limits)
            return wasIdle && !inbox.commands.isEmpty
        }
        if isFirst { poke() }
    }

    // MARK: For whoever follows

    /// Follows a topic: behind an event, or from now on.
    ///
    /// What comes behind the event may be gone, or the event unknown; then the reader begins anew with `reset`, which says
    /// how everything is, and the next event is the one behind that.
    ///
    /// - Parameters:
    ///   - topic: what to follow.
    ///   - after: the last event that the reader has; `nil` to begin with what comes next.
    ///   - outlet: where the events are read; it is woken when there is something.
    ///   - reset: says how everything is, later and from any thread; called on a queue that may wait.
    ///   - whenClosed: called once when the outlet has closed the subscription, whatever the cause.
    /// - Returns: the stream's source.
    package func subscribe(
        to topic: EventTopic, after: EventNumber?, outlet: any StreamOutlet,
        reset: @escaping EventSubscription.Reset, whenClosed: @escaping @Sendable () -> Void = {}
    ) -> EventSubscription {
        let subscription = EventSubscription(
            to: topic, after: after, hub: self, outlet: outlet, reset: reset, whenClosed: whenClosed)
        let isFirst = inbox.withLock { inbox in
            let before = inbox.commands.count
            inbox.readers[topic, default: 0] += 1
            inbox.commands += inbox.backlog.take(topic) + [.attach(subscription)]
            return before == 0
        }
        if isFirst { poke() }
        return subscription
    }

    /// Ends every stream once it has all that was published before, and each that comes later at once.
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

    func resume(_ subscription: EventSubscription, from snapshot: EventSnapshot?) {
        post(.resume(subscription, snapshot))
    }

    /// Waits until everything that was asked for before has been done.
    func settle() {
        queue.sync {}
        resets.sync {}
        queue.sync {}
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
        case .askForScene(let subscription): resets.async { subscription.askForScene() }
        }
    }

    /// One clock for every stream.
    private func setAlarm() {
        alarm.ring(after: limits.longestSilence / EventSubscription.ticksOfSilence) { [weak self] in
            guard let self, !inbox.withLock({ $0.isClosed }) else { return }
            post(.tick)
            setAlarm()
        }
    }
}
