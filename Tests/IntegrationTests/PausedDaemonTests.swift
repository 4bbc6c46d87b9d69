internal import ArbiterTestKit
internal import Foundation
internal import Glibc
internal import Testing

extension Integration {
    /// The daemon's process is stopped for longer than leases, tickets and sessions last.
    @Suite struct PausedDaemon {
        let daemon: DaemonProcess
        let client: WireClient
        let waiter: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            waiter = try daemon.connect()
        }

        private func renew(_ transition: WireResponse) throws -> WireClient {
            let client = try daemon.connect()
            try client.send("POST", "/transitions/renew", body: transition.credentials.text)
            return client
        }

        /// Stops the process, sends something, and continues the process when leases would have run out.
        private func pause(for duration: Duration, _ send: () throws -> Void) throws {
            daemon.signal(SIGSTOP)
            defer { daemon.signal(SIGCONT) }
            try #require(eventually { daemon.isStopped })
            try send()
            // No request is answered meanwhile, so this time passes for the clients.
            #expect(throws: WireError.timedOut(received: "")) { _ = try waiter.receive(within: duration) }
        }

        @Test func `who renews while the daemon is stopped loses nothing`() throws {
            let holder = try client.start(["leaseSeconds": 10])
            let ticket = try client.serialize(["ticketSeconds": 10])
            #expect(ticket.status == 202)
            try waiter.park(wait: 11)
            try #require(try client.isQueueLong(2))

            let sessions = try daemon.connect()
            let session = try sessions.post("/sessions", ["ttlSeconds": 10])
            #expect(session.status == 201)
            var renewals: [WireClient] = []
            try pause(for: .seconds(12)) {
                renewals = [try renew(holder), try renew(ticket)]
                try sessions.send(
                    "POST", "/sessions/renew", headers: ["Arbiter-Session: \(session["token"].string ?? "")"])
            }

            for renewal in renewals { #expect(try renewal.receive().status == 200) }
            #expect(try sessions.receive().status == 200)
            // The wait continues too, and is answered when its milestone is reached.
            #expect(!waiter.hasAnswer)
            #expect(try client.end(ticket, ["outcome": "cancelled"]).status == 200)
            #expect(try client.end(holder).status == 200)
            #expect(try waiter.receive().status == 201)
        }

        @Test func `what a client has sent before it was killed keeps its session no longer alive`() throws {
            let session = try client.post("/sessions", ["ttlSeconds": 3600])
            let header = "Arbiter-Session: \(session["token"].string ?? "")"
            let held = try client.post("/transitions/start", ["leaseSeconds": 300], headers: [header])
            let stream = try daemon.follow("main", headers: [header])
            try stream.receiveComments(1)
            let last = try daemon.connect()
            #expect(try last.get("/livez").status == 200)
            stream.client.close()
            try #require(try client.areParked(0))
            // The daemon reads the request when the connection has been closed.
            daemon.signal(SIGSTOP)
            try #require(eventually { daemon.isStopped })
            try last.send(
                "POST", "/transitions/start", headers: [header],
                body: #"{"scene":"other","leaseSeconds":300}"#)
            last.close()
            daemon.signal(SIGCONT)
            #expect(try client.awaitEnd(of: held["id"]).json.ending == "expired/session-lost")
            // It was carried out nevertheless.
            #expect(try client.transitions(in: "other").map(\.ending) == ["expired/session-lost"])
        }

        @Test func `after a pause a lease runs on, and ends`() throws {
            let holder = try client.start(["leaseSeconds": 6])
            try pause(for: .seconds(8)) {
                try waiter.send("GET", "/transitions/await?id=\(holder["id"].string ?? "")&until=ended&wait=60")
            }
            #expect(try client.record(of: holder["id"])["state"] == "running")
            #expect(try waiter.receive().json.ending == "expired/lease")
        }
    }
}

extension DaemonProcess {
    /// Whether its process is stopped, according to the state after its name in /proc.
    var isStopped: Bool {
        let stat = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
        return stat?.split(separator: ")").last?.hasPrefix(" T") == true
    }
}
