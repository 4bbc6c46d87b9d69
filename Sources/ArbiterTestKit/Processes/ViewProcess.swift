internal import Glibc

/// A process standing in for a view, with a connection of its own to the daemon; see `standin-view`.
///
/// Every command is one line to it, and every answer one line from it, so that it can be killed or paused in between.
package final class ViewProcess {
    private let process: ChildProcess

    /// - Throws: `ChildProcessError` if it does not start.
    package init(_ name: String, of daemon: DaemonProcess) throws(ChildProcessError) {
        process = try ChildProcess("standin-view", [String(daemon.port), name])
    }

    /// Has it send a request and wait for the answer, which is to be read with `answer`.
    package func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) {
        process.write("request \(method) \(path)" + (body.map { " \($0.text)" } ?? ""))
    }

    /// The answer to the oldest request whose answer has not been read.
    ///
    /// - Throws: `ChildProcessError` if none comes.
    package func answer() throws(ChildProcessError) -> ViewAnswer {
        let line = try process.readLine()
        let parts = line.split(separator: " ", maxSplits: 1)
        guard let status = parts.first.flatMap({ Int($0) }) else { throw .ended("the view says: \(line)") }
        return ViewAnswer(status: status, json: parts.count > 1 ? JSONValue(parts[1].utf8) ?? .null : .null)
    }

    /// Has it send a request, and waits for the answer.
    ///
    /// - Throws: `ChildProcessError` if none comes.
    package func request(
        _ method: String, _ path: String, _ body: JSONValue? = nil
    ) throws(ChildProcessError) -> ViewAnswer {
        ask(method, path, body)
        return try answer()
    }

    /// Has it open sessions that live by streams of a scene's events, and make every later request in each of them.
    ///
    /// - Returns: the sessions.
    /// - Throws: `ChildProcessError` if it does not answer.
    @discardableResult
    package func attend(_ scene: String, count: Int = 1) throws(ChildProcessError) -> [ViewAnswer] {
        process.write("attend \(scene) \(count)")
        return try answers(count)
    }

    /// The next so many answers.
    ///
    /// - Throws: `ChildProcessError` if they do not come.
    package func answers(_ count: Int) throws(ChildProcessError) -> [ViewAnswer] {
        var answers: [ViewAnswer] = []
        while answers.count < count { answers.append(try answer()) }
        return answers
    }

    /// Has it read the stream that its first session lives by, up to the next event of this name; to be read with
    /// `events`.
    package func watch(upTo name: String) {
        process.write("events \(name)")
    }

    /// The events that it was told to watch.
    ///
    /// - Throws: `ChildProcessError` if they do not come.
    package func events(upTo name: String) throws(ChildProcessError) -> [ViewEvent] {
        var events: [ViewEvent] = []
        while events.last?.name != name {
            let parts = try process.readLine().split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let json = JSONValue(parts[1].utf8) else { throw .ended("no event: \(parts)") }
            events.append(ViewEvent(name: String(parts[0]), json: json))
        }
        return events
    }

    /// Has it move a finger, at 60 steps a second, to where the body of a progress request says; to be read with
    /// `answer`.
    package func drag(to progress: JSONValue, steps: Int) {
        process.write("drag \(steps) \(progress.text)")
    }

    /// Has it serialize and end transitions one after the other, so many times over.
    package func perform(_ transitions: [JSONValue], count: Int) {
        process.write("perform \(count) \(JSONValue.array(transitions).text)")
    }

    /// Has it take the lock of a scene again and again, and touch a shared file each time.
    package func contend(for scene: String, count: Int, file: String) {
        process.write("contend \(scene) \(count) \(file)")
    }

    /// What it has seen go wrong since it was told to contend, or to perform, once it is done.
    ///
    /// - Throws: `ChildProcessError` if it does not get done.
    package func violations(within limit: Duration) throws(ChildProcessError) -> [String] {
        var lines: [String] = []
        while true {
            let line = try process.readLine(within: limit)
            if line == "done" { return lines }
            lines.append(line)
        }
    }

    /// Ends it at once, and waits until it is gone.
    package func kill() throws(ChildProcessError) {
        process.signal(SIGKILL)
        try waitForExit()
    }

    /// Ends it at once, and waits for nothing.
    package func beginToKill() {
        process.signal(SIGKILL)
    }

    /// Waits until it is gone.
    ///
    /// - Throws: `ChildProcessError.timedOut` if it does not go.
    package func waitForExit() throws(ChildProcessError) {
        try process.waitForExit()
    }

    /// Pauses it where it is.
    package func pause() {
        process.signal(SIGSTOP)
    }

    /// Lets it go on.
    package func resume() {
        process.signal(SIGCONT)
    }
}

/// What the daemon answered to a stand-in view.
package struct ViewAnswer: Hashable, Sendable {
    package let status: Int
    package let json: JSONValue

    /// A member of the body.
    package subscript(_ name: String) -> JSONValue { json[name] }
}

/// An event, as a stand-in view has got it.
package struct ViewEvent: Hashable, Sendable {
    package let name: String
    package let json: JSONValue

    /// A member of what it tells.
    package subscript(_ member: String) -> JSONValue { json[member] }
}
