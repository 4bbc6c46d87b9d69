internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// SHTransitionBlocks, which animates a navigation by blocks: one for both directions, and a finger at the left
    /// edge that pops the top controller.
    ///
    /// The example of its README is the `viewDidLoad` of the first controller, which is a process; the comments name the
    /// statements for which the requests stand. What a block is called with is in the answer to the request.
    @Suite struct SHTransitionBlocks {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let view: ViewProcess

        private static let scene = "navigation"
        private static let storyboard: JSONValue = [
            "root": ["id": "nav", "kind": "navigation", "children": ["first"]]
        ]
        private static let pop: JSONValue = [
            "scene": .string(scene), "operation": ["type": "pop", "navigation": "nav"],
        ]
        private static let interactivePop = pop.adding(["interactive": true])

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            view = try ViewProcess("navigation", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
            // viewDidLoad: SH_setAnimationDuration:withPreparedTransitionBlock:
            let block: JSONValue = ["transitionTypes": ["slide": ["duration": 0.5, "curve": "easeInOut"]]]
            #expect(try view.request("PATCH", "/scenes/\(Self.scene)/storyboard", block).status == 200)
        }

        private func push(_ controller: String = "second") -> JSONValue {
            [
                "scene": .string(Self.scene), "animation": ["type": "slide"],
                "operation": ["type": "push", "navigation": "nav", "controller": .string(controller)],
            ]
        }

        private func stack() throws -> [String] {
            try client.tree(of: Self.scene).childNames
        }
    }
}

// MARK: - The animation

extension Integration.SHTransitionBlocks {
    @Test func `a push is animated by its block, and a pop by the same one in reverse`() throws {
        // SH_setAnimatedControllerBlock: the same SH_animatedTransition, reversed for a pop only.
        let push = try view.start(push())
        #expect(push["animation"]["type"] == "slide")
        #expect(push["animation"]["duration"] == 0.5)
        #expect(push["animation"]["curve"] == "easeInOut")
        #expect(push["animation"]["reversed"] == false)
        #expect(push["animation"]["direction"] == "forward")
        // fromVC and toVC
        #expect(
            push["appearance"].elements.map { [$0["controller"], $0["event"]] } == [
                ["first", "willDisappear"], ["second", "willAppear"],
            ])
        #expect(try stack() == ["first"])
        // transitionDidComplete
        #expect(try view.end(push).status == 200)
        #expect(try stack() == ["first", "second"])

        let pop = try view.start(Self.pop)
        #expect(pop["animation"]["type"] == "slide")
        #expect(pop["animation"]["duration"] == 0.5)
        #expect(pop["animation"]["reversed"] == true)
        #expect(pop["animation"]["direction"] == "backward")
        #expect(
            pop["appearance"].elements.map { [$0["controller"], $0["event"]] } == [
                ["second", "willDisappear"], ["first", "willAppear"],
            ])
        #expect(try view.end(pop).status == 200)
        #expect(try stack() == ["first"])
    }

    @Test func `the duration and what a block needs may be set for one transition`() throws {
        // SH_setDurationTransitionBlock:, and the userInfo of SH_animatedTransition
        let own: JSONValue = ["type": "slide", "duration": 0.2, "completionSpeed": 2, "userInfo": ["edge": "left"]]
        let push = try view.start(push().adding(["animation": own]))
        #expect(push["animation"]["duration"] == 0.2)
        #expect(push["animation"]["completionSpeed"] == 2)
        #expect(push["animation"]["userInfo"] == ["edge": "left"])
        #expect(try view.end(push).status == 200)
        // The next one is that of the block again.
        let pop = try view.start(Self.pop)
        #expect(pop["animation"]["duration"] == 0.5)
        #expect(pop["animation"]["completionSpeed"] == 1)
        #expect(pop["animation"]["userInfo"] == .null)
    }

    @Test func `each container has a block of its own`() throws {
        let root: JSONValue = [
            "id": "tabs", "kind": "tabs",
            "children": [["id": "nav", "kind": "navigation", "children": ["first"]], "settings"],
        ]
        #expect(try client.declare(["root": root], in: "containers").status == 200)
        let tabs = try ViewProcess("tabs", of: daemon)
        func set(_ duration: JSONValue, of type: String, by process: ViewProcess) throws -> ViewAnswer {
            let block: JSONValue = .object([type: ["duration": duration]])
            return try process.request("PATCH", "/scenes/containers/storyboard", ["transitionTypes": block])
        }
        // SH_setAnimationDuration:withPreparedTransitionBlock: of the navigation, and of the tabs
        #expect(try set(0.5, of: "nav", by: view).status == 200)
        #expect(try set(0.2, of: "tabs", by: tabs).status == 200)
        // SH_blockAnimationDurationWithPreparedTransition
        let types = try client.get("/scenes/containers/storyboard")["transitionTypes"].elements
        #expect(types.map { [$0["name"], $0["duration"]] } == [["nav", 0.5], ["tabs", 0.2]])

        let pushing = try view.start([
            "scene": "containers", "animation": ["type": "nav"],
            "operation": ["type": "push", "navigation": "nav", "controller": "second"],
        ])
        #expect(pushing["animation"]["duration"] == 0.5)
        // The block of another container can be replaced meanwhile, the one that animates cannot.
        #expect(try set(0.3, of: "tabs", by: tabs).status == 200)
        let refused = try set(0.1, of: "nav", by: view)
        #expect(refused.status == 409)
        #expect(refused["code"] == "in-use")
        #expect(try view.end(pushing).status == 200)

        let selecting = try tabs.start([
            "scene": "containers", "animation": ["type": "tabs"],
            "operation": ["type": "select", "tabs": "tabs", "controller": "settings"],
        ])
        #expect(selecting["animation"]["duration"] == 0.3)
        #expect(try tabs.end(selecting)["outcome"] == "completed")
    }
}

// MARK: - The gesture

extension Integration.SHTransitionBlocks {
    // SH_setInteractiveTransitionWithGestureBlock:onGestureCallbackBlock: is called with each state of the gesture.

    @Test func `a finger that lets go half way at most leaves the stack as it was`() throws {
        #expect(try view.carryOut(push())["outcome"] == "completed")
        // UIGestureRecognizerStateBegan: SH_interactiveTransition is set, popViewControllerAnimated:
        let pop = try view.start(Self.interactivePop)
        #expect(pop["interaction"]["phase"] == "began")
        // UIGestureRecognizerStateChanged: updateInteractiveTransition:
        for fraction in [0.2, 0.4, 0.5] {
            let moved = try view.progress(pop, fraction)
            #expect(moved["applied"] == true)
            #expect(moved["interaction"]["fraction"] == .number(fraction))
        }
        // UIGestureRecognizerStateEnded: cancelInteractiveTransition
        let released = try view.release(pop)
        #expect(released["decision"] == "cancel")
        // Half of the 0.5 s, backwards.
        #expect(released["remaining"] == 0.25)
        let contradicted = try view.end(pop, ["outcome": "completed"])
        #expect(contradicted.status == 409)
        #expect(contradicted["code"] == "already-decided")
        // transitionDidComplete: the view does not need the decision.
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
        #expect(try view.carryOut(push())["outcome"] == "completed")
        let speed: JSONValue = ["animation": ["completionSpeed": 2]]
        let pop = try view.start(Self.interactivePop.adding(speed))
        #expect(pop["animation"]["duration"] == 0.5)
        #expect(try view.progress(pop, 0.6).status == 200)
        // UIGestureRecognizerStateEnded: finishInteractiveTransition
        let released = try view.release(pop)
        #expect(released["decision"] == "finish")
        #expect(released["remaining"] == 0.1)
        #expect(try view.end(pop)["removed"] == ["second"])
        #expect(try stack() == ["first"])
    }

    @Test(arguments: [(-0.2, 0.0), (1.3, 1.0)])
    func `a finger is never outside the way`(progress: Double, clamped: Double) throws {
        #expect(try view.carryOut(push())["outcome"] == "completed")
        let pop = try view.start(Self.interactivePop)
        #expect(try view.progress(pop, progress)["interaction"]["fraction"] == .number(clamped))
    }

    @Test(arguments: [(0.9, "finish"), (0.5, "cancel")])
    func `the callback may treat a gesture that was taken away like one that ended`(
        progress: Double, decision: String
    ) throws {
        #expect(try view.carryOut(push())["outcome"] == "completed")
        let pop = try view.start(Self.interactivePop)
        #expect(try view.progress(pop, progress).status == 200)
        // UIGestureRecognizerStateCancelled: finishInteractiveTransition or cancelInteractiveTransition, by the progress
        #expect(try view.release(pop, ["decision": .string(decision)])["decision"] == .string(decision))
        #expect(try view.end(pop).status == 200)
        #expect(try stack() == (decision == "finish" ? ["first"] : ["first", "second"]))
    }

    @Test func `a gesture that the system takes away cancels, however far it came`() throws {
        #expect(try view.carryOut(push())["outcome"] == "completed")
        let pop = try view.start(Self.interactivePop)
        #expect(try view.progress(pop, 0.9).status == 200)
        #expect(try view.release(pop, ["cancelled": true])["decision"] == "cancel")
        #expect(try view.end(pop, ["outcome": "cancelled"]).status == 200)
        #expect(try stack() == ["first", "second"])
    }

    @Test func `without a finger a pop is a normal one`() throws {
        #expect(try view.carryOut(push())["outcome"] == "completed")
        let gesture = try view.start(Self.interactivePop)
        #expect(gesture["interactive"] == true)
        #expect(try view.release(gesture)["decision"] == "cancel")
        #expect(try view.end(gesture).json.ending == "cancelled")

        // SH_setInteractiveControllerBlock: SH_interactiveTransition is nil again.
        let pop = try view.start(Self.pop)
        #expect(pop["interactive"] == .null)
        #expect(pop["interaction"] == .null)
        let refused = try view.progress(pop, 0.1)
        #expect(refused.status == 409)
        #expect(refused["code"] == "not-interactive")
        #expect(try view.end(pop)["removed"] == ["second"])
    }

    @Test func `every controller that was pushed can be popped by the finger, down to the first one`() throws {
        for controller in ["second", "third"] {
            #expect(try view.carryOut(push(controller))["outcome"] == "completed")
        }
        for controller: JSONValue in ["third", "second"] {
            // UIGestureRecognizerStateBegan: popViewControllerAnimated:, which is given SH_interactiveTransition and the
            // reversed SH_animatedTransition.
            let pop = try view.start(Self.interactivePop)
            #expect(pop["interaction"]["phase"] == "began")
            #expect(pop["animation"]["type"] == "slide")
            #expect(pop["animation"]["reversed"] == true)
            // UIGestureRecognizerStateChanged: updateInteractiveTransition:
            #expect(try view.progress(pop, 0.8)["interaction"]["phase"] == "changing")
            // UIGestureRecognizerStateEnded: finishInteractiveTransition
            #expect(try view.release(pop)["interaction"]["phase"] == "released")
            // transitionDidComplete
            #expect(try view.end(pop)["removed"] == [controller])
        }
        // Nothing is left to pop, so the finger drives nothing.
        let nothing = try view.start(Self.interactivePop)
        #expect(nothing["noop"] == true)
        #expect(try stack() == ["first"])
    }
}
