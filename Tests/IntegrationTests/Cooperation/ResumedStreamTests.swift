internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension Integration {
    /// Streams that are resumed where they were after the daemon was killed.
    @Suite struct ResumedStreams {
        private static let scene = "resumed"
        private static let views = 3
        private static let rounds = 15

        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }

        /// A tab with its own stack for each view, so that the views do not wait for one another.
        private static let storyboard: JSONValue = [
            "root": [
                "id": "tabs", "kind": "tabs",
                "children": .array(
                    (0..<2 * views).map { ["id": "nav-\($0)", "kind": "navigation", "children": ["root-\($0)"]] }),
            ]
        ]

        private static func pushAndPop(in tab: Int) -> [JSONValue] {
            let (navigation, controller) = (JSONValue.string("nav-\(tab)"), JSONValue.string("pushed-\(tab)"))
            let common: JSONValue = ["scene": .string(scene), "scope": "operation"]
            return [
                common.adding(["operation": ["type": "push", "navigation": navigation, "controller": controller]]),
                common.adding(["operation": ["type": "pop", "navigation": navigation]]),
            ]
        }

        private func follow(_ daemon: DaemonProcess, after number: UInt64 = 0) throws -> WireEventStream {
            let stream = try daemon.follow(Self.scene, headers: ["Last-Event-ID: \(number)"])
            #expect(stream.head.status == 200)
            return stream
        }

        /// Reads until this many more transitions have ended.
        private func read(
            _ stream: WireEventStream, untilEnded count: Int, into events: inout [ReceivedEvent]
        ) throws {
            var ended = 0
            while ended < count {
                let event = try #require(try stream.next())
                events.append(event)
                if event.name == "transition.ended" { ended += 1 }
            }
        }

        /// Reads up to the last event.
        private func readRest(
            _ stream: WireEventStream, of daemon: DaemonProcess, into events: inout [ReceivedEvent]
        ) throws {
            let scene = try daemon.connect().get("/scenes/\(Self.scene)")
            let last = UInt64(try #require(scene["lastEvent"].integer))
            while events.last?.id != last { events.append(try #require(try stream.next())) }
        }

        /// Reads until the daemon is dead, and returns the events before that.
        private func readUntilCut(_ stream: WireEventStream) -> [ReceivedEvent] {
            var events: [ReceivedEvent] = []
            while let event = try? stream.next() { events.append(event) }
            return events
        }

        private func restart(_ daemon: DaemonProcess) throws -> DaemonProcess {
            daemon.signal(SIGKILL)
            #expect(try daemon.waitForExit() == .signalled(SIGKILL))
            return try DaemonProcess(listen: "127.0.0.1:\(daemon.port)", in: directory)
        }

        @Test func `no event is lost or told twice over three deaths of the daemon`() throws {
            var daemon = try DaemonProcess(in: directory)
            #expect(try daemon.connect().declare(Self.storyboard, in: Self.scene).status == 200)
            var events: [ReceivedEvent] = []
            for round in 0..<4 {
                let stream = try follow(daemon, after: events.last?.id ?? 0)
                let views = try (0..<Self.views).map { try ViewProcess("view-\(round)-\($0)", of: daemon) }
                for (number, view) in views.enumerated() {
                    view.perform(Self.pushAndPop(in: number), count: Self.rounds)
                }
                try read(stream, untilEnded: Self.views * Self.rounds * 2, into: &events)
                for view in views { #expect(try view.violations(within: .seconds(20)) == []) }
                try readRest(stream, of: daemon, into: &events)
                daemon = try restart(daemon)
                #expect(readUntilCut(stream) == [])
            }
            #expect(events.compactMap(\.id) == (1...UInt64(events.count)).map { $0 })
            #expect(!events.contains { $0.name == "reset" })
            let revisions = events.filter { $0.name == "hierarchy.changed" }.compactMap { $0.json["revision"].integer }
            #expect(revisions == Array(1...(1 + 4 * Self.views * Self.rounds * 2)))
            // Each transition has one event for its start and one for its end.
            for name in ["transition.running", "transition.ended"] {
                let ids = events.filter { $0.name == name }.map { $0.json["id"] }
                #expect(ids.count == 4 * Self.views * Self.rounds * 2)
                #expect(Set(ids).count == ids.count)
            }
        }

        @Test func `what a stream told in the midst of work is true after the daemon died of it`() throws {
            var daemon = try DaemonProcess(in: directory)
            #expect(try daemon.connect().declare(Self.storyboard, in: Self.scene).status == 200)
            let first = try follow(daemon)
            let doomed = try (0..<Self.views).map { try ViewProcess("doomed-\($0)", of: daemon) }
            for (number, view) in doomed.enumerated() { view.perform(Self.pushAndPop(in: number), count: 1000) }
            var events: [ReceivedEvent] = []
            try read(first, untilEnded: 40, into: &events)
            daemon = try restart(daemon)
            events += readUntilCut(first)
            let last = try #require(events.last?.id)
            #expect(events.compactMap(\.id) == (1...last).map { $0 })
            let client = try daemon.connect()
            for event in events where event.name == "transition.ended" {
                let record = try client.record(of: event.json["id"])
                for member in ["outcome", "revision", "inserted", "removed", "endedAt"] {
                    #expect(record[member] == event.json[member])
                }
            }

            // The missing events come now, one by one or in a reset.
            let second = try follow(daemon, after: last)
            let views = try (0..<Self.views).map { try ViewProcess("view-\($0)", of: daemon) }
            for (number, view) in views.enumerated() {
                view.perform(Self.pushAndPop(in: Self.views + number), count: Self.rounds)
            }
            var more: [ReceivedEvent] = []
            try read(second, untilEnded: Self.views * Self.rounds * 2, into: &more)
            for view in views { #expect(try view.violations(within: .seconds(20)) == []) }
            try readRest(second, of: daemon, into: &more)
            var numbers = more.compactMap(\.id)
            if more.first?.name == "reset" {
                let reset = try #require(more.first)
                #expect(reset.json["lastEvent"].integer.map(UInt64.init) == reset.id)
                #expect(numbers.removeFirst() > last)
            }
            let next = try #require(numbers.first)
            #expect(more.first?.name == "reset" ? next > last : next == last + 1)
            #expect(numbers == (next..<next + UInt64(numbers.count)).map { $0 })
            #expect(more.count { $0.name == "reset" } <= 1)
        }
    }
}
