internal import ArbiterCore
internal import ArbiterEngine

/// Transitions in the Trace Event Format, which Perfetto and chrome://tracing open.
///
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsNchNAySU
///
/// A client is a process, and what it locks is a thread of it: a scene, or a controller of a scene. A wait is an asynchronous
/// span, what is granted a slice, and a flow leads from the request to the grant and the end. Each scene has a counter of those
/// that run and wait.
struct ChromeTrace: Sendable {
    private let views: [TransitionView]
    private let now: Timestamp
    private var processes: [String: Int] = [:]
    private var threads: [Thread: Int] = [:]
    private let counts: [Count]

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

    /// - Parameters:
    ///   - views: the transitions, oldest request first.
    ///   - now: when unfinished transitions are cut off.
    init(_ views: [TransitionView], now: Timestamp) {
        self.views = views
        self.now = now
        counts = Self.counts(views)
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
        return JSONDocument([
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
                if let parked {
                    writer.beginElement()
                    writer.event("C", "parked requests", at: now, process: 0, thread: 0) { writer in
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
                writer.event("C", "in \(count.scene)", at: count.at, process: 0, thread: 0) { writer in
                    writer.object("args") { writer in
                        writer.member("running", count.running)
                        writer.member("waiting", count.waiting)
                    }
                }
            },
            .each(views.indices) { writer, index in write(views[index], to: &writer) },
            .brief { writer in
                writer.endArray()
                writer.endObject()
                writer.endLine()
            },
        ])
    }

    private func write(_ view: TransitionView, to writer: inout JSONWriter) {
        let transition = view.transition
        let process = processes[Self.process(of: view)] ?? 0
        let thread = threads[Thread(process: process, name: Self.lane(of: view))] ?? 0
        let name = transition.request.operationOutline?.type.rawValue ?? "lock"
        let id = transition.id.description
        let requested = transition.requestedAt.timestamp
        let ended: Timestamp? = if case .ended(let ending) = transition.phase { ending.endedAt.timestamp } else { nil }
        let end = ended ?? now

        func add(
            _ phase: StaticString, _ name: String, _ at: Timestamp,
            _ members: (inout JSONWriter) -> Void = { _ in }
        ) {
            writer.beginElement()
            writer.event(phase, name, at: at, process: process, thread: thread, members)
        }
        func flow(_ phase: StaticString, _ at: Timestamp) {
            add(phase, "turn", at) { writer in
                writer.member("cat", "turn")
                writer.member("id", id)
                writer.member("bp", "e")
            }
        }

        // The flow begins in a slice, which a request has for a microsecond.
        add("X", "request", requested) { $0.member("dur", 1) }
        flow("s", requested)
        let waited = transition.grant?.grantedAt ?? end
        if waited != requested {
            for (phase, at) in [("b", requested), ("e", waited)] as [(StaticString, Timestamp)] {
                add(phase, "waits: \(name)", at) { writer in
                    writer.member("cat", "wait")
                    writer.member("id", id)
                }
            }
        }
        if let grant = transition.grant {
            add("X", name, grant.grantedAt) { writer in
                writer.member("dur", Int(end.milliseconds - grant.grantedAt.milliseconds) * 1000)
                writer.object("args") { writer in
                    writer.summaryMembers(of: view)
                }
            }
            flow("t", grant.grantedAt)
        }
        if let ended { flow("f", ended) }
        if case .ended(let ending) = transition.phase, let ended {
            switch ending.outcome {
            case .completed, .cancelled: break
            case .expired, .rejected, .superseded, .revoked:
                add("i", "\(ending.outcome.name): \(name)", ended) { writer in
                    writer.member("s", "t")
                    writer.object("args") { $0.summaryMembers(of: view) }
                }
            }
        }
    }
}

extension JSONWriter {
    /// An event of the format, with the members that only its kind has.
    fileprivate mutating func event(
        _ phase: StaticString, _ name: String, at instant: Timestamp, process: Int, thread: Int,
        _ members: (inout JSONWriter) -> Void
    ) {
        object { writer in
            writer.member("ph", "\(phase)")
            writer.member("name", name)
            // In microseconds.
            writer.member("ts", Int(instant.milliseconds) * 1000)
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
