import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterClient

/// Gestures, with a real daemon.
struct InteractiveTransitionTests {
    private let daemon: DaemonProcess
    private let arbiter: ArbiterClient.Arbiter
    private let scene: ArbiterScene

    init() async throws {
        daemon = try await DaemonProcess.started(["--journal", "memory"])
        arbiter = Arbiter(url: try #require(URL(string: "http://127.0.0.1:\(daemon.port)")), client: "test")
        scene = arbiter.scene()
        try await scene.declare(["root": ["id": "nav", "kind": "navigation", "children": ["list", "editor"]]])
    }

    private func drag() async throws -> InteractiveTransition {
        try #require(try await scene.startInteractive(TransitionOptions.patient(.pop("nav"))))
    }

    private func children() async throws -> [String]? {
        Hierarchy(scene: try await scene.read())["nav"]?.children.map(\.id)
    }

    @Test(arguments: [(0.7, ["list"]), (0.2, ["list", "editor"])])
    func `the policy decides by the last position`(fraction: Double, children: [String]) async throws {
        let drag = try await drag()
        for step in 0...100 { drag.update(fraction * Double(step) / 100) }
        #expect(try await drag.release { _ in } == (children.count == 1))
        #expect(try await self.children() == children)
    }

    @Test func `finish and cancel decide against the policy`() async throws {
        let back = try await drag()
        back.update(0.9)
        try await back.cancel { _ in }
        #expect(try await children() == ["list", "editor"])
        let gone = try await drag()
        gone.update(0.1)
        try await gone.finish { _ in }
        #expect(try await children() == ["list"])
    }

    @Test func `the rest of the animation is played before the end`() async throws {
        struct Mistake: Error {}
        let drag = try await drag()
        drag.update(0.5)
        let remaining = Guarded(Duration.zero)
        await #expect(throws: Mistake.self) {
            try await drag.finish { rest in
                remaining.withLock { $0 = rest }
                throw Mistake()
            }
        }
        #expect(remaining.withLock { $0 } > .zero)
        // It was decided, and so it is ended.
        #expect(try await children() == ["list"])
    }

    @Test func `a gesture does not begin while another transition is in the way`() async throws {
        let holder = try #require(try await scene.start(.patient))
        #expect(try await scene.startInteractive(TransitionOptions.patient(.pop("nav"))) == nil)
        try await holder.complete()
    }

    @Test(arguments: [("finish", ["list"]), ("cancel", ["list", "editor"])])
    func `a gesture that its body has released ends as it was decided`(
        decision: String, children: [String]
    ) async throws {
        var options = TransitionOptions.patient(.pop("nav"))
        options.isInteractive = true
        _ = try await scene.withTransition(options) { try await $0.release(decision) }
        #expect(try await self.children() == children)
    }

    @Test func `an end that contradicts the gesture is refused, and the transition goes on`() async throws {
        var options = TransitionOptions.patient(.pop("nav"))
        options.isInteractive = true
        let transition = try #require(try await scene.start(options))
        try await transition.release("cancel")
        await #expect { try await transition.complete() } throws: { error in
            guard case ClientError.refused(let refusal) = error else { return false }
            return refusal.code == "already-decided"
        }
        #expect(!transition.isLost)
        // It is kept again, and so it is heard that it is taken away.
        _ = try await arbiter.ask(
            WireRequest("POST", "/transitions/revoke", ["id": .string(transition.id), "reason": "a test"]))
        await transition.untilLost()
        #expect(transition.ending?.outcome == "revoked")
    }

    @Test func `a closed client says so at once`() async throws {
        let drag = try await drag()
        await arbiter.close()
        await #expect(throws: ClientError.closed) { try await scene.start() }
        await #expect(throws: ClientError.closed) { try await scene.read() }
        await drag.transition.untilLost()
        #expect(drag.transition.isLost)
    }
}
