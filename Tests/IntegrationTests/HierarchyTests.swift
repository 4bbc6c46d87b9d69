internal import ArbiterTestKit
internal import Glibc
internal import Testing

extension WireClient {
    func put(_ path: String, _ body: JSONValue, headers: [String] = []) throws -> WireResponse {
        try request("PUT", path, headers: headers, body: body.text)
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

        @Test func `a push goes into the tree when it ends, and a pop undoes it the way it came`() throws {
            let declared = try client.put("/scenes/main/storyboard", Self.storyboard)
            #expect(declared.status == 200)
            #expect(declared.json == ["name": "main", "revision": 1])
            #expect(declared.header("ETag") == "\"1\"")

            let push = try client.start(Self.push)
            #expect(push.status == 201)
            #expect(push["animation"]["duration"] == 1)
            #expect(try stack(client) == ["list"])
            let pushed = try client.end(push)
            #expect(pushed["inserted"] == ["editor"])
            #expect(pushed["revision"] == 2)
            #expect(try stack(client) == ["list", "editor"])

            let again = try client.start(Self.push)
            #expect(again.status == 422)
            #expect(again["code"] == "already-on-stack")

            let pop = try client.start(["operation": ["type": "pop", "navigation": "nav"]])
            #expect(pop["animation"]["type"] == "star")
            #expect(pop["animation"]["reversed"] == true)
            let popped = try client.end(pop)
            #expect(popped["removed"] == ["editor"])
            #expect(popped["revision"] == 3)
            #expect(try stack(client) == ["list"])
            let noop = try client.start(["operation": ["type": "pop", "navigation": "nav"]])
            #expect(noop.status == 200)
            #expect(noop["noop"] == true)
        }

        @Test func `a scene is declared by whoever knows its revision, and while nobody is at work`() throws {
            #expect(try client.put("/scenes/main/storyboard", Self.storyboard).status == 200)
            let push = try client.start(Self.push)
            let busy = try client.put("/scenes/main/storyboard", [:], headers: ["If-Match: \"1\""])
            #expect(busy.status == 409)
            #expect(busy["holder"]["id"] == push["id"])
            #expect(try client.request("DELETE", "/scenes/main").status == 409)
            #expect(try client.end(push).status == 200)

            let stale = try client.put("/scenes/main/storyboard", [:], headers: ["If-Match: \"1\""])
            #expect(stale.status == 412)
            #expect(stale["code"] == "revision-mismatch")
            #expect(stale["actual"] == "\"2\"")
            let read = try client.get("/scenes/main/storyboard")
            #expect(read["root"]["children"].elements.count == 2)
            let tag = try #require(read.header("ETag"))
            let declared = try client.put("/scenes/main/storyboard", Self.storyboard, headers: ["If-Match: \(tag)"])
            #expect(declared["revision"] == 3)

            let deleted = try client.request("DELETE", "/scenes/main")
            #expect(deleted.status == 204)
            #expect(deleted.body.isEmpty)
            #expect(deleted.header("Content-Type") == nil)
            #expect(deleted.header("X-Request-Id") != nil)
            #expect(try client.get("/scenes/main/storyboard").status == 404)
        }

        @Test func `an empty If-Match is no condition that anybody meant`() throws {
            let refused = try client.put("/scenes/main/storyboard", [:], headers: ["If-Match:"])
            #expect(refused.status == 400)
            #expect(refused["field"] == "If-Match")
        }

        @Test func `a rejected serialize tells its owner, who waits, and leaves the lock to the next`() throws {
            #expect(try client.put("/scenes/main/storyboard", Self.storyboard).status == 200)
            let push = try client.start(Self.push)
            let waiter = try daemon.connect()
            try waiter.park(Self.push)
            try #require(try client.isQueueLong(1))
            let next = try client.serialize(["expect": ["controller": "editor", "is": "top"]])
            #expect(next.status == 202)
            #expect(try client.end(push).status == 200)
            let rejected = try waiter.receive()
            #expect(rejected.status == 200)
            #expect(rejected.json.ending == "rejected/invalid-operation")
            #expect(rejected["code"] == "already-on-stack")
            #expect(try client.record(of: next["id"])["state"] == "running")
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
