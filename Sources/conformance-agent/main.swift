// The agent of the Swift client for the scenarios of Clients/conformance.

import ArbiterClient
import Foundation

guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[1]),
    let options = try? JSONDecoder().decode(JSONValue.self, from: Data(CommandLine.arguments[3].utf8))
else {
    FileHandle.standardError.write(Data("usage: conformance-agent URL NAME OPTIONS\n".utf8))
    exit(64)
}
let agent = Agent(
    Arbiter(
        url: url, client: CommandLine.arguments[2], patience: .seconds(options["patience"]?.number ?? 30),
        headers: options["headers"]?.object?.compactMapValues(\.string) ?? [:]),
    at: url)
// A thread of its own reads, because it waits for lines.
let lines = AsyncStream<String>(bufferingPolicy: .bufferingOldest(waitingLimit)) { continuation in
    Thread.detachNewThread {
        while let line = readLine() {
            if case .dropped = continuation.yield(line) { preconditionFailure("too many commands wait") }
        }
        continuation.finish()
    }
}
for await line in lines {
    guard let command = AgentCommand(line) else { continue }
    Task { await agent.answer(command) }
}
