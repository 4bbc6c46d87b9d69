internal import ArbiterClient
internal import ArgumentParser

/// `arbiterctl watch`: events, one line each.
struct WatchCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows what happens, one line for each event, until it is interrupted.",
        discussion: """
            A line has the time, the scene, the event, and who it is about; with --ids it begins with the id of the event, \
            which --since takes, or with - if it has none. With --json a line is an object with the name, id and data of \
            the event.
            """
    )

    @OptionGroup var connection: Connection

    @Option(help: "The scene; all scenes unless given.")
    var scene: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The id of an event: shows what came after it.", valueName: "id"))
    var since: String?

    @Flag(help: "Begin each line with the id of the event.")
    var ids = false

    @OptionGroup var json: JSONOutput

    func validate() throws {
        guard since.map({ !$0.isEmpty && !$0.hasPrefix("-") }) ?? true else {
            throw ValidationError("--since must be the id of an event, as --ids shows it")
        }
    }

    func run(_ arbiter: Arbiter) async throws {
        let events = scene.map { arbiter.scene($0).events(since: since) } ?? arbiter.events(since: since)
        for try await event in events { Terminal.output.line(json.isWanted ? encoded(event) : words(event)) }
    }

    private func encoded(_ event: ArbiterEvent) -> String {
        let document: JSONValue = [
            "name": .string(event.name), "id": event.id.map { .string($0) } ?? .null, "data": event.data,
        ]
        return document.text()
    }

    private func words(_ event: ArbiterEvent) -> String {
        let id = ids ? [event.id ?? "-"] : []
        let known = id + ["at", "scene"].map { event.data[$0]?.string ?? "-" }
        let about = ["id", "session", "controller", "client", "outcome", "reason"].compactMap { name in
            event.data[name]?.string.map { "\(name)=\($0)" }
        }
        return (known + [event.name] + about).joined(separator: "  ").printable
    }
}
