internal import ArbiterClient
internal import ArgumentParser

/// How the daemon is reached, and for how long that is tried.
struct Connection: ParsableArguments {
    @OptionGroup var daemon: Daemon

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many seconds a request is repeated while the daemon cannot be reached.", valueName: "seconds"))
    var patience = 30.0

    /// The name by which people know this client.
    var client: String? { daemon.client }

    /// Where the daemon is thought to listen.
    var address: String { daemon.address }

    /// - Throws: `Failure` if a file that was named cannot be used.
    func makeArbiter(named name: String? = nil) throws -> Arbiter {
        try daemon.makeArbiter(named: name, patience: .seconds(patience))
    }

    func validate() throws {
        guard patience >= 0, patience <= 86_400 else { throw ValidationError("--patience must be 0 to 86400 seconds") }
    }
}
