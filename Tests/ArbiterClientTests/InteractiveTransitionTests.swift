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
        #expect(try await drag.release { _, _ in } == (children.count == 1))
        #expect(try await self.children() == children)
    }

    @Test func `finish and cancel decide against the policy`() async throws {
        let back = try await drag()
        back.update(0.9)
        try await back.cancel { _, _ in }
        #expect(try await children() == ["list", "editor"])
        let gone = try await drag()
        gone.update(0.1)
        try await gone.finish { _, _ in }
        #expect(try await children() == ["list"])
    }

    @Test func `the rest of the animation is played before the end`() async throws {
        struct Mistake: Error {}
        let drag = try await drag()
        drag.update(0.5)
        let remaining = Guarded(Duration.zero)
        await #expect(throws: Mistake.self) {
            try await drag.finish { rest, transition in
                remaining.withLock { $0 = rest }
                #expect(transition.decision == "finish")
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

    @Test func `a gesture to which nobody refers leaves the queue, or gives the lock back`() async throws {
        let holder = try #require(try await scene.start(.patient))
        _ = scene.serializeInteractive(TransitionOptions.patient(.pop("nav")))
        _ = try await holder.complete()
        try await scene.untilIdle()
        _ = try await drag()
        try await scene.untilIdle()
        #expect(try await children() == ["list", "editor"])
    }

    @Test func `a task that waits for the turn of a gesture and is cancelled gives it up`() async throws {
        let holder = try #require(try await scene.start(.patient))
        let gesture = scene.serializeInteractive(TransitionOptions.patient(.pop("nav")))
        let waiting = Task { try await gesture.granted }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        await #expect(throws: (any Error).self) { try await gesture.finish() }
        try await holder.complete()
        try await scene.withTransition { _ in }
        #expect(try await children() == ["list", "editor"])
    }

    @Test func `a task that is cancelled while the finger leaves holds nothing`() async throws {
        let drag = try await drag()
        drag.update(0.9)
        let leaving = Task {
            try await drag.finish { _, transition in
                await transition.untilLost()
                try Task.checkCancellation()
            }
        }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { try await leaving.value }
        try await scene.untilIdle()
        // It was decided, or not.
        #expect(try await [["list"], ["list", "editor"]].contains(children()))
    }

    @Test func `what is no number moves nothing`() async throws {
        let drag = try await drag()
        drag.update(0.4)
        drag.update(0.7, velocity: .nan)
        drag.update(.nan)
        #expect(try await drag.release { _, _ in })
    }

    @Test func `what is lost is not decided, and nothing is played`() async throws {
        let drag = try await drag()
        drag.update(0.9)
        let transition = try await drag.granted
        _ = try await arbiter.revoke(transition.id, reason: "a test")
        await transition.untilLost()
        await #expect {
            try await drag.finish { _, _ in Issue.record("it was played") }
        } throws: { error in
            guard case ClientError.ended(let ending) = error else { return false }
            return ending.outcome == "revoked"
        }
    }

    @Test func `what is released twice is played once`() async throws {
        let drag = try await drag()
        drag.update(0.9)
        let (begun, ended) = (SingleResult<Void>(), SingleResult<Void>())
        let first = Task {
            try await drag.release { _, _ in
                begun.finish(.success(()))
                try await ended.value()
            }
        }
        try await begun.value()
        let second = Task { try await drag.release { _, _ in Issue.record("it was played again") } }
        await #expect { try await drag.cancel() } throws: { error in
            guard case ClientError.refused(let refusal) = error else { return false }
            return refusal.code == "already-decided"
        }
        ended.finish(.success(()))
        #expect(try await first.value)
        #expect(try await second.value)
        #expect(try await drag.release { _, _ in Issue.record("it was played again") })
    }

    @Test func `where there was nothing to do, the view goes back`() async throws {
        try await scene.withTransition(.pop("nav")) { _ in }
        let drag = try await drag()
        drag.update(0.9)
        let played = Guarded(false)
        let hasFinished = try await drag.release { _, transition in
            played.withLock { $0 = transition.isNoop && transition.decision == nil }
        }
        #expect(!hasFinished)
        #expect(played.withLock { $0 })
    }

    @Test func `a finger that leaves after its timeout is told of that`() async throws {
        let holder = try #require(try await scene.start(.patient))
        let drag = scene.serializeInteractive(TransitionOptions.patient(.pop("nav")), timeout: .milliseconds(50))
        await #expect(throws: ClientError.timedOut) { _ = try await drag.granted }
        await #expect(throws: ClientError.timedOut) { try await drag.finish() }
        try await drag.cancel()
        try await holder.complete()
    }

    @Test func `a gesture that waits for the body it is in is refused`() async throws {
        try await scene.withTransition(TransitionOptions.patient(.pop("nav"))) { _ in
            let drag = scene.serializeInteractive(TransitionOptions.patient)
            drag.update(0.9)
            await #expect {
                try await drag.finish()
            } throws: { error in
                if case ClientError.blockedBySelf = error { true } else { false }
            }
        }
    }

    @Test func `the rest runs where it was passed`() async throws {
        let drag = try await drag()
        let view = View()
        try await view.finish(drag)
        #expect(await view.isPlayed)
    }

    @MainActor private final class View {
        var isPlayed = false

        nonisolated init() {}

        func finish(_ drag: InteractiveTransition) async throws {
            try await drag.finish { _, _ in self.isPlayed = true }
        }
    }

    @Test func `a closed client says so at once`() async throws {
        let transition = try await drag().granted
        await arbiter.close()
        await #expect(throws: ClientError.closed) { try await scene.start() }
        await #expect(throws: ClientError.closed) { try await scene.read() }
        await transition.untilLost()
        #expect(transition.isLost)
    }
}
