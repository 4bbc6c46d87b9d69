internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import Logging

// What the options make.

extension Options {
    func makeJournal(logger: Logger, metrics: JournalMetrics) throws -> any Journal {
        switch journal {
        case .disk:
            try LogJournal(
                directory: try directory.path(), durability: durability, logger: logger, metrics: metrics)
        case .memory: MemoryJournal(keepsRecords: false)
        case .etcd: preconditionFailure("a node makes the journals of its shards")
        }
    }

    /// Opens the existing journal again; a journal in memory never needs that.
    func reopening(
        logger: Logger, metrics: JournalMetrics
    ) throws -> @Sendable () throws(JournalError) -> any Journal {
        let (path, durability) = (try directory.path(), durability)
        return { () throws(JournalError) in
            try LogJournal(
                directory: path, durability: durability, logger: logger, mayBegin: false, metrics: metrics)
        }
    }

    /// Checks what the options name, without starting anything.
    ///
    /// - Throws: `Failure`.
    func check() throws {
        _ = try directory.path()
        _ = try makeAccessControl()
        _ = try makeIdentity()
        try checkSocketGroup()
        guard journal.isOfCluster else { return try checkNoCluster() }
        _ = try cluster.store.access(beyondLoopback: insecure)
        _ = try cluster.peerFiles()
        guard cluster.peerListen != nil else { throw Self.lacksPeers }
    }

    /// What is said of a cluster counts for its nodes only.
    private func checkNoCluster() throws {
        guard cluster.store.etcd.isEmpty, cluster.peerListen == nil, cluster.advertise == nil else {
            throw Failure(EX_USAGE, "--etcd, --peer-listen and --advertise need --journal etcd")
        }
    }

    private static let lacksPeers = Failure(EX_USAGE, "--journal etcd needs --peer-listen")

    /// Opens the socket for other nodes; `nil` if this daemon is no node.
    ///
    /// - Throws: `ListenError`, `Failure`.
    func openPeerSocket() throws -> ListeningSocket? {
        guard journal.isOfCluster else {
            try checkNoCluster()
            return nil
        }
        switch cluster.peerListen {
        case .tcp(let network)?:
            do throws(ListenError) {
                return try ListeningSocket(network, beyondLoopback: false)
            } catch {
                guard error.kind == .notLoopback else { throw error }
                throw Failure(
                    EX_USAGE,
                    "--peer-listen \(network) can be reached from other machines, and anyone who reaches it may name any "
                        + "client: use tls:\(network) with --peer-certificate, --peer-key and --peer-ca")
            }
        case .tls(let network)?: return try ListeningSocket(network, isEncrypted: true, beyondLoopback: true)
        case .unix?, nil: throw Self.lacksPeers
        }
    }

    /// Where other nodes reach this one: without an option, the address of its socket for them.
    func advertised(by socket: ListeningSocket?) throws -> String {
        guard let socket else { throw Self.lacksPeers }
        if let address = cluster.advertise {
            guard address.hasPrefix("https:") || !socket.address.isEncrypted else {
                throw Failure(EX_USAGE, "--peer-listen \(socket.address) needs TLS: give --advertise with https:")
            }
            guard insecure || !EtcdOptions.isOpen(address) else {
                throw Failure(
                    EX_USAGE,
                    "nodes send each other the tokens of all transitions, and \(address) is reached over a network without "
                        + "TLS: use https, or say --insecure")
            }
            return address
        }
        if case .tls(let network) = socket.address, ["0.0.0.0", "::"].contains(network.host) {
            throw Failure(EX_USAGE, "--peer-listen \(socket.address) is no address of one node: give --advertise too")
        }
        return socket.address.url
    }

    /// Also where nothing listens on a Unix socket.
    func checkSocketGroup() throws {
        if let socketGroup, SystemGroup.number(of: socketGroup) == nil {
            throw Failure(EX_CONFIG, "there is no group \(socketGroup)")
        }
    }

    /// Reads the files for TLS, if there are any.
    func makeIdentity() throws -> TLSIdentity? {
        let isNeeded = addresses.contains(where: \.isEncrypted)
        guard let certificate = tlsCertificate, let key = tlsKey else {
            guard tlsCertificate == nil, tlsKey == nil, tlsClientCa == nil else {
                throw Failure(EX_USAGE, "give both --tls-certificate and --tls-key")
            }
            guard !isNeeded else {
                throw Failure(EX_USAGE, "an address with tls: needs --tls-certificate and --tls-key")
            }
            return nil
        }
        do throws(TLSIdentity.Unusable) {
            return try TLSIdentity(certificate: certificate, key: key, clientAuthority: tlsClientCa)
        } catch {
            throw Failure(EX_CONFIG, error.reason)
        }
    }

    /// Reads the access file, if there is one.
    func makeAccessControl() throws -> AccessControl {
        guard let access else { return AccessControl() }
        do throws(SettingsFile.Malformed) {
            return try AccessControl(
                SettingsFile.read(access, upTo: AccessFile.fileBytes), allowsNoOne: allowNoOne)
        } catch {
            throw Failure(EX_CONFIG, error.description(in: access))
        }
    }

    /// The configuration that is logged at the start.
    func startMetadata(at addresses: [ListenAddress]) throws -> Logger.Metadata {
        let address = addresses.map(\.description).joined(separator: " ")
        return switch journal {
        case .disk:
            [
                "address": "\(address)", "journal": "\(try directory.path())",
                "durability": "\(durability.rawValue)",
            ]
        case .memory: ["address": "\(address)", "journal": "memory"]
        case .etcd:
            [
                "address": "\(address)", "journal": "etcd", "etcd": "\(cluster.store.etcd.joined(separator: " "))",
                "prefix": "\(cluster.store.etcdPrefix)",
            ]
        }
    }

    /// The limits of the arbiter's state.
    var arbiterLimits: Limits {
        var limits = Limits()
        limits.memory = maxMemory.bytes
        limits.unfinishedPerPrincipal = maxTransitionsPerPrincipal
        limits.sessionsPerPrincipal = maxSessionsPerPrincipal
        limits.sessions = maxSessions
        limits.unfinished = maxTransitions
        limits.queuedPerScene = maxQueued
        limits.longestLease = .seconds(maxLeaseSeconds)
        limits.longestWait = .seconds(maxWaitSeconds)
        return limits
    }

    /// The limits of the event streams; those of a cluster are never silent for long, so that the loss of a node is noticed.
    var eventLimits: EventLimits {
        var limits = EventLimits()
        if journal.isOfCluster { limits.longestSilence = min(.seconds(5), .seconds(cluster.etcdLeaseSeconds) / 4) }
        return limits
    }

    var webAccess: WebAccess { WebAccess(hosts: allowHost, origins: allowOrigin) }

    /// Whether the log goes to journald, which wants to know the priority of each line.
    private static var logsToJournal: Bool {
        JournalStream.receives(STDERR_FILENO, named: ProcessInfo.processInfo.environment["JOURNAL_STREAM"])
    }

    func logHandler(label: String, log: LogQueue) -> any LogHandler {
        switch logFormat {
        case .text:
            TextLogHandler(label: label, logLevel: logLevel, hasPriorities: Self.logsToJournal, output: log.append)
        case .json:
            JSONLogHandler(label: label, logLevel: logLevel, hasPriorities: Self.logsToJournal, output: log.append)
        }
    }

    /// Creates the log, which is written to standard error without blocking.
    func makeLog() -> LogQueue {
        LogQueue { line in
            Output.write(line, to: STDERR_FILENO)
        } noteLoss: { [logFormat, logLevel] count in
            let note = LossNote()
            let handler: any LogHandler =
                switch logFormat {
                case .text: TextLogHandler(label: "arbiterd", logLevel: logLevel, output: note.take)
                case .json: JSONLogHandler(label: "arbiterd", logLevel: logLevel, output: note.take)
                }
            Logger(label: "arbiterd") { _ in handler }.critical(
                "lines were left out, because the log was not read", metadata: ["lines": "\(count)"])
            return note.line
        }
    }

    /// The limits of the server, after the descriptor limit has been raised as far as possible.
    func serverLimits(logger: Logger) throws -> ServerLimits {
        let others =
            ServerLimits.activeConnections + ServerLimits.reservedConnections + ServerLimits.otherDescriptors
            + ServingLoops.descriptors(count: threads, listeners: max(1, listen.count) + 1)
        let descriptors = DescriptorLimit.raise(to: maxParked + others)
        let parked = min(maxParked, descriptors - others)
        guard parked > 0 else {
            throw Failure(
                EX_OSERR, "only \(descriptors) files may be open; raise the limit (ulimit -n) above \(others)")
        }
        if parked < maxParked {
            logger.warning(
                "the limit of open files is lower than --max-parked needs",
                metadata: ["limit": "\(descriptors)", "maxParked": "\(parked)"])
        }
        var limits = ServerLimits(parked: parked)
        limits.head = .seconds(headSeconds)
        limits.body = .seconds(bodySeconds)
        limits.connectionsPerClient = maxConnectionsPerClient
        limits.requestsPerSecond = maxRequestsPerSecond
        return limits
    }
}

/// Keeps the log's note about dropped lines.
private final class LossNote: Sendable {
    private let kept = Guarded([UInt8]())

    func take(_ line: [UInt8]) { kept.withLock { $0 = line } }

    var line: [UInt8] { kept.withLock { $0 } }
}
