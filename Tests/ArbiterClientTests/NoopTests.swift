import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterClient

/// Operations that would change nothing, with a real daemon.
struct NoopTests {
    @Test func `an operation that changes nothing has no lock and no fence`() async throws {
        let daemon = try await DaemonProcess.started(["--journal", "memory"])
        let url = try #require(URL(string: "http://127.0.0.1:\(daemon.port)"))
        let scene = Arbiter(url: url, client: "test").scene()
        try await scene.declare(["root": ["id": "nav", "kind": "navigation", "children": ["list"]]])
        let facts = try await scene.withTransition(.patient(.pop("nav"))) { ($0.isNoop, $0.fence, $0.isLost) }
        #expect(facts == (true, nil, false))
        #expect(try await scene.read()["runningCount"] == 0)
        let lock = TransitionLock(scene, options: .patient) { _ in Issue.record("nothing is to be performed") }
        let isFinished = await withCheckedContinuation { continuation in
            lock.pop("nav") { continuation.resume(returning: $0.isFinished) }
        }
        #expect(isFinished)
    }
}
