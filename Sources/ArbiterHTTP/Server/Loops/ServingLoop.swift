internal import ArbiterEngine
internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// What a loop serves in each of its rounds, on its thread.
protocol ServedInRounds: AnyObject {
    /// Reads, carries out and answers what has come; does not wait.
    func serve()

    /// After how many milliseconds it has something to do although nothing happens: 0 if it has now, `nil` if never.
    var pause: Int? { get }
}

/// A thread that serves connections in rounds.
///
/// A round waits until something happens, and does what other threads have asked for. It serves all connections that have
/// something to read or to write, and lets the alarms ring that are due. Then it commits what all of these have recorded. The
/// answers leave in the next round, which begins at once.
///
/// `@unchecked`: what is neither a constant nor guarded belongs to the thread.
@safe final class ServingLoop: @unchecked Sendable {
    typealias Action = @Sendable () -> Void

    private static let eventsAtOnce = 128
    private static let bellKey: UInt64 = 0
    private static let serviceKey: UInt64 = 1

    private let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    /// An eventfd with which other threads wake this one.
    private let bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    private let thread = Atomic<UInt>(0)
    private let mail = Guarded(Mail())
    private let alarms = Guarded(PendingAlarms())
    private let watches = Guarded<[UInt64: Action]>([:])
    private let lastKey = Atomic(serviceKey)
    /// Everything that had come by then has been served.
    private let heard = Atomic(ServingLoop.now())
    /// Odd while it waits.
    private let waits = Atomic<UInt64>(0)

    private var services: [any ServedInRounds] = []
    private var events = unsafe [epoll_event](repeating: epoll_event(), count: eventsAtOnce)
    /// Those that commit at the end of the round.
    private var committing: [Engine] = []
    private var looks: UInt64 = 0
    private var hasLooked = false
    private var hasResumed = false
    /// After how many milliseconds the services have something to do, although nothing happens; `nil` if never.
    private var pause: Int?
    /// When the round before began to serve.
    private var earlierBegun = ServingLoop.now()
    /// Counts what the services have done; see `noteProgress`.
    private(set) var progress: UInt64 = 0
    /// The requests of this round, and those of the last round that had any.
    private var requests = 0
    private var earlierRequests = 0

    /// What other threads have asked for.
    private struct Mail {
        var actions: [Action] = []
        var resumed: [MicroHTTPDConnection] = []
        var isOver = false

        var isEmpty: Bool { actions.isEmpty && resumed.isEmpty && !isOver }
    }

    init() {
        precondition(epoll >= 0 && bell >= 0, "no descriptors are left to serve with")
        control(EPOLL_CTL_ADD, bell, EPOLLIN.rawValue, Self.bellKey)
    }

    deinit {
        close(epoll)
        close(bell)
    }

    /// Starts the thread.
    func start() {
        let started = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            self.thread.store(UInt(pthread_self()), ordering: .relaxed)
            started.signal()
            while !mail.withLock({ $0.isOver }) { round() }
        }
        thread.name = "arbiter.serve"
        thread.start()
        started.wait()
    }

    /// The time of the loop's clock, in nanoseconds.
    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    // MARK: - From anywhere

    /// Whether the calling thread is the loop's.
    var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Ends the thread.
    func stop() { send { $0.isOver = true } }

    /// Does something in the next round.
    func perform(_ action: @escaping Action) { send { $0.actions.append(action) } }

    /// Does something on the thread, and waits for that.
    func performAndWait(_ action: @escaping Action) {
        if isCurrent { return action() }
        let done = DispatchSemaphore(value: 0)
        perform {
            action()
            done.signal()
        }
        done.wait()
    }

    /// Serves a connection again that is suspended.
    func resume(_ connection: MicroHTTPDConnection) {
        guard isCurrent else { return send { $0.resumed.append(connection) } }
        connection.resumeNow()
        hasResumed = true
    }

    private func send(_ change: (inout Mail) -> Void) {
        let wasEmpty = mail.withLock { mail in
            let wasEmpty = mail.isEmpty
            change(&mail)
            return wasEmpty
        }
        // The thread itself looks for mail before it waits.
        if wasEmpty, !isCurrent { eventfd_write(bell, 1) }
    }

    /// Has an alarm ring on the thread.
    func ring(after delay: Int64, _ bell: @escaping PendingAlarms.Bell) {
        let instant = Self.now().addingReportingOverflow(max(0, delay))
        let isNext = alarms.withLock { $0.set(for: instant.overflow ? .max : instant.partialValue, bell) }
        if isNext, !isCurrent { eventfd_write(self.bell, 1) }
    }

    /// For how many nanoseconds words may have lain unheard until now; 0 if there are none.
    var lag: Int64 {
        var pending = pollfd(fd: epoll, events: Int16(POLLIN), revents: 0)
        // A thread that waits has heard everything, unless it is about to wake.
        let wait = waits.load(ordering: .acquiring)
        if wait % 2 == 1, unsafe poll(&pending, 1, 0) == 0, waits.load(ordering: .acquiring) == wait { return 0 }
        return max(0, Self.now() - heard.load(ordering: .acquiring))
    }

    /// A key for a descriptor; none is given twice, so that a late event is recognised.
    func newKey() -> UInt64 { lastKey.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Calls the action on the thread for each of these events of a descriptor, until it is forgotten.
    func watch(_ descriptor: Int32, for events: UInt32, key: UInt64, _ action: @escaping Action) {
        watches.withLock { $0[key] = action }
        control(EPOLL_CTL_ADD, descriptor, events, key)
    }

    /// Forgets what was to be called; closing the descriptor ends the rest.
    func forget(_ key: UInt64) { watches.withLock { _ = $0.removeValue(forKey: key) } }

    /// Watches a descriptor no more, which stays open.
    func unwatch(_ descriptor: Int32, key: UInt64) {
        forget(key)
        control(EPOLL_CTL_DEL, descriptor, 0, key)
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ key: UInt64) {
        var event = unsafe epoll_event()
        unsafe event.events = events
        unsafe event.data.u64 = key
        unsafe epoll_ctl(epoll, operation, descriptor, &event)
    }

    // MARK: - On the thread

    /// Serves this too, from the next round on; the descriptor is readable when it has something to do.
    func add(_ service: any ServedInRounds, ready descriptor: Int32) {
        services.append(service)
        control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue, Self.serviceKey)
    }

    func remove(_ service: any ServedInRounds) { services.removeAll { $0 === service } }

    /// A service has read or written something.
    func noteProgress() { progress &+= 1 }

    /// A request is about to be carried out.
    func noteRequest() { requests += 1 }

    /// How often the thread has looked what has happened.
    var lookCount: UInt64 { looks }

    /// Whether the last look, which has told what had happened until this round, came after the one with this number.
    func hasLooked(after look: UInt64) -> Bool { hasLooked && looks > look }

    /// Has an engine commit at the end of the round, unless the round seems to have one request only: that is answered sooner if
    /// it commits by itself.
    ///
    /// - Returns: whether the engine will commit.
    func putOffCommit(of engine: Engine) -> Bool {
        guard requests > 1 || earlierRequests > 1 else { return false }
        if !committing.contains(where: { $0 === engine }) { committing.append(engine) }
        return true
    }

    private func round() {
        let goesOn = hasResumed || pause == 0
        hasResumed = false
        // Under load a look costs less than to ask for each request whether its client is still there.
        hasLooked = !(goesOn && hasLooked && earlierRequests <= 1)
        if hasLooked { look(for: goesOn ? 0 : pause) }
        takeMail()
        let begun = Self.now()
        for service in services { service.serve() }
        pause = services.compactMap(\.pause).min()
        // A pass reads once from each connection. If more is waiting there, it is read in the next round.
        heard.store(pause == 0 ? earlierBegun : begun, ordering: .releasing)
        earlierBegun = begun
        while let bell = alarms.withLock({ $0.takeDue(at: begun) }) { bell() }
        if requests > 0 { (earlierRequests, requests) = (requests, 0) }
        while let engine = committing.popLast() { engine.commit() }
    }

    /// Waits until something happens, and calls the actions of the descriptors to which it happened.
    ///
    /// - Parameter pause: the most milliseconds that it waits; without it, until the next alarm is due.
    private func look(for pause: Int?) {
        looks += 1
        let before = Self.now()
        var timeout = timeout(at: before, pause)
        // Mail that comes from now on rings the bell.
        if timeout != 0, !mail.withLock({ $0.isEmpty }) { timeout = 0 }
        var isWaiting = timeout != 0
        if isWaiting { waits.wrappingAdd(1, ordering: .acquiringAndReleasing) }
        var isWhole = false
        while !isWhole {
            let count = unsafe Int(epoll_wait(epoll, &events, Int32(Self.eventsAtOnce), timeout))
            precondition(count >= 0 || errno == EINTR, "events of descriptors can no longer be waited for")
            if isWaiting { waits.wrappingAdd(1, ordering: .acquiringAndReleasing) }
            isWaiting = false
            for index in 0..<max(0, count) { unsafe tell(of: events[index].data.u64) }
            timeout = 0
            // A look that was interrupted has seen nothing, also if the process was stopped meanwhile.
            isWhole = 0..<Self.eventsAtOnce ~= count
        }
    }

    /// How long a look may wait, in milliseconds; -1 for ever.
    private func timeout(at now: Int64, _ pause: Int?) -> Int32 {
        var timeout = pause.map { Int64($0) }
        if let next = alarms.withLock({ $0.next }) {
            // Rounded up, because an alarm that rings too early does nothing.
            let millisecond: Int64 = 1_000_000
            let wait = next > now ? (next - now - 1) / millisecond + 1 : 0
            timeout = min(wait, timeout ?? wait)
        }
        return timeout.map { Int32(clamping: $0) } ?? -1
    }

    private func tell(of key: UInt64) {
        switch key {
        case Self.bellKey:
            var count: UInt64 = 0
            _ = unsafe eventfd_read(bell, &count)
        case Self.serviceKey: break
        default: watches.withLock({ $0[key] })?()
        }
    }

    private func takeMail() {
        let (actions, resumed) = mail.withLock { mail in
            defer { (mail.actions, mail.resumed) = ([], []) }
            return (mail.actions, mail.resumed)
        }
        for action in actions { action() }
        for connection in resumed { connection.resumeNow() }
    }
}
