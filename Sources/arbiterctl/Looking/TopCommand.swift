internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl top`.
struct TopCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "top", abstract: "Shows the busiest scenes: who holds each, for how long, and who waits longest.",
        discussion: "On a terminal it is drawn again as things change, until interrupted; elsewhere it is written once."
    )

    /// The most scenes that are looked into for each drawing.
    private static let detailed = 20

    @OptionGroup var connection: Connection

    func run(_ arbiter: Arbiter) async throws {
        guard Terminal.output.isTerminal else { return Terminal.output.lines(try await lines(arbiter)) }
        try await LiveView().run(arbiter.events()) { try await lines(arbiter) }
    }

    private func lines(_ arbiter: Arbiter) async throws -> [String] {
        let scenes = try await ScenesCommand.all(arbiter)
        func count(_ scene: JSONValue, _ member: String) -> Int { Int(scene[member]?.number ?? 0) }
        func rank(_ scene: JSONValue) -> (Int, Int) { (count(scene, "queuedCount"), count(scene, "runningCount")) }
        let busy = scenes.filter { rank($0) != (0, 0) }.sorted { rank($0) > rank($1) }
        let running = scenes.reduce(0) { $0 + count($1, "runningCount") }
        let waiting = scenes.reduce(0) { $0 + count($1, "queuedCount") }
        var table = TextTable("SCENE", "HELD BY", "DOES", "FOR", "WAITING", "LONGEST WAIT", "REVISION")
        for scene in busy.prefix(min(Self.detailed, max(1, Terminal.output.size.rows - 4))) {
            guard let text = try await detail(arbiter, scene["name"]?.string ?? "") else { continue }
            let (holder, first) = (text.running.first, text.queue.first)
            let more = text.runningCount > 1 ? " +\(text.runningCount - 1)" : ""
            table.add(
                text.name.shortened(to: 24), holder.map { $0.client.shortened(to: 24) + more } ?? "-",
                holder?.operation.shortened(to: 24) ?? "-", holder.map { text.age($0, since: "grantedAt") } ?? "-",
                "\(text.queuedCount)", first.map { text.age($0, since: "requestedAt") } ?? "-", "\(text.revision)")
        }
        let summary =
            "\(connection.address.printable)  scenes: \(scenes.count), busy: \(busy.count), running: \(running), "
            + "waiting: \(waiting)"
        return [Terminal.output.styled(summary, .bold)] + table.lines(on: .output)
    }

    /// A scene; `nil` if it is gone meanwhile.
    private func detail(_ arbiter: Arbiter, _ name: String) async throws -> SceneText? {
        do {
            return try await SceneText.read(arbiter, name)
        } catch ClientError.refused(let refusal) where refusal.status == 404 {
            return nil
        }
    }
}
