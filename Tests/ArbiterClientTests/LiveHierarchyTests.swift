import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterClient

/// The hierarchy of a scene of a real daemon.
struct LiveHierarchyTests {
    private let daemon: DaemonProcess
    private let arbiter: ArbiterClient.Arbiter
    private let scene: ArbiterScene

    init() async throws {
        daemon = try await DaemonProcess.started(["--journal", "memory"])
        arbiter = Arbiter(url: try #require(URL(string: "http://127.0.0.1:\(daemon.port)")), client: "test")
        scene = arbiter.scene()
        try await scene.declare(["root": ["id": "nav", "kind": "navigation", "children": ["list"]]])
    }

    /// The first hierarchy that is as wanted.
    private func next(_ live: LiveHierarchy, _ isWanted: (Hierarchy) -> Bool) async throws -> Hierarchy? {
        for try await hierarchy in live.changes where isWanted(hierarchy) { return hierarchy }
        return nil
    }

    @Test func `it follows transitions, deletion and a new declaration`() async throws {
        let live = try await scene.hierarchy()
        #expect(live.current["nav"]?.children.map(\.id) == ["list"])
        try await scene.withTransition(.patient(.push("editor", onto: "nav"))) { _ in }
        #expect(try await next(live) { $0.revision == 2 }?["nav"]?.children.map(\.id) == ["list", "editor"])
        _ = try await arbiter.ask(WireRequest("DELETE", "/scenes/main")).accepted()
        #expect(try await next(live) { $0.root == nil } != nil)
        try await scene.declare(["root": "home"])
        #expect(try await next(live) { $0.root?.id == "home" } != nil)
        live.close()
        // The stream ends.
        for try await _ in live.changes {}
    }

    @Test func `a scene that is not there is empty until it is declared`() async throws {
        let absent = arbiter.scene("absent")
        let live = try await absent.hierarchy()
        #expect(live.current.root == nil && live.current.isCurrent)
        try await absent.declare(["root": "home"])
        #expect(try await next(live) { $0.root?.id == "home" }?.revision == 1)
    }
}
