internal import ArbiterTestKit
internal import Testing

extension Integration {
    /// Many clients that want the same at once; only the last one counts.
    @Suite struct Bursts {
        private static let scene = "burst"
        private static let views = 5
        private static let selections = 20

        private let daemon: DaemonProcess
        private let client: WireClient
        private let views: [ViewProcess]

        init() throws {
            let daemon = try DaemonProcess()
            self.daemon = daemon
            client = try daemon.connect()
            views = try (0..<Self.views).map { try ViewProcess("view-\($0)", of: daemon) }
            let tabs = (0...Self.views * Self.selections).map { JSONValue.string("tab-\($0)") }
            let storyboard: JSONValue = ["root": ["id": "tabs", "kind": "tabs", "children": .array(tabs)]]
            #expect(try client.declare(storyboard, in: Self.scene).status == 200)
        }

        private func select(_ index: Int) -> JSONValue {
            [
                "scene": .string(Self.scene), "coalesce": ["key": "selection", "keep": "latest"],
                "operation": ["type": "select", "tabs": "tabs", "index": .number(Double(index))],
            ]
        }

        /// The tabs that a view selects, all different.
        private func selections(of view: Int) -> [JSONValue] {
            (1...Self.selections).map { select(view * Self.selections + $0) }
        }

        /// Polls the scene until this many clients have sent their requests.
        ///
        /// - Returns: the highest numbers of running and of waiting transitions that were seen.
        private func watch(untilAsked count: Int) throws -> (running: Int, queued: Int) {
            var (running, queued) = (0, 0)
            let isDone = try eventually {
                let hasEverybodyAsked = try client.transitions(in: Self.scene).count == count
                let scene = try client.get("/scenes/\(Self.scene)")
                running = max(running, scene["running"].elements.count)
                queued = max(queued, scene["queue"].elements.count)
                return hasEverybodyAsked
            }
            #expect(isDone)
            return (running, queued)
        }

        @Test func `of a hundred selections while one is animated the last one is carried out`() throws {
            let holder = try client.start(["scene": .string(Self.scene), "leaseSeconds": 300])
            for (number, view) in views.enumerated() {
                for body in selections(of: number) { view.ask("POST", "/transitions/serialize", body) }
            }
            let most = try watch(untilAsked: 1 + Self.views * Self.selections)
            #expect(most == (1, 1))

            var winner: ViewAnswer?
            let list = try client.transitions(in: Self.scene)
            for view in views {
                for answer in try view.answers(Self.selections) {
                    #expect(answer.status == 202)
                    #expect(answer["position"] == 1)
                    if answer["id"] == list.last?["id"] { winner = answer }
                }
            }
            // In request order, each superseded ticket names the one after it.
            for (loser, next) in zip(list.dropFirst(), list.dropFirst(2)) {
                #expect(loser.ending == "superseded")
                #expect(loser["supersededBy"] == next["id"])
            }
            #expect(try client.end(holder).status == 200)
            let won = try #require(winner)
            #expect(try client.record(of: won["id"])["state"] == "running")
            #expect(try client.post("/transitions/end", won.credentials).json.ending == "completed")
            #expect(try client.tree(of: Self.scene)["selected"] == won["operation"]["index"])
        }

        @Test func `a burst that is worked off while it comes never has more than one in line`() throws {
            for (number, view) in views.enumerated() { view.perform(selections(of: number), count: 1) }
            let most = try watch(untilAsked: Self.views * Self.selections)
            #expect(most.running <= 1)
            #expect(most.queued <= 1)
            for view in views {
                // Every client that was not granted got a reason.
                for line in try view.violations(within: .seconds(60)) {
                    #expect(line.contains(#""outcome":"superseded""#))
                }
            }
            let list = try client.transitions(in: Self.scene)
            #expect(list.allSatisfy { ["completed", "superseded"].contains($0.ending) })
            #expect(list.first?.ending == "completed")
            #expect(list.last?.ending == "completed")
            #expect(try client.tree(of: Self.scene)["selected"] == list.last?["operation"]["index"])
            // No ticket was superseded by an earlier one.
            for (index, transition) in list.enumerated() where transition.ending == "superseded" {
                #expect(list[(index + 1)...].contains { $0["id"] == transition["supersededBy"] })
            }
        }
    }
}
