internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Silly Transitions, with named transition types: a controller leaves by the type with which it came in.
    @Suite struct SillyTransitions {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let view: ViewProcess

        private static let scene = "silly"
        private static let storyboard: JSONValue = [
            "root": ["id": "nav", "kind": "navigation", "children": ["demo"]],
            "transitionTypes": [
                ["name": "star", "duration": 1, "curve": "linear"],
                ["name": "flip", "duration": 0.75],
            ],
            "defaults": ["duration": 0.3, "curve": "easeIn"],
        ]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            view = try ViewProcess("silly", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private func asked(_ operation: JSONValue, by type: String? = nil) -> JSONValue {
            let body: JSONValue = ["scene": .string(Self.scene), "operation": operation]
            return type.map { body.adding(["animation": ["type": .string($0)]]) } ?? body
        }

        private static let push: JSONValue = ["type": "push", "navigation": "nav", "controller": "star"]
        private static let pop: JSONValue = ["type": "pop", "navigation": "nav"]
        private static let present: JSONValue = ["type": "present", "presenter": "demo", "controller": "star"]
        private static let dismiss: JSONValue = ["type": "dismiss", "controller": "star"]

        @Test(arguments: [(push, pop), (present, dismiss)])
        func `what a star brought in goes by a star`(intro: JSONValue, back: JSONValue) throws {
            let coming = try view.start(asked(intro, by: "star"))
            #expect(coming["animation"]["type"] == "star")
            #expect(coming["animation"]["duration"] == 1)
            #expect(coming["animation"]["curve"] == "linear")
            #expect(try view.end(coming).status == 200)
            let tree = try client.tree(of: Self.scene)
            let brought = intro["type"] == "push" ? tree["children"][1] : tree["presented"]
            #expect(brought["introTransitionType"] == "star")

            let going = try view.start(asked(back))
            #expect(going["animation"]["type"] == "star")
            #expect(going["animation"]["duration"] == 1)
            #expect(going["animation"]["reversed"] == true)
            #expect(try view.end(going)["removed"] == ["star"])
        }

        @Test func `what a star brought in goes another way if it is told to`() throws {
            #expect(try view.carryOut(asked(Self.push, by: "star"))["outcome"] == "completed")
            let going = try view.start(asked(Self.pop, by: "flip"))
            #expect(going["animation"]["type"] == "flip")
            #expect(going["animation"]["duration"] == 0.75)
            // What the type omits comes from the scene's defaults.
            #expect(going["animation"]["curve"] == "easeIn")
            #expect(going["animation"]["reversed"] == true)
        }

        @Test func `what came without a name goes without one`() throws {
            #expect(try view.carryOut(asked(Self.push))["outcome"] == "completed")
            let going = try view.start(asked(Self.pop))
            #expect(going["animation"]["type"] == .null)
            #expect(going["animation"]["duration"] == 0.3)
        }

        @Test func `a controller that says itself how it comes does so, and goes the same way`() throws {
            let controller: JSONValue = ["id": "star", "kind": "view", "introTransitionType": "flip"]
            let push = try view.start(asked(["type": "push", "navigation": "nav", "controller": controller]))
            #expect(push["animation"]["type"] == "flip")
            #expect(push["animation"]["duration"] == 0.75)
            #expect(try view.end(push)["inserted"] == ["star"])
            #expect(try client.tree(of: Self.scene)["children"][1]["introTransitionType"] == "flip")
            #expect(try view.start(asked(Self.pop))["animation"]["type"] == "flip")
        }

        @Test func `a type that nobody has defined is refused at once, queued or not`() throws {
            for call in ["start", "serialize"] {
                let refused = try view.post("/transitions/\(call)", asked(Self.push, by: "swirl"))
                #expect(refused.status == 422)
                #expect(refused["code"] == "unknown-transition-type")
                #expect(refused["field"] == "animation.type")
                #expect(refused["detail"].string?.contains("swirl") == true)
            }
            #expect(try client.transitions(in: Self.scene) == [])
        }

        @Test func `a star can be pulled back by its edge, and needs a quarter of the way`() throws {
            #expect(try view.carryOut(asked(Self.push, by: "star"))["outcome"] == "completed")
            let gesture: JSONValue = ["interactive": true, "policy": ["by": "fraction", "threshold": 0.25]]
            let pop = try view.start(asked(Self.pop).adding(gesture))
            #expect(try view.progress(pop, 0.3).status == 200)
            let released = try view.release(pop)
            #expect(released["decision"] == "finish")
            #expect(released["remaining"] == 0.7)
            #expect(try view.end(pop)["removed"] == ["star"])
        }
    }
}
