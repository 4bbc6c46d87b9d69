internal import Glibc

/// A process that stands in for a view, with its own connection to the daemon; see `standin-view`.
///
/// Commands and answers are lines, so the process can be killed or paused between them.
package final class ViewProcess {
    private let process: ChildProcess

    /// - Throws: `ChildProcessError` if it does not start.
    package init(_ name: String, of daemon: DaemonProcess) throws(ChildProcessError) {
        process = try ChildProcess("standin-view", [String(daemon.port), name])
    }

    /// Makes it send a request; its answer has to be read with `answer`.
    package func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) {
        process.write("request \(method) \(path)" + (body.map { " \($0.text)" } ?? ""))
    }

    /// The oldest answer that has not been read.
    ///
    /// - Throws: `ChildProcessError` if there is none.
    package func answer() throws(ChildProcessError) -> ViewAnswer {
        let line = try process.readLine()
        let parts = line.split(separator: " ", maxSplits: 1)
        guard let status = parts.first.flatMap({ Int($0) }) else { throw .ended("the view says: \(line)") }
        return ViewAnswer(status: status, json: parts.count > 1 ? JSONValue(parts[1].utf8) ?? .null : .null)
    }

    /// Makes it send a request, and waits for the answer.
    ///
    /// - Throws: `ChildProcessError` if there is none.
    package func request(
        _ method: String, _ path: String, _ body: JSONValue? = nil
    ) throws(ChildProcessError) -> ViewAnswer {
        ask(method, path, body)
        return try answer()
    }

    /// Makes it open sessions with attached streams of a scene's events; every later request is made once in each
    /// session.
    ///
    /// - Returns: the sessions.
    /// - Throws: `ChildProcessError` if it does not answer.
    @discardableResult
    package func attend(_ scene: String, count: Int = 1) throws(ChildProcessError) -> [ViewAnswer] {
        beginToAttend(scene, count: count)
        return try answers(count)
    }

    /// As `attend`, but returns at once; the sessions have to be read with `answers`.
    package func beginToAttend(_ scene: String, count: Int) {
        process.write("attend \(scene) \(count)")
    }

    /// The next answers, as many as given.
    ///
    /// - Throws: `ChildProcessError` if there are fewer.
    package func answers(_ count: Int) throws(ChildProcessError) -> [ViewAnswer] {
        var answers: [ViewAnswer] = []
        while answers.count < count { answers.append(try answer()) }
        return answers
    }

    /// Makes it read its first session's stream up to the next event of this name; the events have to be read with
    /// `events`.
    package func watch(upTo name: String) {
        process.write("events \(name)")
    }

    /// The events that it was told to read.
    ///
    /// - Throws: `ChildProcessError` if there are none.
    package func events(upTo name: String) throws(ChildProcessError) -> [ViewEvent] {
        var events: [ViewEvent] = []
        while events.last?.name != name {
            let parts = try process.readLine().split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let json = JSONValue(parts[1].utf8) else { throw .ended("no event: \(parts)") }
            events.append(ViewEvent(name: String(parts[0]), json: json))
        }
        return events
    }

    /// Makes it move a finger, in 60 steps a second, to the fraction in the body of a progress request; its answer has
    /// to be read with `answer`.
    package func drag(to progress: JSONValue, steps: Int) {
        process.write("drag \(steps) \(progress.text)")
    }

    /// Makes it request and end transitions one after the other, this many times.
    package func perform(_ transitions: [JSONValue], count: Int) {
        process.write("perform \(count) \(JSONValue.array(transitions).text)")
    }

    /// Makes it take the lock of a scene repeatedly, and change a shared file each time.
    package func contend(for scene: String, count: Int, file: String) {
        process.write("contend \(scene) \(count) \(file)")
    }

    /// The violations it has seen since it was told to contend or perform; waits until it is done.
    ///
    /// - Throws: `ChildProcessError` if it does not finish in time.
    package func violations(within limit: Duration) throws(ChildProcessError) -> [String] {
        var lines: [String] = []
        while true {
            let line = try process.readLine(within: limit)
            if line == "done" { return lines }
            lines.append(line)
        }
    }

    /// Kills it, and waits until it has ended.
    package func kill() throws(ChildProcessError) {
        process.signal(SIGKILL)
        try waitForExit()
    }

    /// Kills it, without waiting.
    package func beginToKill() {
        process.signal(SIGKILL)
    }

    /// Waits until it has ended.
    ///
    /// - Throws: `ChildProcessError.timedOut` if it has not ended in time.
    package func waitForExit() throws(ChildProcessError) {
        try process.waitForExit()
    }

    /// Stops it until `resume`.
    package func pause() {
        process.signal(SIGSTOP)
    }

    /// Continues it after `pause`.
    package func resume() {
        process.signal(SIGCONT)
    }
}

/// An answer of the daemon to a stand-in view.
package struct ViewAnswer: Hashable, Sendable {
    package let status: Int
    package let json: JSONValue

    /// A member of the body.
    package subscript(_ name: String) -> JSONValue { json[name] }
}

/// An event that a stand-in view has received.
package struct ViewEvent: Hashable, Sendable {
    package let name: String
    package let json: JSONValue

    /// A member of the event's data.
    package subscript(_ member: String) -> JSONValue { json[member] }
}
