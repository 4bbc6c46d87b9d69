internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// TabBarTransitioning, which swipes from tab to tab: a selection excludes any other while it runs.
    ///
    /// Its README has no example of its own, but leads to an article and is that of a demo. The comments name the
    /// statements of both for which the requests stand. A tap and a swipe are a process each.
    @Suite struct TabBarTransitioning {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let swiping: ViewProcess
        private let tapping: ViewProcess

        private static let scene = "tabs"
        private static let storyboard: JSONValue = [
            "root": ["id": "tabs", "kind": "tabs", "children": ["first", "second", "third"], "selected": 1],
            "transitionTypes": [["name": "scroll", "duration": 0.3, "curve": "linear"]],
        ]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            swiping = try ViewProcess("swiping", of: daemon)
            tapping = try ViewProcess("tapping", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private func select(_ tab: JSONValue, _ more: JSONValue = [:]) -> JSONValue {
            let operation: JSONValue = ["type": "select", "tabs": "tabs"]
            let body: JSONValue = [
                "scene": .string(Self.scene), "operation": operation.adding(tab), "animation": ["type": "scroll"],
            ]
            return body.adding(more)
        }

        private func select(_ index: Int) -> JSONValue {
            select(["index": .number(Double(index))])
        }

        /// What a finger asks for that pans to the tab at the right by 1, or at the left by -1; its velocity decides.
        private func pan(by offset: Int) -> JSONValue {
            let gesture: JSONValue = ["client": "swiping", "interactive": true, "policy": ["by": "velocity"]]
            return select(["offset": .number(Double(offset))], gesture)
        }

        private func selected() throws -> Int? {
            try client.tree(of: Self.scene)["selected"].integer
        }
    }
}

// MARK: - The container's consistency

extension Integration.TabBarTransitioning {
    @Test func `between the beginning and the end of a selection no other one begins`() throws {
        // beginSelectingIndexSafely:
        let begun = try tapping.start(select(2))
        #expect(begun.status == 201)
        // beginSelectingViewControllerSafely: returns, as something is being selected.
        let byController = select(["controller": "first"])
        #expect(try swiping.start(byController)["code"] == "busy")
        #expect(try selected() == 1)
        // endSelectingSafely
        #expect(try tapping.end(begun).status == 200)
        #expect(try selected() == 2)
        // beginSelectingViewControllerSafely:, endSelectingSafely
        #expect(try swiping.carryOut(byController)["outcome"] == "completed")
        #expect(try selected() == 0)
    }

    @Test func `a tap during a swipe is refused, and works once the swipe is over`() throws {
        let swipe = try swiping.start(pan(by: 1))
        #expect(swipe.status == 201)
        #expect(try swiping.progress(swipe, 0.1, ["velocity": -2]).status == 200)
        let refused = try tapping.start(select(0))
        #expect(refused.status == 409)
        #expect(refused["holder"]["client"] == "swiping")

        // Not while its animation finishes after the release, either.
        #expect(try swiping.release(swipe)["decision"] == "cancel")
        #expect(try tapping.start(select(0)).status == 409)
        #expect(try swiping.end(swipe, ["outcome": "cancelled"]).status == 200)
        #expect(try selected() == 1)
        #expect(try tapping.carryOut(select(0))["outcome"] == "completed")
        #expect(try selected() == 0)
    }

    @Test func `to select what is selected holds nothing`() throws {
        let noop = try tapping.start(select(1))
        #expect(noop.status == 200)
        #expect(noop["noop"] == true)
        #expect(noop["outcome"] == "completed")
        #expect(try selected() == 1)
        // So it cannot block another transition.
        #expect(try swiping.start(pan(by: 1)).status == 201)
    }

    @Test func `a delegate hears that a selection has ended, and how`() throws {
        try tapping.attend(Self.scene)
        let swipe = try swiping.start(pan(by: -1))
        #expect(try swiping.release(swipe, ["velocity": 1])["decision"] == "finish")
        #expect(try swiping.end(swipe).status == 200)
        // transition:didComplete:
        tapping.watch(upTo: "transition.ended")
        let ended = try #require(try tapping.events(upTo: "transition.ended").last)
        #expect(ended["id"] == swipe["id"])
        #expect(ended["outcome"] == "completed")
        #expect(try selected() == 0)
    }
}

// MARK: - The delegate

extension Integration.TabBarTransitioning {
    @Test func `a tab at the left comes from the left`() throws {
        // tabBarController:animationControllerForTransitionFromViewController:toViewController:
        let left = try tapping.start(select(0))
        #expect(left["animation"]["reversed"] == true)
        #expect(left["animation"]["direction"] == "backward")
        #expect(try tapping.end(left).status == 200)
        let right = try tapping.start(select(2))
        #expect(right["animation"]["reversed"] == false)
        #expect(right["animation"]["direction"] == "forward")
        #expect(try tapping.end(right).status == 200)
        #expect(try selected() == 2)
    }

    @Test func `only a swipe has a finger`() throws {
        // tabBarController:interactionControllerForAnimationController: is nil for a tap.
        let tap = try tapping.start(select(2))
        #expect(tap["interactive"] == .null)
        #expect(try tapping.progress(tap, 0.5)["code"] == "not-interactive")
        #expect(try tapping.end(tap).status == 200)
        let swipe = try swiping.start(pan(by: -1))
        #expect(swipe["interactive"] == true)
        #expect(try swiping.progress(swipe, 0.5)["applied"] == true)
    }
}

// MARK: - The pan

extension Integration.TabBarTransitioning {
    @Test(arguments: [(0.6, 300.0, "finish", 1 - 0.6), (0.6, -300.0, "cancel", 0.6)])
    func `a pan that ends goes where the finger was going, at the speed that is set then`(
        ratio: Double, velocity: Double, decision: String, speed: Double
    ) throws {
        // userDidPan:, UIGestureRecognizerStateBegan: selectedIndex
        let swipe = try swiping.start(pan(by: 1))
        #expect(swipe["animation"]["duration"] == 0.3)
        #expect(swipe["animation"]["completionSpeed"] == 1)
        // UIGestureRecognizerStateChanged: updateInteractiveTransition:
        #expect(try swiping.progress(swipe, ratio)["interaction"]["fraction"] == .number(ratio))
        // UIGestureRecognizerStateEnded: completionSpeed, and finishInteractiveTransition or
        // cancelInteractiveTransition
        let released = try swiping.release(
            swipe, ["velocity": .number(velocity), "completionSpeed": .number(speed)])
        #expect(released["decision"] == .string(decision))
        #expect(released["animation"]["completionSpeed"] == .number(speed))
        // The share that is left, at a speed of the same share, is the whole duration.
        #expect(released["remaining"] == 0.3)
        #expect(try swiping.end(swipe).status == 200)
        #expect(try selected() == (decision == "finish" ? 2 : 1))
    }

    @Test(arguments: [(0.2, 0.2, 0.3), (0.0, 1.0, 0.0)])
    func `a pan that is taken away goes back`(ratio: Double, speed: Double, remaining: Double) throws {
        let swipe = try swiping.start(pan(by: 1))
        #expect(try swiping.progress(swipe, ratio, ["velocity": 300]).status == 200)
        // UIGestureRecognizerStateCancelled, or UIGestureRecognizerStateFailed
        let released = try swiping.release(swipe, ["cancelled": true, "completionSpeed": .number(speed)])
        #expect(released["decision"] == "cancel")
        #expect(released["remaining"] == .number(remaining))
        #expect(try swiping.end(swipe)["outcome"] == "cancelled")
        #expect(try selected() == 1)
    }

    @Test(arguments: [(0, -1), (2, 1)])
    func `a swipe at the edge is refused, and the one back is not`(edge: Int, offset: Int) throws {
        #expect(try tapping.carryOut(select(edge))["outcome"] == "completed")
        // gestureRecognizerShouldBegin:
        let refused = try swiping.start(pan(by: offset))
        #expect(refused.status == 422)
        #expect(refused["code"] == "index-out-of-range")
        #expect(try swiping.start(pan(by: -offset)).status == 201)
    }

    @Test(arguments: [-1, 3])
    func `a swipe beyond the first or the last tab is refused`(index: Int) throws {
        let refused = try swiping.start(select(["index": .number(Double(index))], ["interactive": true]))
        #expect(refused.status == 422)
        #expect(refused["code"] == "index-out-of-range")
    }

    @Test(arguments: [(-3.0, "cancel"), (0.5, "finish")])
    func `the velocity at the release counts, not the one before it`(velocity: Double, decision: String) throws {
        let swipe = try swiping.start(pan(by: -1))
        #expect(try swiping.progress(swipe, 0.9, ["velocity": .number(-velocity)]).status == 200)
        let released = try swiping.release(swipe, ["velocity": .number(velocity)])
        #expect(released["decision"] == .string(decision))
    }
}

// MARK: - A gesture that ends before its transition has started

extension Integration.TabBarTransitioning {
    /// Another selection runs; the finger asks for the next tab, and moves.
    private func flick() throws -> (running: ViewAnswer, flick: ViewAnswer) {
        let running = try tapping.start(select(0))
        // The gesture starts: the new index is set.
        let flick = try swiping.serialize(pan(by: 1))
        #expect(flick.status == 202)
        #expect(flick["interaction"]["phase"] == "possible")
        // It changes: the transition has not started yet.
        #expect(try swiping.progress(flick, 0.3, ["velocity": 900])["applied"] == true)
        return (running, flick)
    }

    @Test func `a short swipe that ends before its transition starts is finished nevertheless`() throws {
        let (running, flick) = try flick()
        // It ends.
        let released = try swiping.release(flick)
        #expect(released["state"] == "queued")
        #expect(released["decision"] == "finish")
        #expect(try tapping.end(running).status == 200)
        // Finally the transition starts: it is known that no finger will move it.
        let granted = try swiping.post("/transitions/await", flick.credentials)
        #expect(granted["state"] == "running")
        #expect(granted["interaction"]["decision"] == "finish")
        #expect(granted["interaction"]["remaining"] == 0.3)
        #expect(try swiping.end(flick)["outcome"] == "completed")
        // The next of the tab that was selected when it started.
        #expect(try selected() == 1)
    }

    @Test func `a short swipe that is cancelled before its transition starts never starts`() throws {
        let (running, flick) = try flick()
        // cancelNextTransitionAfterStart
        let released = try swiping.release(flick, ["velocity": -900])
        #expect(released["decision"] == "cancel")
        #expect(released.json.ending == "cancelled")
        #expect(released["fence"] == .null)
        #expect(try client.queuedCount(in: Self.scene) == 0)
        #expect(try tapping.end(running).status == 200)
        #expect(try selected() == 0)
    }
}
