internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// TabBarTransitioning, which swipes from tab to tab: a selection excludes any other while it runs.
    @Suite struct TabBarTransitioning {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let swiping: ViewProcess
        private let tapping: ViewProcess

        private static let scene = "tabs"
        private static let storyboard: JSONValue = [
            "root": ["id": "tabs", "kind": "tabs", "children": ["first", "second", "third"], "selected": 1],
            "transitionTypes": [["name": "scroll", "duration": 0.4, "curve": "easeInOut"]],
        ]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            swiping = try ViewProcess("swiping", of: daemon)
            tapping = try ViewProcess("tapping", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private func select(_ index: Int, _ more: JSONValue = [:]) -> JSONValue {
            let body: JSONValue = [
                "scene": .string(Self.scene),
                "operation": ["type": "select", "tabs": "tabs", "index": .number(Double(index))],
                "animation": ["type": "scroll"],
            ]
            return body.adding(more)
        }

        private func swipe(to index: Int, policy: JSONValue = ["by": "fraction", "threshold": 0.25]) throws
            -> ViewAnswer
        {
            try swiping.start(select(index, ["client": "swiping", "interactive": true, "policy": policy]))
        }

        private func selected() throws -> Int? {
            try client.tree(of: Self.scene)["selected"].integer
        }

        @Test func `a tap during a swipe is refused, and works once the swipe is over`() throws {
            let swipe = try swipe(to: 2)
            #expect(swipe.status == 201)
            #expect(try swiping.progress(swipe, 0.1).status == 200)
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
            #expect(try swipe(to: 2).status == 201)
        }

        @Test func `a tab at the left comes from the left`() throws {
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

        @Test(arguments: [(0.25, "cancel"), (0.26, "finish")])
        func `a swipe decides at a quarter of the way`(fraction: Double, decision: String) throws {
            let swipe = try swipe(to: 2)
            #expect(try swiping.progress(swipe, fraction).status == 200)
            #expect(try swiping.release(swipe)["decision"] == .string(decision))
            let outcome: JSONValue = decision == "finish" ? "completed" : "cancelled"
            #expect(try swiping.end(swipe, ["outcome": outcome]).status == 200)
            #expect(try selected() == (decision == "finish" ? 2 : 1))
        }

        @Test(arguments: [(-3.0, "cancel"), (0.5, "finish")])
        func `a swipe may decide by where the finger was going`(velocity: Double, decision: String) throws {
            let swipe = try swipe(to: 0, policy: ["by": "velocity"])
            #expect(try swiping.progress(swipe, 0.9, ["velocity": 1]).status == 200)
            let released = try swiping.release(swipe, ["velocity": .number(velocity)])
            #expect(released["decision"] == .string(decision))
        }

        @Test(arguments: [-1, 3])
        func `a swipe beyond the first or the last tab is refused`(index: Int) throws {
            let refused = try swipe(to: index)
            #expect(refused.status == 422)
            #expect(refused["code"] == "index-out-of-range")
        }
    }
}
