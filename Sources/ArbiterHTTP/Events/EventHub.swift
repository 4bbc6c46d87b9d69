package import ArbiterCore
package import ArbiterEngine
internal import Dispatch

/// Brings the events of every scene to whoever follows it.
///
/// Whoever commits only puts events into an inbox. Those of a scene that nobody follows stay there as they are. The others
/// are encoded once, on a queue of the hub's own, and put into their scene's ring, from which every reader takes at its own
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
        /// How many follow each scene.
        var readers: [SceneName: Int] = [:]
        var backlog = EventBacklog()
        var isClosed = false

        /// Leaves of every waiting event only that it was there, so that its readers begin anew.
        mutating func dropEvents() {
            eventCount = 0
            commands = commands.flatMap { command -> [EventFeeds.Command] in
                guard case .publish(let events) = command else { return [command] }
                var last: [SceneName: EventNumber] = [:]
                for event in events { if let number = event.number { last[event.scene] = number } }
                return last.map { .begin($0.key, $0.value) }
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

    /// The scene's last event has this number, whether or not it has been published here.
    package func begin(_ scene: SceneName, at number: EventNumber) {
        let isFirst = inbox.withLock { inbox in
            guard inbox.readers[scene] != nil else {
                inbox.backlog.begin(scene, at: number)
                return false
            }
            inbox.commands.append(.begin(scene, number))
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    /// Tells events, each scene's in the order of their numbers; returns at once.
    ///
    /// An event that was published before is passed over; a number that is left out has the scene's readers begin anew.
    package func publish(_ events: [SceneEvent]) {
        guard !events.isEmpty else { return }
        let isFirst = inbox.withLock { [limits] inbox in
            let wasIdle = inbox.commands.isEmpty
            let followed = events.filter { event in
                if inbox.readers[event.scene] != nil { return true }
                // A ring of before would take itself for the newest.
                if let dropped = inbox.backlog.append(event, limits: limits) { inbox.commands.append(.forget(dropped)) }
                return false
            }
            if !followed.isEmpty {
                if inbox.eventCount + followed.count > limits.waitingEvents { inbox.dropEvents() }
                inbox.eventCount += followed.count
                inbox.commands.append(.publish(followed))
            }
            return wasIdle && !inbox.commands.isEmpty
        }
        if isFirst { poke() }
    }

    // MARK: For whoever follows

    /// Follows a scene: behind an event, or from now on.
    ///
    /// What comes behind the event may be gone, or the event unknown; then the first event is `reset`, with the scene
    /// whole, and the next is the one behind that.
    ///
    /// - Parameters:
    ///   - scene: which scene.
    ///   - after: the last event that the reader has; `nil` to begin with what comes next.
    ///   - outlet: where the events are read; it is woken when there is something.
    ///   - reset: tells the scene whole, later and from any thread; called on a queue that may wait.
    ///   - whenClosed: called once when the outlet has closed the subscription, whatever the cause.
    /// - Returns: the stream's source.
    package func subscribe(
        to scene: SceneName, after: EventNumber?, outlet: any StreamOutlet,
        reset: @escaping EventSubscription.Reset, whenClosed: @escaping @Sendable () -> Void = {}
    ) -> EventSubscription {
        let subscription = EventSubscription(
            to: scene, after: after, hub: self, outlet: outlet, reset: reset, whenClosed: whenClosed)
        let isFirst = inbox.withLock { inbox in
            let before = inbox.commands.count
            inbox.readers[scene, default: 0] += 1
            inbox.commands += inbox.backlog.take(scene) + [.attach(subscription)]
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
            let readers = inbox.readers[subscription.scene] ?? 0
            inbox.readers[subscription.scene] = readers > 1 ? readers - 1 : nil
            inbox.commands.append(.detach(subscription))
            return inbox.commands.count == 1
        }
        if isFirst { poke() }
    }

    func resume(_ subscription: EventSubscription, from snapshot: SceneSnapshot?) {
        let number = snapshot?.number ?? EventNumber(rawValue: 0)
        post(.resume(subscription, number, event: snapshot.map(EventJSON.encode)))
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
