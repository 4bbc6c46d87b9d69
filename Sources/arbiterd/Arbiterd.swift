internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Glibc
internal import Logging

/// The daemon: configuration, wiring, signals.
@main
struct Arbiterd: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "arbiterd",
        abstract: "Arbitrates the transitions of a user interface that several processes draw.",
        discussion: """
            Prints one line when it is ready, with its address, and logs to standard error. On SIGTERM or SIGINT new \
            requests are refused, everyone who waits is answered, and it exits; a second signal exits at once.

            Every option can be given in the environment too, --log-level as ARBITERD_LOG_LEVEL and so on; the command \
            line counts more. `arbiterd journal --help` says how to look at what is kept.
            """,
        version: version
    )

    @OptionGroup var options: Options

    static func main() {
        let given = Array(CommandLine.arguments.dropFirst())
        do {
            if given.first == JournalCommand.name {
                let environment = try Options.environmentArguments(["data"])
                var command = try JournalCommand.parseAsRoot(
                    given.dropFirst().prefix(1) + environment + given.dropFirst(2))
                try command.run()
            } else {
                Signals.block()
                var command = try parseAsRoot(try Options.environmentArguments() + given)
                try command.run()
            }
        } catch {
            Failure(error, parsing: given.first == JournalCommand.name ? JournalCommand.self : Self.self).exit()
        }
    }

    func run() throws {
        LoggingSystem.bootstrap { [options] label in options.logHandler(label: label) }
        let logger = Logger(label: "arbiterd")
        let limits = try options.serverLimits(logger: logger)
        let socket = try ListeningSocket(options.listen, beyondLoopback: options.insecure)
        let address = socket.address
        let hub = EventHub()
        let engine = try Engine(
            journal: try options.makeJournal(logger: logger), trustsLeasesOver: options.trustLeasesOver,
            listener: hub.publish)
        engine.eachScene { hub.begin($0, at: $1) }
        let router = Router(engine: engine, hub: hub, logger: logger)
        let server = try MicroHTTPDServer(socket, router: router, limits: limits)
        Output.writeLine("arbiterd \(Self.version) ready on http://\(address)", to: STDOUT_FILENO)

        let signal = Signals.waitForFirst()
        logger.info("draining", metadata: ["signal": "\(signal)"])
        router.drain()
        engine.drain()
        hub.close()
        server.stop()
        engine.stop()
        logger.info("drained")
    }
}
