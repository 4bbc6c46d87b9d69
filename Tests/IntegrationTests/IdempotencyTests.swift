import ArbiterTestKit
import Glibc
import Testing

extension Integration {
    /// Requests that are repeated because their client does not know whether the first one arrived.
    @Suite struct Idempotency {
        private static let key = "0123456789abcdef"
        private static let another = "fedcba9876543210"

        private let directory: TemporaryDirectory
        private let daemon: DaemonProcess
        private let client: WireClient

        init() throws {
            directory = try TemporaryDirectory()
            daemon = try DaemonProcess(in: directory)
            client = try daemon.connect()
        }

        private func ask(
            _ verb: String, key: String, _ body: JSONValue = ["client": "view"], over client: WireClient? = nil
        ) throws -> WireResponse {
            try (client ?? self.client).post("/transitions/\(verb)", body, headers: ["Idempotency-Key: \(key)"])
        }

        @Test(arguments: ["start", "serialize"])
        func `the same key and body give the same transition and token`(verb: String) throws {
            let first = try ask(verb, key: Self.key)
            let again = try ask(verb, key: Self.key)
            #expect([first.status, again.status] == [201, 201])
            #expect(first["token"].string != nil)
            for name in ["id", "token", "fence"] { #expect(again[name] == first[name]) }
            #expect(try client.transitions().count == 1)
            #expect(try ask(verb, key: Self.another).status == (verb == "start" ? 409 : 202))
        }

        @Test func `a ticket is the same ticket, and at its end the same end`() throws {
            let holder = try client.start()
            let ticket = try ask("serialize", key: Self.key)
            let again = try ask("serialize", key: Self.key)
            #expect([ticket.status, again.status] == [202, 202])
            #expect(again["id"] == ticket["id"])
            #expect(again["token"] == ticket["token"])
            #expect(again["position"].integer == 1)
            #expect(try client.end(ticket, ["outcome": "cancelled"]).status == 200)
            let ended = try ask("serialize", key: Self.key)
            #expect(ended.status == 200)
            #expect(ended["id"] == ticket["id"])
            #expect(ended["outcome"] == "cancelled")
            #expect(try client.end(holder).status == 200)
        }

        @Test func `another body, or another call, with the same key is refused`() throws {
            let first = try ask("start", key: Self.key)
            for (verb, body) in [
                ("start", ["client": "another"]), ("start", [:]), ("start", ["client": "view", "leaseSeconds": 11]),
                ("serialize", ["client": "view"]),
            ] as [(String, JSONValue)] {
                let refused = try ask(verb, key: Self.key, body)
                #expect(refused.status == 422, "\(verb) \(body)")
                #expect(refused["code"] == "idempotency-key-reused")
            }
            #expect(try client.transitions().count == 1)
            #expect(try client.record(of: first["id"])["state"] == "running")
        }

        @Test func `the same key in another scene is another key`() throws {
            let first = try ask("start", key: Self.key)
            let body: JSONValue = ["client": "view", "scene": "other"]
            let other = try ask("start", key: Self.key, body)
            #expect([first.status, other.status] == [201, 201])
            #expect(other["id"] != first["id"])
            #expect(try ask("start", key: Self.key, body)["id"] == other["id"])
            #expect(try ask("start", key: Self.key)["id"] == first["id"])
            let refused = try ask("start", key: Self.key, body.adding(["leaseSeconds": 11]))
            #expect(refused["code"] == "idempotency-key-reused")
        }

        @Test func `a key is known after a crash too`() throws {
            let first = try ask("start", key: Self.key)
            daemon.signal(SIGKILL)
            try daemon.waitForExit()
            let second = try DaemonProcess(listen: "127.0.0.1:\(daemon.port)", in: directory)
            let client = try second.connect()
            let again = try ask("start", key: Self.key, over: client)
            #expect(again.status == 201)
            for name in ["id", "token", "fence"] { #expect(again[name] == first[name]) }
            #expect(try ask("start", key: Self.key, ["client": "another"], over: client).status == 422)
            #expect(try ask("serialize", key: Self.key, over: client).status == 422)
            #expect(try client.end(first).status == 200)
            #expect(try client.transitions().count == 1)
        }

        @Test(arguments: [
            "", "two words of sixteen", "ünï0123456789abcdef", String(repeating: "k", count: 15),
            String(repeating: "k", count: 129),
        ])
        func `a key that is none, or that somebody could guess, is refused`(key: String) throws {
            let refused = try ask("start", key: key)
            #expect(refused.status == 400)
            #expect(refused["code"] == "invalid-field")
            #expect(refused["field"] == "Idempotency-Key")
            #expect(
                refused["detail"].string
                    == "An idempotency key must have 16 to 128 visible ASCII characters: draw it at random, because whoever "
                    + "has it gets the token.")
            #expect(try client.transitions() == [])
        }

        @Test(arguments: [16, 128])
        func `the shortest key and the longest are keys`(length: Int) throws {
            let key = String(repeating: "~", count: length)
            let first = try ask("start", key: key)
            #expect(first.status == 201)
            #expect(try ask("start", key: key)["id"] == first["id"])
        }
    }
}
