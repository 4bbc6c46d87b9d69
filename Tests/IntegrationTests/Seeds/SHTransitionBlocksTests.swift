internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// SHTransitionBlocks, which animates a navigation by blocks: one for both directions, and a finger at the left
    /// edge that pops the top controller.
    @Suite struct SHTransitionBlocks {
        private let client: WireClient
        private let view: ViewProcess

        private static let scene = "navigation"
        private static let storyboard: JSONValue = [
            "root": ["id": "nav", "kind": "navigation", "children": ["first"]],
            "transitionTypes": [["name": "slide", "duration": 0.5, "curve": "easeOut"]],
        ]
        private static let push: JSONValue = [
            "scene": .string(scene), "operation": ["type": "push", "navigation": "nav", "controller": "second"],
            "animation": ["type": "slide", "completionSpeed": 2, "userInfo": ["edge": "left"]],
        ]
        private static let pop: JSONValue = [
            "scene": .string(scene), "operation": ["type": "pop", "navigation": "nav"],
        ]
        private static let interactivePop = pop.adding(["interactive": true])

        init() throws {
            let daemon = try DaemonProcess()
            client = try daemon.connect()
            view = try ViewProcess("navigation", of: daemon)
            self.daemon = daemon
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private let daemon: DaemonProcess

        private func stack() throws -> [String] {
            try client.tree(of: Self.scene).childNames
        }

        @Test func `a push is animated by its type, and a pop goes the same way in reverse`() throws {
            let push = try view.start(Self.push)
            #expect(push["animation"]["type"] == "slide")
            #expect(push["animation"]["duration"] == 0.5)
            #expect(push["animation"]["curve"] == "easeOut")
            #expect(push["animation"]["completionSpeed"] == 2)
            #expect(push["animation"]["reversed"] == false)
            #expect(push["animation"]["userInfo"] == ["edge": "left"])
            #expect(try view.end(push).status == 200)
            #expect(try stack() == ["first", "second"])

            let pop = try view.start(Self.pop)
            #expect(pop["animation"]["type"] == "slide")
            #expect(pop["animation"]["duration"] == 0.5)
            #expect(pop["animation"]["reversed"] == true)
            #expect(pop["animation"]["direction"] == "backward")
            #expect(try view.end(pop).status == 200)
            #expect(try stack() == ["first"])
        }

        @Test func `a finger that lets go half way at most leaves the stack as it was`() throws {
            #expect(try view.carryOut(Self.push)["outcome"] == "completed")
            let pop = try view.start(Self.interactivePop)
            #expect(pop["interaction"]["phase"] == "began")
            for fraction in [0.2, 0.4, 0.5] {
                let moved = try view.progress(pop, fraction)
                #expect(moved["applied"] == true)
                #expect(moved["interaction"]["fraction"] == .number(fraction))
            }
            let released = try view.release(pop)
            #expect(released["decision"] == "cancel")
            // Half of the 0.5 s, backwards.
            #expect(released["remaining"] == 0.25)
            let contradicted = try view.end(pop, ["outcome": "completed"])
            #expect(contradicted.status == 409)
            #expect(contradicted["code"] == "already-decided")
            // completeTransition(!transitionWasCancelled): the view does not need the decision.
            let ended = try view.end(pop)
            #expect(ended.json.ending == "cancelled")
            #expect(
                ended["appearance"].elements.map { [$0["controller"], $0["event"]] } == [
                    ["second", "willDisappear"], ["first", "willAppear"],
                    ["first", "willDisappear"], ["first", "didDisappear"],
                    ["second", "willAppear"], ["second", "didAppear"],
                ])
            #expect(try stack() == ["first", "second"])
        }

        @Test func `a finger that lets go beyond half way pops`() throws {
            #expect(try view.carryOut(Self.push)["outcome"] == "completed")
            let speed: JSONValue = ["animation": ["completionSpeed": 2]]
            let pop = try view.start(Self.interactivePop.adding(speed))
            #expect(pop["animation"]["duration"] == 0.5)
            #expect(try view.progress(pop, 0.6).status == 200)
            let released = try view.release(pop)
            #expect(released["decision"] == "finish")
            #expect(released["remaining"] == 0.1)
            #expect(try view.end(pop)["removed"] == ["second"])
            #expect(try stack() == ["first"])
        }

        @Test func `a gesture that the system takes away cancels, however far it came`() throws {
            #expect(try view.carryOut(Self.push)["outcome"] == "completed")
            let pop = try view.start(Self.interactivePop)
            #expect(try view.progress(pop, 0.9).status == 200)
            #expect(try view.release(pop, ["cancelled": true])["decision"] == "cancel")
            #expect(try view.end(pop, ["outcome": "cancelled"]).status == 200)
            #expect(try stack() == ["first", "second"])
        }
    }
}
