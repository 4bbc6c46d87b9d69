internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension WireClient {
    func put(_ path: String, _ body: JSONValue) throws -> WireResponse {
        try request("PUT", path, body: body.text)
    }
}

extension Integration {
    /// The operations of transitions, over the wire.
    @Suite struct Hierarchies {
        private let directory: TemporaryDirectory
        private let daemon: DaemonProcess
        private let client: WireClient

        private static let storyboard: JSONValue = [
            "root": ["id": "nav", "kind": "navigation", "children": ["list"]],
            "segues": [["identifier": "edit", "source": "list", "kind": "show", "destination": "editor"]],
            "transitionTypes": [["name": "star", "duration": 1, "curve": "linear"]],
        ]
        private static let push: JSONValue = [
            "operation": ["type": "push", "navigation": "nav", "controller": "editor"], "animation": ["type": "star"],
        ]

        init() throws {
            directory = try TemporaryDirectory()
            daemon = try DaemonProcess(in: directory)
            client = try daemon.connect()
        }

        private func stack(_ client: WireClient) throws -> [JSONValue] {
            try client.get("/scenes/main")["hierarchy"]["children"].elements.map { $0["id"] }
        }

        @Test func `a scene is declared, changed and deleted`() throws {
            let declared = try client.put("/scenes/main/storyboard", Self.storyboard)
            #expect(declared.status == 200)
            #expect(declared.header("ETag") == "\"1\"")
            let push = try client.start(Self.push)
            #expect(push.status == 201)
            #expect(try stack(client) == ["list"])
            #expect(try client.end(push)["revision"] == 2)
            #expect(try stack(client) == ["list", "editor"])

            let deleted = try client.request("DELETE", "/scenes/main")
            #expect(deleted.status == 204)
            #expect(deleted.body.isEmpty)
            #expect(deleted.header("Content-Type") == nil)
            #expect(deleted.header("X-Request-Id") != nil)
            #expect(try client.get("/scenes/main/storyboard").status == 404)
        }

        @Test func `the storyboard and what has become of it outlive the daemon`() throws {
            #expect(try client.put("/scenes/main/storyboard", Self.storyboard).status == 200)
            let pushed = try client.end(try client.start(Self.push))
            let pop = try client.start(["operation": ["type": "pop", "navigation": "nav"]])
            let before = try client.get("/scenes/main/storyboard")
            let scene = try client.get("/scenes/main")
            daemon.signal(SIGKILL)
            #expect(try daemon.waitForExit() == .signalled(SIGKILL))

            let second = try DaemonProcess(in: directory)
            let again = try second.connect()
            let after = try again.get("/scenes/main/storyboard")
            #expect(after.json == before.json)
            #expect(after.header("ETag") == before.header("ETag"))
            #expect(try again.get("/scenes/main")["lastEvent"] == scene["lastEvent"])
            #expect(try again.record(of: pushed["id"]).json == pushed.json)
            let popped = try again.end(pop)
            #expect(popped["removed"] == ["editor"])
            #expect(popped["revision"] == 3)
            #expect(try stack(again) == ["list"])
        }
    }
}
