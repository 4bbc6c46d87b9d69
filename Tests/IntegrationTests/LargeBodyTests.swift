internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// A storyboard may be larger than other bodies, up to a limit of its own.
    @Suite struct LargeBodies {
        private static let chunked = ["Transfer-Encoding: chunked", "Content-Type: application/json"]

        private let daemon: DaemonProcess
        private let client: WireClient

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
        }

        /// A storyboard of exactly this many bytes.
        private func storyboard(_ count: Int) -> String {
            let (start, end) = (#"{"root": "a""#, "}")
            return start + String(repeating: " ", count: count - start.utf8.count - end.utf8.count) + end
        }

        private let limit = 4 * 1024 * 1024

        @Test func `a storyboard may be as large as its limit says`() throws {
            for count in [65_536, 65_537, 1_048_577, limit] {
                let declared = try client.request("PUT", "/scenes/main/storyboard", body: storyboard(count))
                #expect(declared.status == 200, "\(count)")
            }
        }

        @Test func `a storyboard that is larger is refused when it has been read`() throws {
            let refused = try client.request("PUT", "/scenes/main/storyboard", body: storyboard(limit + 1))
            #expect(refused.status == 413)
            #expect(refused["code"] == "body-too-large")
            #expect(refused["detail"] == "A body may have 4194304 bytes here.")
            #expect(try client.get("/scenes").json == ["scenes": []])
        }

        @Test func `a storyboard that comes in chunks counts as it comes`() throws {
            let chunk = String(repeating: " ", count: 64 * 1024)
            try client.send("PUT", "/scenes/main/storyboard", headers: Self.chunked)
            for _ in 0..<65 { try client.send("10000\r\n\(chunk)\r\n".utf8) }
            try client.send("0\r\n\r\n".utf8)
            #expect(try client.receive().status == 413)

            try client.send("PUT", "/scenes/main/storyboard", headers: Self.chunked)
            for _ in 0..<20 { try client.send("10000\r\n\(chunk)\r\n".utf8) }
            try client.send("2\r\n{}\r\n0\r\n\r\n".utf8)
            #expect(try client.receive().status == 200)
        }

        @Test(arguments: [
            ("POST", "/scenes/main/storyboard"), ("PUT", "/scenes/main"), ("POST", "/transitions/start"),
            ("DELETE", "/scenes/main"), ("GET", "/scenes/main/storyboard"),
        ])
        func `everywhere else a body may be no larger than before`(method: String, path: String) throws {
            let refused = try client.request(method, path, body: storyboard(65_537))
            #expect(refused.status == 413)
            #expect(refused["detail"] == "A body may have 65536 bytes here.")
        }

        @Test func `so many large bodies are received at once, and not one more`() throws {
            let body = storyboard(100_000)
            let cut = body.index(body.startIndex, offsetBy: 70_000)
            var senders: [WireClient] = []
            func declare() throws -> WireResponse {
                try client.request("PUT", "/scenes/main/storyboard", body: body)
            }
            // Some senders may come while a declaration has the last place, and be refused later.
            let isRefused = try eventually {
                let sender = try daemon.connect()
                let path = "/scenes/s\(senders.count)/storyboard"
                try sender.send(
                    "PUT \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
                        .utf8)
                try sender.send(body[..<cut].utf8)
                senders.append(sender)
                let refused = try declare()
                guard refused.status == 503 else { return false }
                #expect(refused["code"] == "too-many-connections")
                #expect(refused.header("Retry-After") == "1")
                return true
            }
            #expect(isRefused)
            // The last place may still belong to the declaration that has just ended.
            let metrics = try client.get("/metrics").text
            #expect(["15", "16"].contains { metrics.contains("\narbiter_large_bodies \($0)\n") })
            // A sender that had not been read yet may get a place that another one has left.
            let statuses = try senders.map { sender in
                try sender.send(body[cut...].utf8)
                return try sender.receive().status
            }
            #expect(statuses.count { $0 == 200 } >= 15 && statuses.allSatisfy { [200, 503].contains($0) })
            #expect(try eventually { try declare().status == 200 })
        }
    }
}
