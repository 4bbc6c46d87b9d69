internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArbiterRelay
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
        let hub = EventHub(limits: options.eventLimits)
        let metrics = Metrics()
        if let identity { metrics.noteCertificate(expiringAt: identity.expiresAt) }
        let operatorLog = OperatorLog(logger)
        let loss = Loss()
        let loops = ServingLoops(count: options.threads)
        let parts = ServingParts(
            options: options, hub: hub, metrics: metrics, operatorLog: operatorLog, loss: loss, logger: logger,
            earlierClients: options.earlierClients(of: sockets), loops: loops)
        let peerSocket = try options.openPeerSocket()
        let peers = peerSocket == nil ? nil : try options.cluster.peerFiles()
        let serving: any Serving =
            if let peers {
                try ClusterServing(parts, address: try options.advertised(by: peerSocket), peers: peers.trust)
            } else {
                try SingleServing(parts)
            }
        metrics.begin()
        let router = Router(
            shards: serving.shards, hub: hub, web: options.webAccess, access: access, logger: logger,
            operatorLog: operatorLog, metrics: metrics, places: places, version: Self.version,
            opensMetrics: options.openMetrics, requestsPerSecond: limits.requestsPerSecond,
            forwarder: serving.forwarder)
        let server = MicroHTTPDServer(router: router, places: places, limits: limits, loops: loops)
        for socket in sockets { try server.listen(on: socket, identity: identity) }
        if let peerSocket { try server.listen(on: peerSocket, identity: peers?.identity, isForNodes: true) }
        serving.start()
        let freedMemory = FreedMemory()
        freedMemory.begin()
        let addresses = sockets.map(\.address)
        let start = try options.startMetadata(at: addresses)
        logger.info("started", metadata: start)
        options.warn(of: sockets, logger)
        let urls = addresses.map(\.url).joined(separator: ", ")
        let serviceManager = ServiceManager(status: "ready on \(urls)")
        serviceManager.ready(watching: serving.shards)
        Output.writeLine(
            "arbiterd \(Self.version) ready on \(urls)\(Self.warnOfHold(serving, logger))", to: STDOUT_FILENO)

        let reloading = Reloading(
            options: options, access: access, hub: hub, server: server, serving: serving, metrics: metrics,
            logger: logger)
        let signal = Signals.waitForFirst(whenAskedToReload: { serviceManager.reload(reloading.reload) })
        logger.info("draining", metadata: ["cause": "\(loss.reason ?? "\(signal)")"])
        serviceManager.stopping()
        server.quiesceInherited()
        router.drain()
        serving.drain()
        server.stop()
        serving.stop()
        logger.info("drained")
        withExtendedLifetime(freedMemory) {}
        if let error = loss.error { throw error }
    }

    /// Warns if nothing is granted at first.
    ///
    /// - Returns: the same in words for the line that says that the daemon is ready.
    private static func warnOfHold(_ serving: any Serving, _ logger: Logger) -> String {
        guard let hold = serving.shards.here.compactMap(\.remainingHold).max() else { return "" }
        let seconds = hold.components.seconds + 1
        logger.warning(
            "nothing is granted until every lease is over that the journal may have lost",
            metadata: ["seconds": "\(seconds)"])
        return "; nothing is granted for \(seconds) seconds"
    }
}
