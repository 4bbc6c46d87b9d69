internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// TransitionLock, which keeps the transitions of several view controllers from colliding: its two examples, and
    /// the three ways in which the end of a transition is detected.
    @Suite struct TransitionLock {
        private let daemon: DaemonProcess
        private let client: WireClient
        private let master: ViewProcess
        private let detail: ViewProcess

        private static let scene = "contacts"
        /// A list of contacts at the left, and a contact at the right, each drawn by its own process.
        private static let storyboard: JSONValue = [
            "root": [
                "id": "split", "kind": "split",
                "primary": ["id": "master", "kind": "navigation", "children": ["contacts"]],
                "secondary": ["id": "detail", "kind": "navigation", "children": ["contact"]],
            ],
            "segues": [["identifier": "edit", "source": "contact", "kind": "present", "destination": "editor"]],
        ]
        private static let edit: JSONValue = ["type": "segue", "source": "contact", "identifier": "edit"]

        init() throws {
            daemon = try DaemonProcess()
            client = try daemon.connect()
            master = try ViewProcess("master", of: daemon)
            detail = try ViewProcess("detail", of: daemon)
            #expect(try client.declare(Self.storyboard, in: Self.scene).status == 200)
        }

        private func asked(_ operation: JSONValue, by view: String) -> JSONValue {
            ["scene": .string(Self.scene), "client": .string(view), "operation": operation]
        }

        @Test func `a button drops its event when the lock is busy`() throws {
            let held = try detail.start(asked(Self.edit, by: "detail"))
            #expect(held.status == 201)

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
            #expect(try client.tree(of: Self.scene)["presented"]["id"] == "editor")

            // At the next touch the lock is free, but the editor has been inserted meanwhile.
            let refused = try master.start(add)
            #expect(refused.status == 422)
            #expect(refused["code"] == "already-presenting")
        }

        @Test func `a timer that must dismiss finds that the user has dismissed already, and blocks nobody`() throws {
            #expect(try detail.carryOut(asked(Self.edit, by: "detail"))["outcome"] == "completed")
            let dismiss = asked(["type": "dismiss", "controller": "editor"], by: "detail")
            let byUser = try detail.start(dismiss)
            #expect(byUser.status == 201)

            // Its block may run at any time, but only if there is something to dismiss.
            master.park(
                asked(["type": "dismiss", "controller": "editor"], by: "timer").adding([
                    "expect": ["controller": "editor", "is": "presented"]
                ]))
            try #require(try client.isQueueLong(1, in: Self.scene))
            let next = try client.serialize(["scene": .string(Self.scene)])
            #expect(next.status == 202)

            let dismissed = try detail.end(byUser)
            #expect(dismissed["removed"] == ["editor"])
            let rejected = try master.answer()
            #expect(rejected.status == 200)
            #expect(rejected.json.ending == "rejected/expectation-failed")
            #expect(rejected["code"] == "expectation-failed")
            #expect(rejected["expected"] == "editor is presented")
            #expect(rejected["actual"].string?.isEmpty == false)
            #expect(rejected["fence"] == .null)
            #expect(try client.record(of: next["id"])["state"] == "running")
            #expect(try client.tree(of: Self.scene)["presented"] == .null)
        }

        @Test func `a timer that must dismiss dismisses what is still there`() throws {
            let presenting = try detail.start(asked(Self.edit, by: "detail"))
            master.park(
                asked(["type": "dismiss", "controller": "editor"], by: "timer").adding([
                    "expect": ["controller": "editor", "is": "presented"]
                ]))
            try #require(try client.isQueueLong(1, in: Self.scene))
            #expect(try detail.end(presenting)["inserted"] == ["editor"])

            let granted = try master.answer()
            #expect(granted.status == 201)
            #expect(granted["requestedRevision"].integer.map { $0 + 1 } == granted["revision"].integer)
            #expect(try master.end(granted)["removed"] == ["editor"])
            #expect(try client.tree(of: Self.scene)["presented"] == .null)
        }

        @Test func `a segue, a push and a pop are in the tree as soon as they are complete, and not before`() throws {
            let segue = try detail.start(asked(Self.edit, by: "detail"))
            #expect(try client.tree(of: Self.scene)["presented"] == .null)
            #expect(try detail.end(segue)["inserted"] == ["editor"])
            #expect(try client.tree(of: Self.scene)["presented"]["id"] == "editor")
            let dismissed = try detail.carryOut(asked(["type": "dismiss", "controller": "editor"], by: "detail"))
            #expect(dismissed["removed"] == ["editor"])

            let push = try master.start(
                asked(["type": "push", "navigation": "master", "controller": "groups"], by: "master"))
            #expect(try client.tree(of: Self.scene)["primary"].childNames == ["contacts"])
            #expect(try master.end(push)["inserted"] == ["groups"])
            #expect(try client.tree(of: Self.scene)["primary"].childNames == ["contacts", "groups"])

            let pop = try master.start(asked(["type": "pop", "navigation": "master"], by: "master"))
            #expect(try client.tree(of: Self.scene)["primary"].childNames == ["contacts", "groups"])
            #expect(try master.end(pop)["removed"] == ["groups"])
            #expect(try client.tree(of: Self.scene)["primary"].childNames == ["contacts"])
        }
    }
}
