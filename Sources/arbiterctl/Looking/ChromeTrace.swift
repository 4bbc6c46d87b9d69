internal import ArbiterClient
internal import Foundation

/// A recording in the Trace Event Format, which Perfetto and chrome://tracing open.
///
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsNchNAySU
///
/// A client is a process, and what it locks is a thread of it: a scene, or controllers of a scene. A wait is an asynchronous span,
/// what is granted a slice, and a flow leads from the request to the grant and the end. Each scene has a counter of those that run
/// and wait, in a process that stands for the daemon.
struct ChromeTrace {
    /// The first line of the recording, and each transition as it was last seen, oldest first.
    private var header: JSONValue?
    private var transitions: [JSONValue] = []
    private var places: [String: Int] = [:]

    private var names: [JSONValue] = [Self.name("process", "arbiterd", Self.arbiter)]
    private var processes: [String: Int] = [:]
    private var threads: [[String]: Int] = [:]
    private var events: [Event] = []
    private var steps: [Step] = []

    /// Where an event is shown.
    private typealias Track = (process: Int, thread: Int)
    /// The process that has the counters.
    private static let arbiter = (process: 0, thread: 0)

    /// An event of the format that belongs to a transition; times are in microseconds.
    private struct Event {
        let at: Int
        /// Of a slice.
        let length: Int
        let json: JSONValue
    }

    /// A request, a grant or an end: how many more of its scene run and wait then.
    private struct Step {
        let scene: String
        let at: Int
        let running: Int
        let waiting: Int
    }

    /// Takes the next line of the recording.
    ///
    /// - Throws: `ClientError` if it cannot be read.
    mutating func take(_ line: String) throws(ClientError) {
        guard header != nil else {
            header = try WireDocument.read(line.utf8, named: "the first line of the recording")
            return
        }
        // Trees, which may be large, are in other events only.
        guard line.contains(#""event":"transition."#) else { return }
        note(try WireDocument.read(line.utf8, named: "a line of the recording")["data"] ?? .null)
    }

    private mutating func note(_ transition: JSONValue) {
        guard let id = transition["id"]?.string, let members = transition.object else { return }
        guard let place = places[id] else {
            places[id] = transitions.count
            return transitions.append(transition)
        }
        // One that has ended does not say any more what it had locked.
        let locks = transitions[place].object?.filter { $0.key == "locks" } ?? [:]
        transitions[place] = .object(locks.merging(members) { $1 })
    }

    /// The trace, one JSON object, when all lines have been taken.
    mutating func text() -> String {
        for scene in header?["scenes"]?.array ?? [] {
            for transition in (scene["running"]?.array ?? []) + (scene["queue"]?.array ?? []) {
                // What is unfinished may be older than the oldest event.
                if let id = transition["id"]?.string, places[id] == nil { note(transition) }
            }
        }
        for transition in transitions { add(transition) }
        let facts = (header?.object ?? [:]).filter { $0.key != "scenes" }
        let document: JSONValue = [
            "displayTimeUnit": "ms", "otherData": .object(facts),
            "traceEvents": .array(names + counters + sorted(events)),
        ]
        return document.text()
    }

    /// The events by their instants.
    ///
    /// Of the slices that begin at one instant, the longest comes first, so that it encloses the others; what belongs to a slice
    /// comes after it.
    private func sorted(_ events: [Event]) -> [JSONValue] {
        events.enumerated()
            .sorted { ($0.element.at, -$0.element.length, $0.offset) < ($1.element.at, -$1.element.length, $1.offset) }
            .map(\.element.json)
    }

    /// The counts after each request, grant and end.
    private var counters: [JSONValue] {
        var known: [String: (running: Int, waiting: Int)] = [:]
        // Steps of one instant stay in the order of their transitions.
        return steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map { _, step in
            let before = known[step.scene] ?? (0, 0)
            let after = (running: before.running + step.running, waiting: before.waiting + step.waiting)
            known[step.scene] = after
            let counts: JSONValue = [
                "running": .number(Double(after.running)), "waiting": .number(Double(after.waiting)),
            ]
            return Self.event("C", "in \(step.scene)", at: step.at, Self.arbiter, ["args": counts])
        }
    }

    private mutating func add(_ transition: JSONValue) {
        guard let id = transition["id"], let scene = transition["scene"]?.string,
            let requested = Self.microseconds(transition["requestedAt"]),
            let now = Self.microseconds(header?["at"])
        else { return }
        let granted = Self.microseconds(transition["grantedAt"])
        let ended = Self.microseconds(transition["endedAt"])
        let (waited, end) = (granted ?? ended ?? now, ended ?? now)
        let track = track(of: transition, in: scene)
        let operations = transition["operations"]?.array ?? [transition["operation"]].compactMap(\.self)
        let name = operations.isEmpty ? "lock" : operations.compactMap { $0["type"]?.string }.joined(separator: ", ")
        let outcome = transition["outcome"]?.string ?? ""

        func add(_ phase: JSONValue, _ name: String, _ at: Int, _ members: [String: JSONValue]) {
            let length = members["dur"]?.number ?? 0
            events.append(Event(at: at, length: Int(length), json: Self.event(phase, name, at: at, track, members)))
        }
        func slice(_ name: String, _ at: Int, length: Int) {
            add("X", name, at, ["dur": .number(Double(length)), "args": transition])
        }
        // What is granted at once has no wait.
        func wait(_ phase: JSONValue, _ at: Int) {
            if waited != requested { add(phase, "waits: \(name)", at, ["cat": "wait", "id": id]) }
        }
        func flow(_ phase: JSONValue, _ at: Int) { add(phase, "turn", at, ["cat": "turn", "id": id, "bp": "e"]) }

        // The flow begins in a slice, which a request has for a microsecond.
        slice("request", requested, length: 1)
        flow("s", requested)
        wait("b", requested)
        wait("e", waited)
        steps.append(Step(scene: scene, at: requested, running: 0, waiting: 1))
        if let granted {
            slice(name, granted, length: max(1, end - granted))
            if waited != requested { flow("t", granted) }
            steps.append(Step(scene: scene, at: granted, running: 1, waiting: -1))
        }
        guard let ended else { return }
        if let granted {
            flow("f", max(granted, ended - 1))
            if !["completed", "cancelled"].contains(outcome) {
                add("i", "\(outcome): \(name)", ended, ["s": "t", "args": transition])
            }
            steps.append(Step(scene: scene, at: ended, running: -1, waiting: 0))
        } else {
            // Without a lock there is no slice that the flow could end in.
            slice("\(outcome): \(name)", ended, length: 1)
            flow("f", ended)
            steps.append(Step(scene: scene, at: ended, running: 0, waiting: -1))
        }
    }

    /// The process of its client, and the thread of what it locks, each with a name.
    private mutating func track(of transition: JSONValue, in scene: String) -> Track {
        let client = transition["client"]?.string ?? "a client without a name"
        let locks = (transition["locks"]?.array ?? []).compactMap(\.string)
        let process = processes[client] ?? processes.count + 1
        if processes.updateValue(process, forKey: client) == nil {
            names.append(Self.name("process", client, (process, 0)))
        }
        let place = ([scene] + locks.prefix(3)).joined(separator: " / ")
        let thread = threads[[client, place]] ?? threads.count + 1
        if threads.updateValue(thread, forKey: [client, place]) == nil {
            names.append(Self.name("thread", place, (process, thread)))
        }
        return (process, thread)
    }

    private static func name(_ kind: String, _ name: String, _ track: Track) -> JSONValue {
        event("M", "\(kind)_name", at: 0, track, ["args": ["name": .string(name)]])
    }

    private static func event(
        _ phase: JSONValue, _ name: String, at: Int, _ track: Track, _ members: [String: JSONValue]
    ) -> JSONValue {
        let (process, thread) = (Double(track.process), Double(track.thread))
        let common: [String: JSONValue] = [
            "ph": phase, "name": .string(name), "ts": .number(Double(at)), "pid": .number(process),
            "tid": .number(thread),
        ]
        return .object(common.merging(members) { $1 })
    }

    private static func microseconds(_ instant: JSONValue?) -> Int? {
        guard let text = instant?.string, let date = try? Date(text, strategy: .iso8601WithFractions) else {
            return nil
        }
        // Instants of the daemon have milliseconds.
        return Int((date.timeIntervalSince1970 * 1000).rounded()) * 1000
    }
}
