internal import Foundation

/// Something that happened.
public struct ArbiterEvent: Hashable, Sendable {
    /// For example `transition.ended`; `reset`, with the scene as it is, after a gap that cannot be filled.
    public let name: String
    /// What happened, as openapi.yaml of the daemon describes it.
    public let data: JSONValue
    /// What a stream is resumed after; `nil` for what is momentary, such as `transition.progress`, and for all events of
    /// ``Arbiter/events(since:isAttached:)`` from a cluster of several shards, where the place in the stream comes apart.
    public let id: String?
}

/// What happens in a scene or in all scenes; a stream that is cut is resumed without a gap.
///
/// So is one whose reader is so slow that 40,000 lines, of four for each event, wait for it. Events without an id, which are
/// momentary, are lost in both cases.
public struct ArbiterEvents: AsyncSequence, Sendable {
    private let arbiter: Arbiter
    private let path: String
    private let since: String?
    private let isAttached: Bool
    private let whenOpen: @Sendable (Bool) -> Void

    /// `whenOpen` is called when the stream has opened, and when it was cut.
    init(
        _ arbiter: Arbiter, path: String, since: String?, isAttached: Bool,
        whenOpen: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.arbiter = arbiter
        self.path = path
        self.since = since
        self.isAttached = isAttached
        self.whenOpen = whenOpen
    }

    /// Begins a stream of its own.
    public func makeAsyncIterator() -> Iterator {
        Iterator(arbiter: arbiter, path: path, last: since, isAttached: isAttached, whenOpen: whenOpen)
    }

    /// The events of one stream.
    public struct Iterator: AsyncIteratorProtocol {
        let arbiter: Arbiter
        let path: String
        var last: String?
        let isAttached: Bool
        private var lines: AsyncThrowingStream<String, any Error>.Iterator?
        private var session: String?
        private var parser = EventParser()
        private var repeats = RepeatedEvents()
        private var backoff = Backoff()
        private let whenOpen: @Sendable (Bool) -> Void
        private var isOpen = false
        private var hasOpened = false
        /// Until when it has to open for the first time; `nil` before the first attempt.
        private var deadline: ContinuousClock.Instant?

        init(
            arbiter: Arbiter, path: String, last: String?, isAttached: Bool,
            whenOpen: @escaping @Sendable (Bool) -> Void
        ) {
            self.arbiter = arbiter
            self.path = path
            self.last = last
            self.isAttached = isAttached
            self.whenOpen = whenOpen
        }

        /// The next event.
        ///
        /// - Throws: `ClientError.refused` if the stream is refused for good, or if an event cannot be read because it has too
        ///   many levels (`too-deep`); `unreachable` if it does not open for the first time within the patience of the client;
        ///   `closed`.
        /// - Returns: `nil` if the task is cancelled.
        public mutating func next() async throws -> ArbiterEvent? {
            while !Task.isCancelled {
                var why = "nothing came"
                do {
                    if lines == nil { try await connect() }
                    while let line = try await lines?.next(isolation: #isolation) {
                        note(isOpen: true)
                        let event = try parser.take(line)
                        last = parser.lastID ?? last
                        guard let event else { continue }
                        backoff = Backoff()
                        if repeats.isNew(event) { return event }
                    }
                } catch ClientError.refused(let refusal) {
                    if let session, Arbiter.isOverForSession(refusal) {
                        await arbiter.forgetSession(session)
                    } else if refusal.mayBeOfDaemon, refusal.status != 429, refusal.status != 503 {
                        throw ClientError.refused(refusal)
                    } else {
                        why = refusal.detail
                    }
                } catch ClientError.closed {
                    throw ClientError.closed
                } catch ClientError.unreachable(let reason) {
                    // A stream that is cut is resumed.
                    why = reason
                }
                if !hasOpened, let deadline {
                    let error = arbiter.neverOpened(path, why)
                    guard .now < deadline else { throw error }
                    arbiter.noteSilence(error, since: deadline - arbiter.patience, until: deadline)
                }
                note(isOpen: false)
                (lines, parser) = (nil, EventParser())
                var delay = backoff.next()
                // The last attempt is made when the patience is over.
                if !hasOpened, let deadline { delay = Swift.min(delay, deadline - .now) }
                do { try await Task.sleep(for: delay) } catch { return nil }
            }
            return nil
        }

        private mutating func note(isOpen: Bool) {
            guard isOpen != self.isOpen, !Task.isCancelled else { return }
            self.isOpen = isOpen
            hasOpened = hasOpened || isOpen
            whenOpen(isOpen)
        }

        private mutating func connect() async throws {
            let deadline = deadline ?? .now + arbiter.patience
            self.deadline = deadline
            let left = hasOpened ? WireTimes.silence : Swift.min(WireTimes.silence, deadline - .now)
            var headers = ["Accept": "text/event-stream"]
            headers["Last-Event-ID"] = last
            session = isAttached ? try await arbiter.openSession() : nil
            headers[Arbiter.sessionField] = session
            lines = try arbiter.lines(path, headers: headers, silence: Swift.max(left, WireTimes.shortestSilence))
                .makeAsyncIterator()
        }
    }
}

/// What a resumed stream repeats.
///
/// Where a cluster has several shards, the stream of all scenes is resumed at a place that may be a second old, so that events
/// come again; a scene's event is the same if its number is.
struct RepeatedEvents: Sendable {
    /// How many scenes are remembered; then all are forgotten.
    static let scenes = 10_000

    /// The numbers of the last events, by their scenes.
    private var numbers: [String: Double] = [:]
    private var named: Set<String> = []

    /// Whether an event was not there before.
    mutating func isNew(_ event: ArbiterEvent) -> Bool {
        guard event.name != "reset.end" else {
            // Another life of the daemon may count from the beginning.
            numbers = numbers.filter { named.contains($0.key) }
            named = []
            return true
        }
        guard let number = event.data["number"]?.number else { return true }
        let scene = event.data["scene"]?.string ?? ""
        if event.name == "reset" {
            named.insert(scene)
        } else if let last = numbers[scene], last >= number {
            return false
        }
        if numbers.count >= Self.scenes, numbers[scene] == nil { numbers = [:] }
        numbers[scene] = number
        return true
    }
}

/// Makes events out of the lines of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).
package struct EventParser: Sendable {
    private var name = ""
    private var data: [String] = []
    private var id: String?
    /// What the stream is resumed after: the id of the last event, or the one with which the stream began.
    package private(set) var lastID: String?

    package init() {}

    /// The event that the line completes, if it does.
    ///
    /// - Throws: what `WireDocument.read` throws, if its data cannot be read.
    package mutating func take(_ line: String) throws(ClientError) -> ArbiterEvent? {
        guard !line.isEmpty else {
            defer { (name, data, id) = ("", [], nil) }
            guard !data.isEmpty else {
                lastID = id ?? lastID
                return nil
            }
            let document = try WireDocument.read(data.joined(separator: "\n").utf8, named: "the event \(id ?? name)")
            lastID = id ?? lastID
            return ArbiterEvent(name: name.isEmpty ? "message" : name, data: document, id: id)
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count < 2 ? "" : String(parts[1].first == " " ? parts[1].dropFirst() : parts[1])
        switch parts[0] {
        case "event": name = value
        case "data": data.append(value)
        case "id": id = value
        default: break
        }
        return nil
    }
}
