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

            Every option can be given in the environment too, --log-level as ARBITERD_LOG_LEVEL and so on, or in a file \
            (--config). The command line replaces what the environment gives, and the environment what the file gives.
            """,
        version: version,
        subcommands: [AccessCommand.self, ConfigCommand.self, JournalCommand.self]
    )

    @OptionGroup var options: Options

    static func main() {
        do {
            var command = try Arguments.parsed()
            if command is Arbiterd { Signals.block() }
            try command.run()
        } catch {
            Failure(error, parsing: Self.self).exit()
        }
    }

    func run() throws {
        let log = options.makeLog()
        defer { log.flush() }
        LoggingSystem.bootstrap { [options] label in options.logHandler(label: label, log: log) }
        let logger = Logger(label: "arbiterd")
        let limits = try options.serverLimits(logger: logger)
        let access = try options.makeAccessControl()
        let identity = try options.makeIdentity()
        try options.checkSocketGroup()
        // Opened before the journal, so that an address in use changes nothing.
        let sockets = try options.openSockets()
        let places = ServerPlaces(limits)
        let hub = EventHub()
        let metrics = Metrics()
        if let identity { metrics.noteCertificate(expiringAt: identity.expiresAt) }
        let operatorLog = OperatorLog(logger)
        let loss = Loss()
        let engine = try Engine(
            limits: options.arbiterLimits,
            journal: try options.makeJournal(logger: logger, metrics: metrics.engine.journal),
            recovery: try recovery(hub, loss, logger, metrics), trustsLeasesOver: options.trustLeasesOver,
            time: RunningTime(), metrics: metrics.engine
        ) { [hub, metrics] events in
            metrics.note(events)
            hub.publish(events)
        } observer: { [hub] notice in
            operatorLog.note(notice)
            hub.note(notice)
        }
        hub.begin(engine.lastEvents())
        metrics.begin()
        let router = Router(
            engine: engine, hub: hub, web: options.webAccess, access: access, logger: logger, operatorLog: operatorLog,
            metrics: metrics, places: places, version: Self.version, opensMetrics: options.openMetrics,
            requestsPerSecond: limits.requestsPerSecond)
        let server = MicroHTTPDServer(router: router, places: places, limits: limits)
        for socket in sockets { try server.listen(on: socket, identity: identity) }
        let addresses = sockets.map(\.address)
        let start = try options.startMetadata(at: addresses)
        logger.info("started", metadata: start)
        options.warn(of: sockets, logger)
        let urls = addresses.map(\.url).joined(separator: ", ")
        let serviceManager = ServiceManager(status: "ready on \(urls)")
        serviceManager.ready(watching: engine)
        Output.writeLine("arbiterd \(Self.version) ready on \(urls)", to: STDOUT_FILENO)

        let reloading = Reloading(
            options: options, access: access, hub: hub, server: server, metrics: metrics, logger: logger)
        let signal = Signals.waitForFirst(whenAskedToReload: { serviceManager.reload(reloading.reload) })
        logger.info("draining", metadata: ["cause": loss.error == nil ? "\(signal)" : "the journal is lost"])
        serviceManager.stopping()
        server.quiesceInherited()
        router.drain()
        engine.drain()
        hub.close()
        server.stop()
        engine.stop()
        logger.info("drained")
        if let error = loss.error { throw error }
    }

    /// How the engine recovers if its journal fails.
    private func recovery(
        _ hub: EventHub, _ loss: Loss, _ logger: Logger, _ metrics: Metrics
    ) throws -> JournalRecovery? {
        guard options.journal == .sqlite else { return nil }
        return JournalRecovery(reopen: try options.reopening(logger: logger, metrics: metrics.engine.journal)) {
            lastEvents in
            hub.restart(lastEvents)
            logger.notice("the journal has been opened again")
        } whenLost: { error in
            loss.note(error)
        }
    }
}
