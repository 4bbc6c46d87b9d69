internal import ArbiterClient
internal import ArgumentParser

/// A command that asks the daemon.
protocol ClientCommand: AsyncParsableCommand {
    var connection: Connection { get }

    func run(_ arbiter: Arbiter) async throws
}

extension ClientCommand {
    func run() async throws { try await run(try connection.makeArbiter()) }
}
