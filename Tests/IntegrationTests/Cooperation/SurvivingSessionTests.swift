internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// Sessions that survive a restart of the daemon.
    @Suite struct SurvivingSessions {
        private let daemon: DaemonProcess
        private let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        private func header(_ session: WireResponse) -> [String] {
            ["Arbiter-Session: \(session["token"].string ?? "")"]
        }

        @Test func `a session outlives the daemon, and its client attaches again`() throws {
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
    }
}
