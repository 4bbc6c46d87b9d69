internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Glibc
internal import Logging

/// The daemon: reads the configuration, connects the parts, and handles signals.
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
            line counts more, and adds to what can be repeated.
            """,
        version: version,
        subcommands: [JournalCommand.self]
    )

    @OptionGroup var options: Options

    static func main() {
        do {
            var command = try parsed(Array(CommandLine.arguments.dropFirst()))
            if command is Arbiterd { Signals.block() }
            try command.run()
        } catch {
            Failure(error, parsing: Self.self).exit()
        }
    }

    private static func parsed(_ given: [String]) throws -> any ParsableCommand {
        switch given.first {
        case "help":
            return try parseAsRoot(given)
        case "version":
            return try parseAsRoot(["--version"])
        case JournalCommand.name:
            // The subcommand of `journal` has to come before its options.
            if asksForHelp(given) { return try parseAsRoot(given) }
            // Before the subcommand, an option would be parsed as one of the daemon's and ignored.
            guard let subcommand = given.dropFirst().first, !subcommand.hasPrefix("-") else {
                throw Failure(EX_USAGE, "say what to do first: arbiterd journal inspect, verify or export (see --help)")
            }
            let environment = try Options.environmentArguments(only: ["data"])
            return try parseAsRoot(given.prefix(2) + environment + given.dropFirst(2))
        default:
            let environment = try asksForHelp(given) ? [] : Options.environmentArguments()
            let command = try parseAsRoot(environment + given)
            // ArgumentParser has a help command of its own.
            guard !(command is any JournalSubcommand) else {
                throw Failure(EX_USAGE, "name the subcommand first, and its options after it (see --help)")
            }
            return command
        }
    }

    /// Help is available even if a variable of the environment is wrong.
    private static func asksForHelp(_ given: [String]) -> Bool {
        given.contains { ["-h", "--help", "--version"].contains($0) }
    }

    func run() throws {
        let log = options.makeLog()
        defer { log.flush() }
        LoggingSystem.bootstrap { [options] label in options.logHandler(label: label, log: log) }
        let logger = Logger(label: "arbiterd")
        let limits = try options.serverLimits(logger: logger)
        let socket = try ListeningSocket(options.listen, beyondLoopback: options.insecure)
        let address = socket.address
        let places = ServerPlaces(limits)
        let hub = EventHub()
        let operatorLog = OperatorLog(logger)
        let loss = Loss()
        let engine = try Engine(
            limits: options.arbiterLimits, journal: try options.makeJournal(logger: logger),
            recovery: try recovery(hub, loss, logger), trustsLeasesOver: options.trustLeasesOver,
            time: RunningTime(), listener: hub.publish
        ) { [hub] notice in
            operatorLog.note(notice)
            hub.note(notice)
        }
        hub.begin(engine.lastEvents())
        let router = Router(
            engine: engine, hub: hub, access: options.webAccess, logger: logger, operatorLog: operatorLog)
        let server = try MicroHTTPDServer(socket, router: router, places: places, threads: limits.threads)
        let start = try options.startMetadata(at: address)
        logger.info("started", metadata: start)
        Output.writeLine("arbiterd \(Self.version) ready on http://\(address)", to: STDOUT_FILENO)

        let signal = Signals.waitForFirst()
        logger.info("draining", metadata: ["cause": loss.error == nil ? "\(signal)" : "the journal is lost"])
        router.drain()
        engine.drain()
        hub.close()
        server.stop()
        engine.stop()
        logger.info("drained")
        if let error = loss.error { throw error }
    }

    /// How the engine recovers if its journal fails.
    private func recovery(_ hub: EventHub, _ loss: Loss, _ logger: Logger) throws -> JournalRecovery? {
        guard options.journal == .sqlite else { return nil }
        return JournalRecovery(reopen: try options.reopening(logger: logger)) { lastEvents in
            hub.restart(lastEvents)
            logger.notice("the journal has been opened again")
        } whenLost: { error in
            loss.note(error)
        }
    }
}
