internal import ArbiterCore
internal import ArbiterTestKit
internal import Foundation

/// The commands of a stand-in view: each is a method, which reports its answer line by line.
struct View {
    private let port: UInt16
    private let name: String
    private let client: WireClient
    private let tell: (String) -> Void
    private var sessions: [AttendedSession] = []

    /// A session, and the event stream that keeps it alive.
    private struct AttendedSession {
        let header: String
        let stream: WireEventStream
    }

    /// Longer than any wait that the daemon allows.
    private static let patience = Duration.seconds(150)
    /// The frequency at which a screen is drawn.
    private static let framesPerSecond = 60.0

    init(port: UInt16, name: String, tell: @escaping (String) -> Void) throws {
        self.port = port
        self.name = name
        self.tell = tell
        client = try WireClient(port: port)
    }

    func request(_ method: String, _ path: String, _ body: String?) throws {
        let headers = sessions.isEmpty ? [[]] : sessions.map { [$0.header] }
        for headers in headers {
            tell(try client.request(method, path, headers: headers, body: body, within: Self.patience))
        }
    }

    mutating func attend(_ scene: String, count: Int) throws {
        guard let scene = SceneName(scene) else { throw Misunderstood(line: scene) }
        let body: JSONValue = ["client": .string(name), "ttlSeconds": 3600]
        for _ in 0..<count {
            let opened = try client.request("POST", "/sessions", body: body.text)
            let header = "Arbiter-Session: \(opened["token"].string ?? "")"
            let stream = try WireEventStream(port: port, scene: scene, headers: [header])
            // The first comment shows that the stream is attached to the session.
            try stream.receiveComments(1)
            sessions.append(AttendedSession(header: header, stream: stream))
            tell(opened)
        }
    }

    func tellEvents(upTo name: String) throws {
        guard let stream = sessions.first?.stream else { throw Misunderstood(line: name) }
        while let event = try stream.next(within: Self.patience) {
            tell("\(event.name) \(event.data)")
            if event.name == name { return }
        }
    }

    func drag(to body: String, steps: Int) throws {
        guard let last = JSONValue(body.utf8), let fraction = last["fraction"].number else {
            throw Misunderstood(line: body)
        }
        let begun = Date()
        for step in 1...steps {
            Thread.sleep(until: begun + Double(step) / Self.framesPerSecond)
            let moved = last.adding([
                "fraction": .number(fraction * Double(step) / Double(steps)), "sequence": .number(Double(step)),
            ])
            let answer = try client.request("POST", "/transitions/progress", body: moved.text)
            if step == steps { tell(answer) }
        }
    }

    func perform(_ bodies: String, count: Int) throws {
        guard let bodies = JSONValue(bodies.utf8)?.elements else { throw Misunderstood(line: bodies) }
        for body in Array(repeating: bodies, count: count).joined() {
            let asked = body.adding(["client": .string(name), "wait": 60])
            let granted = try client.request("POST", "/transitions/serialize", body: asked.text, within: Self.patience)
            let end: JSONValue = ["id": granted["id"], "token": granted["token"]]
            let ended = try client.request("POST", "/transitions/end", body: end.text)
            if ended["outcome"] != "completed" { tell("not completed: \(granted), \(ended)") }
        }
        tell("done")
    }

    func contend(for scene: String, count: Int, file: String) throws {
        try Contender(client: client, name: name, scene: scene, file: file, tell: tell).contend(count: count)
        tell("done")
    }

    private func tell(_ answer: WireResponse) {
        tell("\(answer.status) \(answer.text)")
    }
}
