internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// Sessions by which locks live, over real sockets.
    @Suite struct Sessions {
        private let daemon: DaemonProcess
        private let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private enum Leaving: CaseIterable {
            case close, reset
        }

        private func header(_ session: WireResponse) -> [String] {
            ["Arbiter-Session: \(session["token"].string ?? "")"]
        }

        /// Makes the scene, so that it can be followed.
        private func makeScene() throws {
            #expect(try client.end(try client.start()).status == 200)
        }

        @Test(arguments: Leaving.allCases)
        private func `a process whose stream closes lets go of its locks after the grace`(leaving: Leaving) throws {
            try makeScene()
            let session = try client.post("/sessions", ["client": "doomed", "ttlSeconds": 3600])
            #expect(session.status == 201)
            let stream = try WireEventStream(port: daemon.port, headers: header(session))
            #expect(stream.head.status == 200)
            let held = try client.post("/transitions/start", ["leaseSeconds": 300], headers: header(session))
            #expect(held["session"] == session["id"])
            #expect(try stream.receive().first?.json["id"] == held["id"])
            let observer = try WireEventStream(port: daemon.port)
            let next = try daemon.connect()
            try next.park()
            #expect(try observer.receive().map(\.name) == ["transition.queued"])

            switch leaving {
            case .close: stream.client.close()
            case .reset: stream.client.reset()
            }

            let granted = try next.receive()
            #expect(granted.status == 201)
            #expect(try client.record(of: held["id"]).json.ending == "expired/session-lost")
            let told = try observer.receive(3)
            #expect(told.map(\.name) == ["transition.ended", "session.ended", "transition.running"])
            #expect(told[1].json["session"] == session["id"])
            #expect(try client.post("/sessions/renew", headers: header(session)).status == 401)
        }

        @Test func `a session outlives the daemon, and its client attaches again`() throws {
            try makeScene()
            let session = try client.post("/sessions", ["ttlSeconds": 60])
            let held = try client.post("/transitions/start", ["leaseSeconds": 300], headers: header(session))
            let stream = try WireEventStream(port: daemon.port, headers: header(session))
            #expect(stream.head.status == 200)
            daemon.signal(SIGKILL)
            #expect(try daemon.waitForExit() == .signalled(SIGKILL))

            let second = try DaemonProcess(in: daemon.directory)
            let again = try second.connect()
            #expect(try again.record(of: held["id"])["state"].string == "running")
            let attached = try WireEventStream(port: second.port, headers: header(session))
            #expect(attached.head.status == 200)
            #expect(try again.post("/sessions/end", headers: header(session)).status == 200)
            #expect(try attached.receive(2).map(\.name) == ["transition.ended", "session.ended"])
        }

        @Test func `fingers and participants over the wire`() throws {
            let master = try client.post("/sessions", ["client": "master"])
            let push = try client.start(["interactive": true, "participants": ["master"], "readySeconds": 60])
            #expect(push["state"].string == "preparing")
            let waiting = try daemon.connect()
            try waiting.send(
                "POST", "/transitions/await", body: push.credentials.adding(["until": "running"]).text)
            let ready = try client.post(
                "/transitions/ready", ["id": push["id"], "client": "master"], headers: header(master))
            #expect(ready["state"].string == "running")
            #expect(try waiting.receive()["state"].string == "running")
            let moved = try client.post("/transitions/progress", push.credentials.adding(["fraction": 0.75]))
            #expect(moved["applied"] == true)
            let released = try client.post("/transitions/release", push.credentials)
            #expect(released["decision"].string == "finish")
            #expect(try client.end(push).status == 200)
        }
    }
}
