internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Transitions that several processes draw together.
    @Suite struct Participating {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let master: ViewProcess
        private let detail: ViewProcess

        private static let scene = "together"
        /// Longer than any of the tests, so that it ends nothing in them.
        private static let request: JSONValue = [
            "scene": .string(scene), "leaseSeconds": 300, "readySeconds": 60,
            "participants": [["client": "master"], ["client": "detail"]],
            "operation": ["type": "push", "navigation": "nav", "controller": "editor"],
        ]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            let storyboard: JSONValue = ["root": ["id": "nav", "kind": "navigation", "children": ["list"]]]
            #expect(try client.declare(storyboard, in: Self.scene).status == 200)
            master = try ViewProcess("master", of: daemon)
            detail = try ViewProcess("detail", of: daemon)
            for view in [master, detail] {
                #expect(try view.attend(Self.scene).map(\.status) == [201])
            }
        }

        private func ready(_ view: ViewProcess, _ name: String, for transition: WireResponse) throws -> ViewAnswer {
            try view.post("/transitions/ready", ["id": transition["id"], "client": .string(name)])
        }

        private func running(_ transition: WireResponse) throws -> JSONValue {
            try client.get("/transitions/await?id=\(transition["id"].string ?? "")&until=running&wait=15").json
        }

        private func states(_ transition: JSONValue) -> [JSONValue] {
            transition["participants"].elements.map { $0["state"] }
        }

        @Test func `a transition runs as soon as everybody is ready`() throws {
            let transition = try client.start(Self.request)
            #expect(transition.status == 201)
            #expect(transition["state"] == "preparing")
            #expect(try ready(master, "master", for: transition)["state"] == "preparing")
            // No client can report for another.
            #expect(try ready(master, "detail", for: transition).status == 403)
            #expect(try ready(detail, "detail", for: transition)["state"] == "running")
            #expect(states(try running(transition)) == ["ready", "ready"])
        }

        @Test func `a participant that is killed while it prepares is not waited for`() throws {
            let transition = try client.start(Self.request)
            #expect(try ready(detail, "detail", for: transition)["state"] == "preparing")
            detail.watch(upTo: "transition.running")

            try master.kill()
            // Long before the minute that it had to become ready.
            let running = try running(transition)
            #expect(running["state"] == "running")
            #expect(states(running) == ["gone", "ready"])
            #expect(running["laggards"] == [])
            let told = try #require(try detail.events(upTo: "transition.running").last)
            #expect(told["id"] == transition["id"])
            #expect(states(told.json) == ["gone", "ready"])

            #expect(try client.end(transition)["inserted"] == ["editor"])
            #expect(try client.tree(of: Self.scene).childNames == ["list", "editor"])
        }

        @Test func `the one who is left is waited for, after the other was killed`() throws {
            let transition = try client.start(Self.request)
            try master.kill()
            #expect(
                try eventually { try states(client.record(of: transition["id"]).json) == ["gone", "waiting"] })
            #expect(try client.record(of: transition["id"])["state"] == "preparing")
            #expect(try ready(detail, "detail", for: transition)["state"] == "running")
        }

        @Test func `one who was ready and then killed was ready`() throws {
            let transition = try client.start(Self.request)
            #expect(try ready(master, "master", for: transition)["state"] == "preparing")
            detail.watch(upTo: "session.ended")
            try master.kill()
            let told = try #require(try detail.events(upTo: "session.ended").last)
            #expect(told["client"] == "master")
            #expect(told["reason"] == "expired")
            #expect(try client.record(of: transition["id"])["state"] == "preparing")
            #expect(states(try ready(detail, "detail", for: transition).json) == ["ready", "ready"])
        }
    }
}
