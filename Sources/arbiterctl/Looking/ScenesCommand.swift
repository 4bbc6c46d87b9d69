internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl scenes`.
struct ScenesCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenes", abstract: "Lists the scenes, with how many transitions run and wait in each.")

    @OptionGroup var connection: Connection
    @OptionGroup var json: JSONOutput

    func run(_ arbiter: Arbiter) async throws {
        let scenes = try await Self.all(arbiter)
        if json.isWanted { return Terminal.output.line(JSONValue.array(scenes).text()) }
        var table = TextTable("SCENE", "REVISION", "RUNNING", "WAITING")
        for scene in scenes {
            let counts = ["revision", "runningCount", "queuedCount"].map { "\(Int(scene[$0]?.number ?? 0))" }
            table.add(scene["name"]?.string?.printable ?? "-", counts[0], counts[1], counts[2])
        }
        Terminal.output.lines(table.lines(on: .output))
    }

    /// All scenes, page by page.
    static func all(_ arbiter: Arbiter) async throws -> [JSONValue] {
        let limit = 1000
        var scenes: [JSONValue] = []
        while true {
            let after = scenes.last?["name"]?.string.map { "&after=\($0)" } ?? ""
            let request = WireRequest("GET", "/scenes?limit=\(limit)\(after)")
            let page = try await arbiter.ask(request).accepted()["scenes"]?.array ?? []
            scenes += page
            guard page.count == limit else { return scenes }
        }
    }
}
