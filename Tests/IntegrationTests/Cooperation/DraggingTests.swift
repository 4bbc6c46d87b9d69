internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// A finger in one process, and readers of its events in others.
    @Suite struct Dragging {
        private static let scene = "dragging"
        private static let steps = 60

        @Test func `whoever watches sees the finger, its release and the end`() throws {
            let daemon = try DaemonProcess()
            let client = try daemon.connect()
            let storyboard: JSONValue = ["root": ["id": "tabs", "kind": "tabs", "children": ["left", "right"]]]
            #expect(try client.declare(storyboard, in: Self.scene).status == 200)
            let (view, watcher) = (try ViewProcess("view", of: daemon), try ViewProcess("watcher", of: daemon))
            #expect(try watcher.attend(Self.scene).map(\.status) == [201])
            watcher.watch(upTo: "transition.ended")

            let swipe = try view.start([
                "scene": .string(Self.scene), "interactive": true,
                "operation": ["type": "select", "tabs": "tabs", "index": 1], "animation": ["duration": 1],
            ])
            #expect(swipe.status == 201)
            view.drag(to: swipe.credentials.adding(["fraction": 0.75]), steps: Self.steps)
            #expect(try view.answer()["applied"] == true)
            // A late request has been overtaken.
            #expect(try view.progress(swipe, 0.1, ["sequence": 1])["applied"] == false)
            let released = try view.release(swipe)
            #expect(released["decision"] == "finish")
            #expect(try view.end(swipe).status == 200)

            let events = try watcher.events(upTo: "transition.ended")
            let moves = events.filter { $0.name == "transition.progress" }
            #expect(moves.allSatisfy { $0["transition"] == swipe["id"] })
            #expect(moves.map(\.["sequence"].integer) == Array(1...Self.steps))
            let fractions = moves.compactMap(\.["fraction"].number)
            #expect(zip(fractions, fractions.dropFirst()).allSatisfy(<))
            #expect(fractions.last == 0.75)

            let others = events.filter { $0.name != "transition.progress" }
            #expect(
                others.map(\.name) == [
                    "transition.running", "controller.willAppear", "controller.willDisappear",
                    "transition.released", "hierarchy.changed", "controller.didDisappear", "controller.didAppear",
                    "transition.ended",
                ])
            let told = try #require(others.first { $0.name == "transition.released" })
            #expect(told["interaction"]["decision"] == "finish")
            #expect(told["interaction"]["fraction"] == 0.75)
            #expect(told["interaction"]["remaining"] == released["remaining"])
            #expect(others.first { $0.name == "transition.ended" }?.json.ending == "completed")
            #expect(try client.tree(of: Self.scene)["selected"] == 1)
        }

        @Test func `a finger whose process is killed lets go, and the tree is as it was`() throws {
            let daemon = try DaemonProcess()
            let client = try daemon.connect()
            let storyboard: JSONValue = ["root": ["id": "tabs", "kind": "tabs", "children": ["left", "right"]]]
            #expect(try client.declare(storyboard, in: Self.scene).status == 200)
            let (view, watcher) = (try ViewProcess("view", of: daemon), try ViewProcess("watcher", of: daemon))
            for each in [view, watcher] { #expect(try each.attend(Self.scene).map(\.status) == [201]) }
            let swipe = try view.start([
                "scene": .string(Self.scene), "interactive": true, "leaseSeconds": 300,
                "operation": ["type": "select", "tabs": "tabs", "index": 1],
            ])
            watcher.watch(upTo: "transition.progress")
            view.drag(to: swipe.credentials.adding(["fraction": 1]), steps: 100_000)
            #expect(try watcher.events(upTo: "transition.progress").last?["transition"] == swipe["id"])

            watcher.watch(upTo: "session.ended")
            try view.kill()
            let events = try watcher.events(upTo: "session.ended")
            #expect(events.first { $0.name == "transition.ended" }?.json.ending == "expired/session-lost")
            #expect(try client.tree(of: Self.scene)["selected"] == 0)
        }
    }
}
