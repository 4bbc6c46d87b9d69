import ArbiterTestKit
import Glibc
import Testing

extension Integration {
    /// Requests that are repeated because their client does not know whether the first one arrived.
    @Suite struct Idempotency {
        private func ask(
            _ client: WireClient, _ verb: String, _ body: JSONValue = ["client": "view"]
        ) throws -> WireResponse {
            try client.post("/transitions/\(verb)", body, headers: ["Idempotency-Key: 0123456789abcdef"])
        }

        @Test func `a key is known after a crash too`() throws {
            let directory = try TemporaryDirectory()
            let daemon = try DaemonProcess(in: directory)
            let first = try ask(try daemon.connect(), "start")
            daemon.signal(SIGKILL)
            try daemon.waitForExit()
            let second = try DaemonProcess(listen: "127.0.0.1:\(daemon.port)", in: directory)
            let client = try second.connect()
            let again = try ask(client, "start")
            #expect(again.status == 201)
            for name in ["id", "token", "fence"] { #expect(again[name] == first[name]) }
            #expect(try ask(client, "start", ["client": "another"]).status == 422)
            #expect(try ask(client, "serialize").status == 422)
            #expect(try client.end(first).status == 200)
            #expect(try client.transitions().count == 1)
        }
    }
}
