import ArbiterCore
import ArbiterTestKit
import Glibc
import Testing

extension Integration {
    /// What a client notices when the daemon is killed and started again.
    @Suite struct Restarts {
        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }

        private func daemon(_ arguments: [String] = []) throws -> DaemonProcess {
            try DaemonProcess(arguments, in: directory)
        }

        private func kill(_ daemon: DaemonProcess) throws {
            daemon.signal(SIGKILL)
            #expect(try daemon.waitForExit() == .signalled(SIGKILL))
        }

        private func ask(
            _ client: WireClient, _ verb: String, key: String, _ body: JSONValue = [:]
        ) throws -> WireResponse {
            try client.post("/transitions/\(verb)", body, headers: ["Idempotency-Key: 0123456789-\(key)"])
        }

        @Test func `whoever was parked comes back by asking again, and keeps its place`() throws {
            let first = try daemon()
            let client = try first.connect()
            let holder = try ask(client, "start", key: "holder")
            #expect(holder.status == 201)
            let parked = try (1...3).map { number in
                let waiter = try first.connect()
                let body: JSONValue = ["wait": 60, "client": .string("waiter-\(number)")]
                try waiter.send(
                    "POST", "/transitions/serialize", headers: ["Idempotency-Key: 0123456789-waiter-\(number)"],
                    body: body.text)
                try #require(try client.isQueueLong(number))
                return waiter
            }
            let before = try client.transitions()
            try kill(first)
            for waiter in parked { #expect(waiter.isClosedByPeer()) }

            let second = try daemon()
            let again = try second.connect()
            #expect(try again.transitions().map { $0["id"] } == before.map { $0["id"] })
            // In any order.
            let returned = try [3, 1, 2].map { number in
                let waiter = try second.connect()
                let body: JSONValue = ["wait": 60, "client": .string("waiter-\(number)")]
                try waiter.send(
                    "POST", "/transitions/serialize", headers: ["Idempotency-Key: 0123456789-waiter-\(number)"],
                    body: body.text)
                return (number, waiter)
            }.sorted { $0.0 < $1.0 }
            var running = holder
            // The daemon was killed, so fences have jumped once, and continue from there.
            var jump = Int(Limits.fenceJump)
            for (number, waiter) in returned {
                #expect(try again.end(running).status == 200)
                let granted = try waiter.receive()
                #expect(granted.status == 201)
                #expect(granted["id"] == before[number]["id"])
                #expect(granted["fence"].integer == running["fence"].integer.map { $0 + 1 + jump })
                jump = 0
                running = granted
            }
            #expect(try again.transitions().count == 4)
        }

        @Test func `a lease starts afresh after a restart`() throws {
            let first = try daemon()
            let held = try first.connect().start(["leaseSeconds": 60])
            try kill(first)

            let second = try daemon()
            let client = try second.connect()
            let record = try client.record(of: held["id"])
            #expect(record["state"] == "running")
            #expect(record["fence"] == held["fence"])
            let remaining = try #require(record["leaseRemaining"].number)
            // The time that has passed is at most the duration of this request, however slow the machine is.
            #expect(remaining > 0)
            #expect(remaining <= 60)
            #expect(try client.end(held).status == 200)
        }

        @Test func `a lease that would be over runs out after a restart too`() throws {
            let first = try daemon()
            let held = try first.connect().start(["leaseSeconds": 0.2])
            try kill(first)
            let second = try daemon()
            let client = try second.connect()
            #expect(try client.awaitEnd(of: held["id"]).json.ending == "expired/lease")
        }

        @Test func `a journal in memory forgets`() throws {
            let first = try daemon(["--journal", "memory"])
            let held = try first.connect().start()
            #expect(held.status == 201)
            try kill(first)
            let second = try daemon(["--journal", "memory"])
            let client = try second.connect()
            #expect(try client.record(of: held["id"]).status == 404)
            #expect(try client.transitions() == [])
            #expect(try client.start().status == 201)
        }

        @Test func `a second daemon on the same directory is refused in one line`() throws {
            let first = try daemon()
            let second = try ChildProcess("arbiterd", ["--listen", "127.0.0.1:0", "--data", directory.path])
            #expect(try second.waitForExit() == .exited(EX_UNAVAILABLE))
            #expect(second.restOfOutput == "")
            let errors = second.standardError
            #expect(errors.split(separator: "\n").count == 1)
            #expect(errors.hasPrefix("arbiterd: "))
            #expect(errors.contains(directory.path))
            #expect(try first.connect().get("/livez").status == 200)
        }

        @Test func `a journal that cannot be used is said in one line`() throws {
            let first = try daemon()
            _ = try first.connect().start()
            first.signal(SIGTERM)
            #expect(try first.waitForExit() == .exited(0))
            let file = directory.path + "/log-1"
            #expect(unsafe truncate(file, 20) == 0)
            let second = try ChildProcess("arbiterd", ["--listen", "127.0.0.1:0", "--data", directory.path])
            #expect(try second.waitForExit() == .exited(EX_DATAERR))
            #expect(second.standardError.split(separator: "\n").count == 1)
            #expect(second.standardError.contains(file))
        }
    }
}
