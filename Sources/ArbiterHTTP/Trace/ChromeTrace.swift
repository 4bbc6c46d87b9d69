internal import ArbiterCore
internal import ArbiterEngine

/// Transitions in the Trace Event Format, which Perfetto and chrome://tracing open.
///
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsNchNAySU
///
/// A client is a process, and what it locks is a thread of it: a scene, or a controller of a scene. A wait is an asynchronous
/// span, what is granted a slice, and a flow leads from the request to the grant and the end. Each scene has a counter of those
/// that run and wait, in a process that stands for the daemon.
struct ChromeTrace: Sendable {
    private let views: [TransitionView]
    private let now: Timestamp
    private var processes: [String: Int] = [:]
    private var threads: [Thread: Int] = [:]
    private let counts: [Count]
    private let entries: [Entry]
    /// The process that has the counters.
    private static let arbiter = 0

    private struct Thread: Hashable {
        let process: Int
        let name: String
    }

    /// How many run and wait in a scene from an instant on.
    private struct Count {
        let scene: SceneName
        let at: Timestamp
        let running: Int
        let waiting: Int
    }

    /// An event of the trace that belongs to a transition.
    private struct Entry: Comparable {
        /// Those that are slices come first.
        enum Kind: Int {
            case lock
            case request
            case end
            case waitBegins
            case waitEnds
            case flowBegins
            case flowGoesOn
            case flowEnds
            case failure
        }

        let kind: Kind
        /// The place of the transition among `views`.
        let view: Int
        /// In microseconds.
        let at: Int
        /// Of a slice, in microseconds.
        let length: Int?

        static func < (one: Entry, other: Entry) -> Bool {
            (one.at, -(one.length ?? 0), one.kind.rawValue, one.view)
                < (other.at, -(other.length ?? 0), other.kind.rawValue, other.view)
        }
    }

    /// - Parameters:
    ///   - views: the transitions, oldest request first.
    ///   - now: when unfinished transitions are cut off.
    init(_ views: [TransitionView], now: Timestamp) {
        self.views = views
        self.now = now
        counts = Self.counts(views)
        entries = Self.entries(views, now: now)
        for view in views {
            let process = processes[Self.process(of: view), default: processes.count + 1]
            processes[Self.process(of: view)] = process
            let thread = Thread(process: process, name: Self.lane(of: view))
            if threads[thread] == nil { threads[thread] = threads.count + 1 }
        }
    }

    private static func process(of view: TransitionView) -> String {
        view.transition.request.client?.description ?? "a client without a name"
    }

    /// What it locks: its scene, and the controllers if it is not the whole scene.
    private static func lane(of view: TransitionView) -> String {
        let request = view.transition.request
        let controllers: [String] =
            switch view.transition.scope {
            case .scene: []
            case .operation: [request.operationOutline?.target].compactMap { $0?.description }
            case .controllers(let ids): ids.map(\.description)
            }
        return ([request.scene.description] + controllers.prefix(3)).joined(separator: " / ")
    }

    /// The counts after each request, grant and end.
    private static func counts(_ views: [TransitionView]) -> [Count] {
        struct Step {
            let scene: SceneName
            let at: Timestamp
            let running: Int
            let waiting: Int
        }
        var steps: [Step] = []
        for view in views {
            let transition = view.transition
            let scene = transition.request.scene
            steps.append(Step(scene: scene, at: transition.requestedAt.timestamp, running: 0, waiting: 1))
            if let grant = transition.grant {
                steps.append(Step(scene: scene, at: grant.grantedAt, running: 1, waiting: -1))
            }
            if case .ended(let ending) = transition.phase {
                let wasGranted = transition.grant != nil
                steps.append(
                    Step(
                        scene: scene, at: ending.endedAt.timestamp, running: wasGranted ? -1 : 0,
                        waiting: wasGranted ? 0 : -1))
            }
        }
        var known: [SceneName: (running: Int, waiting: Int)] = [:]
        // Steps of one instant stay in the order of their transitions.
        return steps.enumerated().sorted {
            ($0.element.at.milliseconds, $0.offset) < ($1.element.at.milliseconds, $1.offset)
        }
        .map { _, step in
            let before = known[step.scene] ?? (0, 0)
            let after = (running: before.running + step.running, waiting: before.waiting + step.waiting)
            known[step.scene] = after
            return Count(scene: step.scene, at: step.at, running: after.running, waiting: after.waiting)
        }
    }

    /// The trace.
    ///
    /// - Parameters:
    ///   - dropped: whether there were more transitions than are in it.
    ///   - parked: how many requests are parked now; `nil` if that is not to be told.
    /// - Returns: one JSON object.
    func document(dropped: Bool, parked: Int?) -> JSONDocument {
        let (processes, threads) = (processes.sorted { $0.value < $1.value }, threads.sorted { $0.value < $1.value })
        return JSONDocument(
            [
                .brief { writer in
                    writer.beginObject()
                    writer.member("displayTimeUnit", "ms")
                    writer.object("otherData") { writer in
                        writer.member("at", now)
                        writer.member("transitions", views.count)
                        writer.member("droppedEarlierOnes", dropped)
                    }
                    writer.begin("traceEvents")
                    writer.beginArray()
                    writer.beginElement()
                    writer.name("process_name", "arbiterd", process: Self.arbiter, thread: 0)
                    if let parked {
                        writer.beginElement()
                        writer.event(
                            "C", "parked requests", at: Self.microseconds(now), process: Self.arbiter, thread: 0
                        ) { writer in
                            writer.object("args") { $0.member("parked", parked) }
                        }
                    }
                },
                .each(processes.indices) { writer, index in
                    writer.beginElement()
                    writer.name("process_name", processes[index].key, process: processes[index].value, thread: 0)
                },
                .each(threads.indices) { writer, index in
                    let thread = threads[index]
                    writer.beginElement()
                    writer.name("thread_name", thread.key.name, process: thread.key.process, thread: thread.value)
                },
                .each(counts.indices) { writer, index in
                    let count = counts[index]
                    writer.beginElement()
                    writer.event(
                        "C", "in \(count.scene)", at: Self.microseconds(count.at), process: Self.arbiter, thread: 0
                    ) { writer in
                        writer.object("args") { writer in
                            writer.member("running", count.running)
                            writer.member("waiting", count.waiting)
                        }
                    }
                },
                .each(entries.indices) { writer, index in write(entries[index], to: &writer) },
                .brief { writer in
                    writer.endArray()
                    writer.endObject()
                    writer.endLine()
                },
            ], keeping: ServerLimits.bytesOfOneAnswer)
    }

    /// The entries of all transitions by their instants.
    ///
    /// Of the slices that begin at one instant, the longest comes first, so that it encloses the others; what belongs to a slice
    /// comes after it.
    private static func entries(_ views: [TransitionView], now: Timestamp) -> [Entry] {
        var entries: [Entry] = []
        for (index, view) in views.enumerated() {
            let transition = view.transition
            func add(_ kind: Entry.Kind, _ at: Int, length: Int? = nil) {
                entries.append(Entry(kind: kind, view: index, at: at, length: length))
            }
            let requested = microseconds(transition.requestedAt.timestamp)
            let ending: Transition.Ending? = if case .ended(let ending) = transition.phase { ending } else { nil }
            let end = microseconds(ending?.endedAt.timestamp ?? now)
            let granted = transition.grant.map { microseconds($0.grantedAt) }
            // The flow begins in a slice, which a request has for a microsecond.
            add(.request, requested, length: 1)
            add(.flowBegins, requested)
            let waited = granted ?? end
            if waited != requested {
                add(.waitBegins, requested)
                add(.waitEnds, waited)
            }
            if let granted {
                add(.lock, granted, length: max(1, end - granted))
                if waited != requested { add(.flowGoesOn, granted) }
            } else if ending != nil {
                // Without a lock there is no slice that the flow could end in.
                add(.end, end, length: 1)
            }
            guard let ending else { continue }
            add(.flowEnds, granted.map { max($0, end - 1) } ?? end)
            if granted != nil, hasFailed(ending.outcome) { add(.failure, end) }
        }
        return entries.sorted()
    }

    private static func microseconds(_ instant: Timestamp) -> Int { Int(instant.milliseconds) * 1000 }

    private static func hasFailed(_ outcome: TransitionOutcome) -> Bool {
        switch outcome {
        case .completed, .cancelled: false
        case .expired, .rejected, .superseded, .revoked: true
        }
    }

    private func write(_ entry: Entry, to writer: inout JSONWriter) {
        let view = views[entry.view]
        let transition = view.transition
        let process = processes[Self.process(of: view)] ?? Self.arbiter
        let thread = threads[Thread(process: process, name: Self.lane(of: view))] ?? 0
        let name = transition.request.operationOutline?.type.rawValue ?? "lock"
        let id = transition.id.description

        func add(_ phase: StaticString, _ name: String, _ members: (inout JSONWriter) -> Void) {
            writer.event(phase, name, at: entry.at, process: process, thread: thread) { writer in
                if let length = entry.length { writer.member("dur", length) }
                members(&writer)
            }
        }
        func linked(_ phase: StaticString, _ name: String, _ category: String, bindsToSlice: Bool) {
            add(phase, name) { writer in
                writer.member("cat", category)
                writer.member("id", id)
                if bindsToSlice { writer.member("bp", "e") }
            }
        }
        func summary(_ writer: inout JSONWriter) {
            writer.object("args") { $0.summaryMembers(of: view) }
        }

        writer.beginElement()
        switch entry.kind {
        case .lock: add("X", name, summary)
        case .request: add("X", "request") { _ in }
        case .end: add("X", "\(outcome(of: transition)): \(name)", summary)
        case .waitBegins: linked("b", "waits: \(name)", "wait", bindsToSlice: false)
        case .waitEnds: linked("e", "waits: \(name)", "wait", bindsToSlice: false)
        case .flowBegins: linked("s", "turn", "turn", bindsToSlice: true)
        case .flowGoesOn: linked("t", "turn", "turn", bindsToSlice: true)
        case .flowEnds: linked("f", "turn", "turn", bindsToSlice: true)
        case .failure:
            add("i", "\(outcome(of: transition)): \(name)") { writer in
                writer.member("s", "t")
                summary(&writer)
            }
        }
    }

    private func outcome(of transition: Transition) -> String {
        if case .ended(let ending) = transition.phase { ending.outcome.name } else { transition.state.rawValue }
    }
}

extension JSONWriter {
    /// An event of the format, with the members that only its kind has.
    fileprivate mutating func event(
        _ phase: StaticString, _ name: String, at microseconds: Int, process: Int, thread: Int,
        _ members: (inout JSONWriter) -> Void
    ) {
        object { writer in
            writer.member("ph", "\(phase)")
            writer.member("name", name)
            writer.member("ts", microseconds)
            writer.member("pid", process)
            writer.member("tid", thread)
            members(&writer)
        }
    }

    /// The name of a process or a thread.
    fileprivate mutating func name(_ kind: String, _ name: String, process: Int, thread: Int) {
        object { writer in
            writer.member("ph", "M")
            writer.member("name", kind)
            writer.member("pid", process)
            writer.member("tid", thread)
            writer.object("args") { $0.member("name", name) }
        }
    }
}
