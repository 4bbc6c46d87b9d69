internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// TransitionLock, which keeps the transitions of several view controllers from colliding.
    ///
    /// Each example of its README is a process, and the comments name the statements for which the requests stand. An
    /// operation is asked for together with the lock, so `startTransition` and the method after it are one request, and
    /// so are `serializeTransitionWithBlock:` and the method in its block.
    @Suite struct TransitionLock {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let master: ViewProcess
        private let detail: ViewProcess
        private let timer: ViewProcess

        private static let scene = "contacts"
        private static let contact: JSONValue = ["id": "detail", "kind": "navigation", "children": ["contact"]]
        /// A list of contacts at the left, and a contact at the right, each drawn by its own process.
        private static let storyboard: JSONValue = [
            "root": [
                "id": "split", "kind": "split",
                "primary": ["id": "master", "kind": "navigation", "children": ["contacts"]],
                "secondary": contact,
            ],
            "segues": [
                ["identifier": "mySegue", "source": "contact", "kind": "present", "destination": "editor"],
                ["identifier": "showContact", "source": "contacts", "kind": "showDetail", "destination": contact],
            ],
        ]
        private static let mySegue: JSONValue = ["type": "segue", "source": "contact", "identifier": "mySegue"]
        private static let showContact: JSONValue = [
            "type": "segue", "source": "contacts", "identifier": "showContact",
        ]
        /// Takes the place of the contact.
        private static let showNote: JSONValue = ["type": "showDetail", "split": "split", "controller": "note"]
        /// What the contact dismisses is what it presents, as in UIKit.
        private static let dismiss: JSONValue = ["type": "dismiss", "controller": "contact"]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            master = try ViewProcess("master", of: daemon)
            detail = try ViewProcess("detail", of: daemon)
            timer = try ViewProcess("timer", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private func asked(_ operation: JSONValue, by view: String) -> JSONValue {
            ["scene": .string(Self.scene), "client": .string(view), "operation": operation]
        }

        private func tree() throws -> JSONValue {
            try client.tree(of: Self.scene)
        }
    }
}

// MARK: - The synchronous approach

extension Integration.TransitionLock {
    @Test func `a button performs its segue under the lock, and frees it at the completion`() throws {
        // myButtonAction: startTransition, performSegueWithIdentifier:sender:completion:
        let segue = try detail.start(asked(Self.mySegue, by: "detail"))
        #expect(segue.status == 201)
        // prepareForSegue:sender: tells which controller is the destination.
        #expect(segue["resolved"] == ["type": "present", "presenter": "contact", "controller": editor])
        #expect(try client.get("/scenes/\(Self.scene)/controllers/contact")["lockedBy"] == [segue["id"]])
        #expect(try tree()["presented"] == .null)
        // In the completion: endTransition
        let ended = try detail.end(segue)
        #expect(ended["outcome"] == "completed")
        #expect(ended["inserted"] == ["editor"])
        #expect(try tree()["presented"]["id"] == "editor")
        #expect(try client.get("/scenes/\(Self.scene)/controllers/contact")["lockedBy"] == [])
    }

    private var editor: JSONValue { ["id": "editor", "kind": "view"] }

    @Test func `a button drops its event when the lock is busy`() throws {
        let held = try detail.start(asked(Self.mySegue, by: "detail"))
        #expect(held.status == 201)

        // startTransition is false, so the handler returns.
        let add = asked(["type": "present", "presenter": "contacts", "controller": "adder"], by: "master")
        let dropped = try master.start(add)
        #expect(dropped.status == 409)
        #expect(dropped["code"] == "busy")
        #expect(dropped["holder"]["client"] == "detail")
        #expect(dropped["holder"].names.contains("token") == false)

        // It was refused, not queued: it has no effect when the lock is free.
        #expect(try client.queuedCount(in: Self.scene) == 0)
        #expect(try detail.end(held).status == 200)
        #expect(try client.transitions(in: Self.scene).map { $0["id"] } == [held["id"]])
        #expect(try tree()["presented"]["id"] == "editor")

        // At the next touch the lock is free, but the editor has been inserted meanwhile.
        let refused = try master.start(add)
        #expect(refused.status == 422)
        #expect(refused["code"] == "already-presenting")
    }

    @Test func `the four methods are a lock, whatever the controllers are`() throws {
        let lock: JSONValue = ["scene": "lock"]
        // startTransition
        let first = try detail.start(lock)
        #expect(first.status == 201)
        // serializeTransitionWithBlock:
        timer.park(lock)
        try #require(try client.isQueueLong(1, in: "lock"))
        #expect(try master.start(lock).status == 409)
        // endTransition, and the block runs.
        #expect(try detail.end(first).status == 200)
        let block = try timer.answer()
        #expect(block.status == 201)
        #expect(try #require(block["fence"].integer) > #require(first["fence"].integer))
        #expect(try master.start(lock).status == 409)
        // transitionComplete
        #expect(try timer.end(block).status == 200)
        #expect(try master.start(lock).status == 201)
    }
}

// MARK: - The asynchronous approach

extension Integration.TransitionLock {
    /// `timerFireMethod:` up to its block: `serializeTransitionWithBlock:`, the test of `presentedViewController` at the
    /// beginning of the block, and `dismissViewControllerAnimated:completion:`.
    private func timerFires() throws {
        let presents: JSONValue = ["expect": ["controller": "contact", "is": "presenting"]]
        timer.park(asked(Self.dismiss, by: "timer").adding(presents))
        try #require(try client.isQueueLong(1, in: Self.scene))
    }

    @Test func `a timer that must dismiss dismisses what is still there`() throws {
        let presenting = try detail.start(asked(Self.mySegue, by: "detail"))
        try timerFires()
        #expect(try detail.end(presenting)["inserted"] == ["editor"])

        let block = try timer.answer()
        #expect(block.status == 201)
        #expect(block["requestedRevision"].integer.map { $0 + 1 } == block["revision"].integer)
        // In the completion: transitionComplete
        #expect(try timer.end(block)["removed"] == ["editor"])
        #expect(try tree()["presented"] == .null)
    }

    @Test func `a timer that must dismiss finds that the user has dismissed already, and blocks nobody`() throws {
        #expect(try detail.carryOut(asked(Self.mySegue, by: "detail"))["outcome"] == "completed")
        let byUser = try detail.start(asked(Self.dismiss, by: "detail"))
        #expect(byUser.status == 201)
        try timerFires()
        let next = try client.serialize(["scene": .string(Self.scene)])
        #expect(next.status == 202)

        #expect(try detail.end(byUser)["removed"] == ["editor"])
        // Otherwise: transitionComplete, for which no request is needed.
        let rejected = try timer.answer()
        #expect(rejected.status == 200)
        #expect(rejected.json.ending == "rejected/expectation-failed")
        #expect(rejected["code"] == "expectation-failed")
        #expect(rejected["expected"] == "contact is presenting")
        #expect(rejected["actual"] == "presents nothing")
        #expect(rejected["fence"] == .null)
        #expect(try client.record(of: next["id"])["state"] == "running")
        #expect(try tree()["presented"] == .null)
    }

    @Test func `a timer whose own controller is gone dismisses nothing`() throws {
        let showing = try master.start(asked(Self.showNote, by: "master"))
        try timerFires()
        #expect(try master.end(showing)["removed"] == ["detail"])
        // weakSelf is nil.
        let rejected = try timer.answer()
        #expect(rejected.json.ending == "rejected/expectation-failed")
        #expect(rejected["expected"] == "contact is presenting")
        #expect(rejected["actual"] == "absent")
        #expect(try client.start(["scene": .string(Self.scene)]).status == 201)
    }

    @Test func `a block that presents may find that the presenter has disappeared`() throws {
        let showing = try master.start(asked(Self.showNote, by: "master"))
        // serializeTransitionWithBlock: presentViewController:animated:completion:
        timer.park(asked(["type": "present", "presenter": "contact", "controller": "editor"], by: "timer"))
        try #require(try client.isQueueLong(1, in: Self.scene))
        #expect(try master.end(showing)["inserted"] == ["note"])
        let rejected = try timer.answer()
        #expect(rejected.json.ending == "rejected/invalid-operation")
        #expect(rejected["code"] == "unknown-controller")
        #expect(try tree()["presented"] == .null)
    }

    @Test func `blocks are executed in the order in which they were serialized`() throws {
        let held = try detail.start(asked(Self.mySegue, by: "detail"))
        // serializeTransitionWithBlock:, three times in a row
        let blocks = try (1...3).map { number in
            let group: JSONValue = ["type": "push", "navigation": "master", "controller": .string("group\(number)")]
            return try timer.serialize(asked(group, by: "timer"))
        }
        #expect(blocks.map(\.status) == [202, 202, 202])
        #expect(blocks.map { $0["position"] } == [1, 2, 3])
        #expect(try detail.end(held).status == 200)
        // A button does not overtake them.
        #expect(try detail.start(asked(Self.dismiss, by: "detail"))["code"] == "busy")

        for (index, block) in blocks.enumerated() {
            #expect(try timer.post("/transitions/await", block.credentials)["state"] == "running")
            #expect(try client.queuedCount(in: Self.scene) == blocks.count - 1 - index)
            // transitionComplete
            #expect(try timer.end(block)["inserted"] == [.string("group\(index + 1)")])
        }
        #expect(try tree()["primary"].childNames == ["contacts", "group1", "group2", "group3"])
    }
}

// MARK: - Collisions, and the methods that cause transitions

extension Integration.TransitionLock {
    @Test func `a button in the master that dismisses and shows in the detail collides with nothing`() throws {
        // The contact is being edited.
        let editing = try detail.start(asked(Self.mySegue, by: "detail"))
        #expect(editing["waiting"] == 0)
        // A second transition now would be an exception in UIKit.
        #expect(try master.start(asked(Self.showContact, by: "master")).status == 409)
        // A contact is added: what the detail presents goes, and a new detail comes.
        let dismissing = try master.serialize(asked(Self.dismiss, by: "master"))
        let showing = try master.serialize(asked(Self.showContact, by: "master"))
        #expect([dismissing.status, showing.status] == [202, 202])
        #expect(try detail.post("/transitions/renew", editing.credentials)["waiting"] == 2)
        #expect(try detail.end(editing)["inserted"] == ["editor"])

        #expect(try master.post("/transitions/await", dismissing.credentials)["state"] == "running")
        #expect(try master.end(dismissing)["removed"] == ["editor"])
        let shown = try master.post("/transitions/await", showing.credentials)
        #expect(shown["resolved"]["type"] == "showDetail")
        let ended = try master.end(showing)
        #expect(ended["inserted"] == ["detail"])
        #expect(ended["removed"] == ["detail"])
    }

    @Test func `the master shows a new contact twice, by the same names`() throws {
        for revision in 2...3 {
            let showing = try master.start(asked(Self.showContact, by: "master"))
            #expect(showing.status == 201)
            #expect(showing["resolved"] == ["type": "showDetail", "split": "split", "controller": contactNode])
            let ended = try master.end(showing)
            #expect(ended["revision"].integer == revision)
            #expect(ended["removed"] == ["detail"])
            #expect(ended["inserted"] == ["detail"])
            #expect(try tree()["secondary"].childNames == ["contact"])
        }
    }

    private var contactNode: JSONValue {
        Self.contact.adding(["children": [["id": "contact", "kind": "view"]]])
    }

    /// A method that causes a transition: nothing has changed before its completion, and everything has at it.
    private func perform(
        _ operation: JSONValue, by view: ViewProcess, named name: String, showing destination: String
    ) throws -> ViewAnswer {
        func tells(_ answer: ViewAnswer, _ event: JSONValue) -> Bool {
            answer["appearance"].elements.contains(["controller": .string(destination), "event": event])
        }
        let before = try tree()
        let begun = try view.start(asked(operation, by: name))
        #expect(begun.status == 201)
        #expect(tells(begun, "willAppear"))
        #expect(!tells(begun, "didAppear"))
        #expect(try tree() == before)
        let ended = try view.end(begun)
        // Without the completion it would be viewDidAppear: that says so.
        #expect(tells(ended, "didAppear"))
        #expect(try tree() != before)
        return ended
    }

    @Test func `a segue, a presentation and a dismissal are over when their destination has appeared`() throws {
        // performSegueWithIdentifier:sender:completion:
        let segue = try perform(Self.mySegue, by: detail, named: "detail", showing: "editor")
        #expect(segue["inserted"] == ["editor"])
        // dismissViewControllerAnimated:completion:
        let dismissal = try perform(Self.dismiss, by: detail, named: "detail", showing: "contact")
        #expect(dismissal["removed"] == ["editor"])
        // presentViewController:animated:completion:
        let present: JSONValue = ["type": "present", "presenter": "contact", "controller": "camera"]
        #expect(try perform(present, by: detail, named: "detail", showing: "camera")["inserted"] == ["camera"])
    }

    @Test func `a push and every kind of pop complete with what they have pushed and popped`() throws {
        func navigate(_ type: String, _ more: JSONValue = [:], showing destination: String) throws -> ViewAnswer {
            let operation: JSONValue = ["type": .string(type), "navigation": "master"]
            return try perform(operation.adding(more), by: master, named: "master", showing: destination)
        }
        // pushViewController:animated:completion:
        for group in ["friends", "family", "children"] {
            let pushed = try navigate("push", ["controller": .string(group)], showing: group)
            #expect(pushed["inserted"] == [.string(group)])
        }
        // popToViewController:animated:completion:
        let popped = try navigate("popTo", ["controller": "friends"], showing: "friends")
        #expect(popped["removed"] == ["children", "family"])
        // popViewControllerAnimated:completion:
        #expect(try navigate("pop", showing: "contacts")["removed"] == ["friends"])
        for group in ["friends", "family"] {
            _ = try navigate("push", ["controller": .string(group)], showing: group)
        }
        // popToRootViewControllerAnimated:completion:
        #expect(try navigate("popToRoot", showing: "contacts")["removed"] == ["family", "friends"])
        #expect(try tree()["primary"].childNames == ["contacts"])
    }
}
