internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl queue`.
struct QueueCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Shows who holds the lock of a scene, who waits, for whom and why.",
        discussion: """
            The first 100 of each are shown, and who guards which controllers. With --json it is an object with the revision of the \
            scene's hierarchy, the transitions in running and queue, and guards.
            """
    )

    @OptionGroup var connection: Connection

    @OptionGroup var scene: SceneOption

    @Flag(help: "Draw it again as it changes, until interrupted; needs a terminal.")
    var watch = false

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard !watch || Terminal.output.isTerminal else { throw ValidationError("--watch needs a terminal") }
    }

    func run(_ arbiter: Arbiter) async throws {
        if json.isWanted {
            let document = try await arbiter.scene(scene.name).read()
            let parts: JSONValue = [
                "revision": document["revision"] ?? 0, "running": document["running"] ?? [],
                "queue": document["queue"] ?? [], "guards": document["guards"] ?? [],
            ]
            return Terminal.output.line(parts.text())
        }
        if watch { return try await LiveView().run(arbiter.scene(scene.name).events()) { try await lines(arbiter) } }
        Terminal.output.lines(try await lines(arbiter))
    }

    private func lines(_ arbiter: Arbiter) async throws -> [String] {
        let scene = try await SceneText.read(arbiter, scene.name)
        var table = TextTable("", "CLIENT", "WANTS", "FOR", "TRANSITION", "")
        for transition in scene.running {
            let lease = transition.seconds("leaseRemaining").map { ", lease \($0.inTenths) s" } ?? ""
            table.add(
                transition.state, transition.client.shortened(to: 24), transition.operation.shortened(to: 32),
                scene.age(transition, since: "grantedAt"), transition.id,
                "locks \(transition.locked)\(lease)" + (transition.missing.map { ", waits for \($0)" } ?? "")
                    + transition.noteAside)
        }
        for transition in scene.queue {
            table.add(
                transition.seconds("position").map { "\(Int($0))." } ?? "aside", transition.client.shortened(to: 24),
                transition.operation.shortened(to: 32), scene.age(transition, since: "requestedAt"), transition.id,
                "waits for " + WaitingReason(scene).words(for: transition) + transition.noteAside)
        }
        let guards = scene.guards.map { "\($0.client) guards \($0.controllers)" }
        return [Terminal.output.styled(scene.summary, .bold)] + table.lines(on: .output) + guards
    }
}

/// Why one transition waits for another.
struct WaitingReason {
    private let scene: SceneText

    init(_ scene: SceneText) { self.scene = scene }

    /// The first transition that is in the way, and why it is.
    func words(for waiting: TransitionText) -> String {
        if let seconds = waiting.seconds("resumeRemaining") {
            return "the leases that the daemon may have forgotten; nothing is granted for \(seconds.inTenths) s"
        }
        if let unmet = waiting.unmet { return unmet }
        let blockers = waiting.document["blockers"]?.array?.compactMap(\.string) ?? []
        guard let first = blockers.first else { return "its turn" }
        let more = blockers.count > 1 ? " and \(blockers.count - 1) more" : ""
        guard let blocker = scene.transition(first) else { return "\(first)\(more)" }
        return "\(blocker.client) (\(first))\(more): \(reason(waiting, blocker))"
    }

    private func reason(_ waiting: TransitionText, _ blocker: TransitionText) -> String {
        guard let wanted = waiting.document["locks"]?.array?.compactMap(\.string) else {
            return "it needs the whole scene"
        }
        guard let held = blocker.document["locks"]?.array?.compactMap(\.string) else {
            return blocker.state == "queued" ? "that one needs the whole scene" : "that one locks the whole scene"
        }
        let shared = wanted.filter { held.contains($0) }
        if !shared.isEmpty { return "both lock \(shared.joined(separator: ", ").printable)" }
        for (inner, outer) in wanted.flatMap({ inner in held.map { (inner, $0) } }) {
            if contains(outer, inner) { return "\(inner) is inside \(outer)".printable }
            if contains(inner, outer) { return "\(outer) is inside \(inner)".printable }
        }
        return "that one brings in a controller that it names"
    }

    private func contains(_ outer: String, _ inner: String) -> Bool { scene.hierarchy[outer]?.node(inner) != nil }
}
