internal import ArbiterCore
internal import ArbiterHTTP
internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// Server-sent events over real sockets.
    @Suite struct EventStreams {
        init() {
            #expect(DescriptorLimit.raise(to: 8192) >= 8192)
        }

        @Test func `events arrive one by one, each on a stream that was asleep`() throws {
            let server = try StreamServer()
            let stream = try server.follow()
            #expect(stream.head.header("Content-Type") == "text/event-stream")
            #expect(stream.head.header("Cache-Control") == "no-store")
            #expect(stream.head.header("X-Request-Id") != nil)
            for number in UInt64(1)...1000 {
                server.publish(number...number)
                #expect(try stream.receive().map(\.id) == [number])
            }
            #expect(stream.text.comments == 1)
            #expect(stream.text.retry == 1000)
        }

        @Test func `no event is missed for coming while a stream falls asleep`() throws {
            let server = try StreamServer()
            let streams = try (0..<16).map { _ in try server.follow() }
            for round in UInt64(0)..<100 {
                let numbers = (20 * round + 1)...(20 * round + 20)
                // The next event comes when one of them has sent the last one, and falls asleep.
                let first = Int(round) % streams.count
                for number in numbers {
                    server.publish(number...number)
                    try #require(try streams[first].receive(1).map(\.id) == [number], "round \(round)")
                }
                for stream in streams[..<first] + streams[(first + 1)...] {
                    try #require(try stream.receive(20).map(\.id) == numbers.map { $0 }, "round \(round)")
                }
            }
        }

        @Test func `a stream is resumed without a gap`() throws {
            let server = try StreamServer()
            server.publish(1...500)
            let first = try server.follow("?since=0")
            #expect(try first.receive(500).map(\.id) == (1...500).map { $0 })
            first.client.close()
            server.publish(501...900)
            let second = try server.follow(headers: ["Last-Event-ID: 500"])
            #expect(try second.receive(400).map(\.id) == (501...900).map { $0 })
        }

        @Test func `an event longer than any buffer arrives whole`() throws {
            let server = try StreamServer()
            let stream = try server.follow()
            server.hub.publish([.sample(1, controllers: 10_000)])
            let event = try #require(try stream.receive().first)
            #expect(event.json["inserted"].elements.count == 10_000)
        }

        @Test func `a silent stream says that it is alive`() throws {
            var limits = EventLimits()
            limits.longestSilence = .milliseconds(100)
            let server = try StreamServer(limits: limits)
            let stream = try server.follow()
            #expect(stream.head.header("Arbiter-Heartbeat-Seconds") == "0.1")
            try stream.receiveComments(5)
        }

        enum Leaving: CaseIterable {
            case close, reset, closeSending
        }

        @Test(arguments: Leaving.allCases)
        func `who leaves a stream that sleeps gives its place up at once`(leaving: Leaving) throws {
            let server = try StreamServer(parked: 1)
            for _ in 0..<20 {
                let stream = try #require(try server.followWhenThereIsPlace())
                #expect(try server.follow().head.status == 503)
                switch leaving {
                case .close: stream.client.close()
                case .reset: stream.client.reset()
                case .closeSending:
                    stream.client.closeSending()
                    try stream.receiveEnd()
                    #expect(stream.client.isClosedByPeer())
                }
            }
            #expect(try server.followWhenThereIsPlace() != nil)
        }

        @Test func `a thousand streams get every event, and can be closed and opened again`() throws {
            let server = try StreamServer(parked: 1000)
            for round in UInt64(0)..<2 {
                let streams = try (0..<1000).map { _ in try #require(try server.followWhenThereIsPlace()) }
                #expect(try server.follow().head.status == 503)
                let numbers = (round * 50 + 1)...(round * 50 + 50)
                server.publish(numbers)
                for stream in streams { #expect(try stream.receive(50).map(\.id) == numbers.map { $0 }) }
                for stream in streams { stream.client.close() }
            }
            #expect(try server.followWhenThereIsPlace() != nil)
        }

        @Test func `who never reads is cut off, and who reads gets everything`() throws {
            let server = try StreamServer(parked: 2)
            let (slow, quick) = (try server.follow(), try server.follow())
            var number: UInt64 = 0
            while number < 2000, try server.follow().head.status == 503 {
                number += 1
                server.hub.publish([.sample(number, controllers: 1000)])
                #expect(try quick.receive().map(\.id) == [number])
            }
            #expect(number < 2000)
            number += 1
            server.publish(number...number)
            #expect(try quick.receive().map(\.id) == [number])
            // What it gets when it reads at last is not a regular end of the body.
            #expect(throws: WireError.self) { try slow.receiveEnd() }
        }

        @Test func `the head of a stream is all that HEAD gets`() throws {
            let server = try StreamServer(parked: 1)
            let stream = try server.follow()
            for _ in 0..<3 {
                let client = try WireClient(port: server.port)
                let head = try client.request("HEAD", "/scenes/main/events")
                #expect(head.status == 200)
                #expect(head.header("Content-Type") == "text/event-stream")
                #expect(head.header("Content-Length") == nil)
                #expect(client.isClosedByPeer())
            }
            server.publish(1...1)
            #expect(try stream.receive().map(\.id) == [1])
        }

        @Test func `a client of HTTP 1.0 gets the events and then the end of the connection`() throws {
            let server = try StreamServer()
            server.publish(1...3)
            let client = try WireClient(port: server.port)
            try client.send("GET /scenes/main/events?since=0 HTTP/1.0\r\nHost: localhost\r\n\r\n".utf8)
            #expect(try client.receiveHead().status == 200)
            server.stop()
            let rest = try client.receiveUntilClosed()
            #expect(rest.contains("id: 3\n"))
            #expect(!rest.contains("\r\n"))
        }

        // MARK: The end

        @Test func `a stream that has ended leaves its connection as good as before`() throws {
            let server = try StreamServer()
            let stream = try server.follow()
            server.publish(1...3)
            server.hub.close()
            try stream.receiveEnd()
            #expect(stream.text.events.map(\.id) == [1, 2, 3])
            #expect(try stream.client.get("/livez").status == 200)
        }

        @Test func `a thousand streams end with the server, each behind its last event`() throws {
            let server = try StreamServer()
            let streams = try (0..<1000).map { _ in try server.follow() }
            server.publish(1...50)
            server.stop()
            // One that had to be cut would not end as it should.
            for stream in streams {
                try stream.receiveEnd()
                #expect(stream.text.events.map(\.id) == (1...50).map { $0 })
                #expect(stream.client.isClosedByPeer())
            }
        }

        @Test func `the daemon ends with a thousand streams open`() throws {
            let daemon = try DaemonProcess()
            #expect(try daemon.connect().start().status == 201)
            let streams = try (0..<1000).map { _ in try WireEventStream(port: daemon.port) }
            for stream in streams { try stream.receiveComments(1) }
            daemon.signal(SIGTERM)
            for stream in streams {
                try stream.receiveEnd()
                #expect(stream.client.isClosedByPeer())
            }
            #expect(try daemon.waitForExit() == .exited(0))
        }

        @Test func `who does not read keeps the daemon for a few seconds only`() throws {
            let server = try StreamServer()
            let stream = try server.follow()
            let numbers = UInt64(1)...200
            // More than the system buffers for it, and less than the limit at which it is cut off.
            server.hub.publish(numbers.map { .sample($0, controllers: 400) })
            server.stop()
            #expect(throws: WireError.self) { try stream.receiveEnd() }
        }
    }
}
