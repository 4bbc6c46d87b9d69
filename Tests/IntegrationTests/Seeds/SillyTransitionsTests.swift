internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Silly Transitions, with named transition types: a controller leaves by the type with which it came in.
    ///
    /// The steps of its README are taken by one process, and the comments name the statements for which the requests
    /// stand.
    @Suite struct SillyTransitions {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let view: ViewProcess

        private static let scene = "silly"
        private static let storyboard: JSONValue = [
            "root": ["id": "nav", "kind": "navigation", "children": ["demo"]],
            "segues": [
                ["identifier": "next", "source": "demo", "kind": "show", "destination": "star"],
                ["identifier": "next", "source": "star", "kind": "show", "destination": "flip"],
                ["identifier": "back", "source": "flip", "kind": "unwind", "destination": "demo"],
            ],
            "defaults": ["duration": 0.3, "curve": "easeIn"],
        ]
        /// The cases of `BKNSillyTransitionType`, apart from none.
        private static let types: JSONValue = [
            "star": ["duration": 1, "curve": "linear"], "flip": ["duration": 0.75],
            "fade": ["duration": 0.5, "curve": "linear"],
        ]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            view = try ViewProcess("silly", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
            // manageNavigationController:
            #expect(try define(Self.types).status == 200)
        }

        private func define(_ types: JSONValue) throws -> ViewAnswer {
            try view.request("PATCH", "/scenes/\(Self.scene)/storyboard", ["transitionTypes": types])
        }

        private func asked(_ operation: JSONValue, by type: String? = nil) -> JSONValue {
            let body: JSONValue = ["scene": .string(Self.scene), "operation": operation]
            return type.map { body.adding(["animation": ["type": .string($0)]]) } ?? body
        }

        /// A segue to the next controller, on which `setBKN_introTransitionType:` is called if there is a type.
        private func segue(from source: String, to destination: String, intro type: String?) -> JSONValue {
            let node: JSONValue = ["id": .string(destination)]
            let typed = type.map { node.adding(["introTransitionType": .string($0)]) } ?? node
            return asked([
                "type": "segue", "source": .string(source), "identifier": "next", "destination": typed,
            ])
        }

        private static let push: JSONValue = ["type": "push", "navigation": "nav", "controller": "star"]
        private static let pop: JSONValue = ["type": "pop", "navigation": "nav"]
        private static let present: JSONValue = ["type": "present", "presenter": "demo", "controller": "star"]
        private static let dismiss: JSONValue = ["type": "dismiss", "controller": "star"]

        private func stack() throws -> [JSONValue] {
            try client.tree(of: Self.scene)["children"].elements
        }
    }
}

// MARK: - Usage

extension Integration.SillyTransitions {
    @Test(arguments: [("star", 1.0), ("flip", 0.75), ("fade", 0.5)])
    func `a segue whose destination is given an intro type comes and goes by it`(
        type: String, duration: Double
    ) throws {
        // setBKN_introTransitionType:
        let coming = try view.start(segue(from: "demo", to: "star", intro: type))
        #expect(coming["resolved"]["type"] == "push")
        #expect(coming["animation"]["type"] == .string(type))
        #expect(coming["animation"]["duration"] == .number(duration))
        #expect(coming["animation"]["reversed"] == false)
        #expect(try view.end(coming)["inserted"] == ["star"])
        #expect(try stack().last?["introTransitionType"] == .string(type))

        let going = try view.start(asked(Self.pop))
        #expect(going["animation"]["type"] == .string(type))
        #expect(going["animation"]["duration"] == .number(duration))
        #expect(going["animation"]["reversed"] == true)
        #expect(try view.end(going)["removed"] == ["star"])
    }

    @Test func `a segue whose destination is given no intro type comes and goes without one`() throws {
        let coming = try view.start(segue(from: "demo", to: "star", intro: nil))
        #expect(coming["animation"]["type"] == .null)
        #expect(coming["animation"]["duration"] == 0.3)
        #expect(try view.end(coming)["inserted"] == ["star"])
        let going = try view.start(asked(Self.pop))
        #expect(going["animation"]["type"] == .null)
        #expect(going["animation"]["duration"] == 0.3)
        #expect(going["animation"]["reversed"] == true)
    }

    @Test func `an unwind goes by the type of what it leaves`() throws {
        #expect(try view.carryOut(segue(from: "demo", to: "star", intro: "star"))["inserted"] == ["star"])
        #expect(try view.carryOut(segue(from: "star", to: "flip", intro: "flip"))["inserted"] == ["flip"])
        #expect(try stack().map { $0["introTransitionType"] } == [.null, "star", "flip"])

        let back = try view.start(asked(["type": "segue", "source": "flip", "identifier": "back"]))
        #expect(back["resolved"] == ["type": "unwind", "controller": "demo"])
        #expect(back["animation"]["type"] == "flip")
        #expect(back["animation"]["duration"] == 0.75)
        #expect(back["animation"]["reversed"] == true)
        #expect(try view.end(back)["removed"] == ["flip", "star"])
        #expect(try stack().map { $0["id"] } == ["demo"])
    }

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

    @Test func `a controller that says itself how it comes does so, and goes the same way`() throws {
        let controller: JSONValue = ["id": "star", "kind": "view", "introTransitionType": "flip"]
        let push = try view.start(asked(["type": "push", "navigation": "nav", "controller": controller]))
        #expect(push["animation"]["type"] == "flip")
        #expect(push["animation"]["duration"] == 0.75)
        #expect(try view.end(push)["inserted"] == ["star"])
        #expect(try stack()[1]["introTransitionType"] == "flip")
        #expect(try view.start(asked(Self.pop))["animation"]["type"] == "flip")
    }
}

// MARK: - Defining new transitions

extension Integration.SillyTransitions {
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

    @Test func `a new type can be defined while a star comes, and the star's cannot be changed`() throws {
        let star = try view.start(segue(from: "demo", to: "star", intro: "star"))
        #expect(star.status == 201)
        let refused = try define(["star": ["duration": 2]])
        #expect(refused.status == 409)
        #expect(refused["code"] == "in-use")
        // A value of BKNSillyTransitionType, and its case in the delegate
        #expect(try define(["swirl": ["duration": 1.5, "curve": "easeOut"]]).status == 200)
        #expect(try view.end(star).status == 200)

        let swirl = try view.start(segue(from: "star", to: "flip", intro: "swirl"))
        #expect(swirl["animation"]["type"] == "swirl")
        #expect(swirl["animation"]["duration"] == 1.5)
        #expect(swirl["animation"]["curve"] == "easeOut")
        #expect(try view.end(swirl)["inserted"] == ["flip"])
    }
}

// MARK: - The gesture

extension Integration.SillyTransitions {
    @Test(arguments: [(0.26, "finish", 0.74), (0.25, "cancel", 0.25)])
    func `a star can be pulled back by its edge, and needs more than a quarter of the way`(
        fraction: Double, decision: String, remaining: Double
    ) throws {
        #expect(try view.carryOut(asked(Self.push, by: "star"))["outcome"] == "completed")
        // panGestureRecognizerForLeftEdgeOfViewController:
        let gesture: JSONValue = ["interactive": true, "policy": ["by": "fraction", "threshold": 0.25]]
        let pop = try view.start(asked(Self.pop).adding(gesture))
        // updateInteractiveTransition:
        #expect(try view.progress(pop, fraction).status == 200)
        // finishInteractiveTransition or cancelInteractiveTransition, linear and at the speed 1
        let released = try view.release(pop)
        #expect(released["decision"] == .string(decision))
        #expect(released["animation"]["curve"] == "linear")
        #expect(released["animation"]["completionSpeed"] == 1)
        #expect(released["remaining"] == .number(remaining))
        let ended = try view.end(pop)
        #expect(ended["removed"] == (decision == "finish" ? ["star"] : .null))
        #expect(try stack().map { $0["id"] } == (decision == "finish" ? ["demo"] : ["demo", "star"]))
    }
}
