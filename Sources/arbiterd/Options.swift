internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import Logging

/// The settings, as options of the command line.
///
/// `Setting.all` lists them, so that the environment and a file can give them too.
struct Options: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with settings, in YAML; see arbiterd config.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            """
            Where to listen: host:port, where port 0 lets the system choose, tls:host:port, or unix:path; can be repeated. \
            (default: 127.0.0.1:8080)
            """, valueName: "address"),
        transform: { text in
            guard let address = ListenAddress(text) else {
                throw ValidationError(
                    "expected host:port, such as 127.0.0.1:8080 or [::1]:0, tls: and host:port, or unix: and an absolute "
                        + "path")
            }
            return address
        })
    var listen: [ListenAddress] = []

    @Option(
        help: ArgumentHelp(
            "The permissions of Unix sockets, in octal; a client needs permission to write.", valueName: "mode"))
    var socketMode = FileMode(bits: 0o660)

    @Option(
        help: ArgumentHelp(
            "The group that Unix sockets belong to, by name or number. (default: the daemon's own)",
            valueName: "group"))
    var socketGroup: String?

    @Flag(help: "Listen beyond loopback without --access: any client that reaches the daemon may take any lock.")
    var insecure = false

    @OptionGroup var accessFile: AccessFileOption

    @Flag(
        help: "Take an access file without entries, so that every client is refused; otherwise it counts as a mistake.")
    var allowNoOne = false

    @Option(
        help: ArgumentHelp(
            "The certificate for addresses with tls:, in PEM, followed by those between it and a trusted one. Read again "
                + "on SIGHUP, like the other two.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The private key of the certificate, in PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "The authorities whose certificates of clients are accepted, in PEM; the access file names those clients.",
            valueName: "file"))
    var tlsClientCa: String?

    var access: String? { accessFile.access }

    @Option(
        help: ArgumentHelp(
            "A host name, beside IP addresses and localhost, that requests may be addressed to; can be repeated.",
            valueName: "name"),
        transform: { text in
            guard let host = Authority.Host(text) else { throw ValidationError("expected a host name without a port") }
            return host
        })
    var allowHost: [Authority.Host] = []

    @Option(
        help: ArgumentHelp("The origin of web pages that may be clients; can be repeated.", valueName: "origin"),
        transform: { text in
            guard let origin = Origin(text) else {
                throw ValidationError("expected scheme, host and port, such as http://localhost:3000")
            }
            return origin
        })
    var allowOrigin: [Origin] = []

    @Flag(help: "Serve /metrics to clients without the role observe, too.")
    var openMetrics = false

    @OptionGroup var directory: JournalDirectory

    @OptionGroup var cluster: ClusterOptions

    @Option(
        help:
            "Where the journal is kept: disk, in the directory of --data; etcd, as a node of a cluster; or memory to keep nothing."
    )
    var journal = JournalKind.disk

    @Option(help: "What a commit survives: crash, the death of the process; power, that of the machine too.")
    var durability = LogJournal.Durability.crash

    @Flag(
        help: ArgumentHelp(
            "After the machine died, grant at once, because none of the earlier clients is left.",
            discussion: "With --durability crash the last commits may then be missing, and leases with them."))
    var trustLeasesOver = false

    @Option(help: "How many connections may wait for an answer at once.")
    var maxParked = 10_000

    @Option(
        help: ArgumentHelp(
            "How much memory the arbiter's state may take, by its own estimate: 64MB or more, as 128MB or 2GB.",
            valueName: "size"))
    var maxMemory = MemorySize(bytes: 128 << 20)

    @Option(
        help: ArgumentHelp(
            "How many connections one IP address may have, or one user of Unix sockets. (default: no limit)",
            valueName: "count"))
    var maxConnectionsPerClient: Int?

    @Option(
        help: ArgumentHelp(
            "How many requests one principal, or one IP address without one, may make in a second. (default: no limit)",
            valueName: "count"))
    var maxRequestsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "How many unfinished transitions one principal may have. (default: no limit)", valueName: "count"))
    var maxTransitionsPerPrincipal: Int?

    @Option(
        help: ArgumentHelp("How many sessions one principal may have. (default: no limit)", valueName: "count"))
    var maxSessionsPerPrincipal: Int?

    @Option(help: ArgumentHelp("How many sessions there may be.", valueName: "count"))
    var maxSessions = Limits().sessions

    @Option(help: ArgumentHelp("How many unfinished transitions there may be.", valueName: "count"))
    var maxTransitions = Limits().unfinished

    @Option(help: ArgumentHelp("How many tickets one scene may have.", valueName: "count"))
    var maxQueued = Limits().queuedPerScene

    @Option(
        help: ArgumentHelp(
            "The longest lease that may be asked for, in seconds.",
            discussion: """
                After records were lost, as by a power cut, nothing is granted for this time and that of --max-wait-seconds, \
                unless no client can have outlived the machine.
                """, valueName: "seconds"))
    var maxLeaseSeconds = 300

    @Option(
        help: ArgumentHelp(
            "How long a request waits at most, in seconds, although it asks for longer.", valueName: "seconds"))
    var maxWaitSeconds = 120

    @Option(help: ArgumentHelp("How long the head of a request may take to come, in seconds.", valueName: "seconds"))
    var headSeconds = 10

    @Option(help: ArgumentHelp("How long the body of a request may take to come, in seconds.", valueName: "seconds"))
    var bodySeconds = 30

    @Option(help: "How many threads serve connections; by default, half as many as there are processors.")
    var threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)

    @Option(
        help: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else { throw ValidationError("there is no such level") }
            return level
        })
    var logLevel = Logger.Level.info

    @Option(help: "The format of the log: text or json.")
    var logFormat = LogFormat.text

    enum LogFormat: String, ExpressibleByArgument, CaseIterable {
        case text
        case json
    }

    enum JournalKind: String, ExpressibleByArgument, CaseIterable {
        case disk
        case etcd
        case memory

        /// Whether the daemon is a node of a cluster.
        var isOfCluster: Bool {
            switch self {
            case .etcd: true
            case .disk, .memory: false
            }
        }
    }

    func validate() throws {
        guard 1...1_000_000 ~= maxParked else { throw ValidationError("--max-parked must be 1 to 1000000") }
        guard MemorySize.allowed ~= maxMemory.bytes else {
            throw ValidationError("--max-memory must be 64MB to 1024GB")
        }
        for (name, value) in [
            ("max-connections-per-client", maxConnectionsPerClient), ("max-requests-per-second", maxRequestsPerSecond),
            ("max-transitions-per-principal", maxTransitionsPerPrincipal),
            ("max-sessions-per-principal", maxSessionsPerPrincipal), ("max-sessions", maxSessions),
            ("max-transitions", maxTransitions), ("max-queued", maxQueued),
        ] {
            guard 1...10_000_000 ~= value ?? 1 else { throw ValidationError("--\(name) must be 1 to 10000000") }
        }
        for (name, value) in [("head-seconds", headSeconds), ("body-seconds", bodySeconds)] {
            guard 1...3600 ~= value else { throw ValidationError("--\(name) must be 1 to 3600") }
        }
        guard 10...300 ~= maxLeaseSeconds else { throw ValidationError("--max-lease-seconds must be 10 to 300") }
        guard 1...120 ~= maxWaitSeconds else { throw ValidationError("--max-wait-seconds must be 1 to 120") }
        guard 1...256 ~= threads else { throw ValidationError("--threads must be 1 to 256") }
    }
}

/// The directory of the journal.
struct JournalDirectory: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The directory of the journal, which the daemon makes if it is not there. (default: $STATE_DIRECTORY, else \
            $XDG_STATE_HOME/arbiterd, else ~/.local/state/arbiterd)
            """, valueName: "directory"))
    var data: String?

    /// - Throws: `Failure` if neither an option nor the environment names a directory.
    func path() throws -> String {
        guard let path = data ?? Self.default(ProcessInfo.processInfo.environment) else {
            throw Failure(EX_USAGE, "the environment names no home directory: say with --data where the journal is")
        }
        guard !path.isEmpty else { throw Failure(EX_USAGE, "--data names no directory: it is empty") }
        return path
    }

    /// The directory that systemd has created for the service, or else the user's directory for state
    /// (https://specifications.freedesktop.org/basedir-spec/latest/), which persists across restarts.
    private static func `default`(_ environment: [String: String]) -> String? {
        // Several directories are separated by colons.
        if let first = environment["STATE_DIRECTORY"]?.split(separator: ":").first, first.hasPrefix("/") {
            return String(first)
        }
        // The specification says that a relative path is ignored.
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (state ?? home.map { $0 + "/.local/state" }).map { $0 + "/arbiterd" }
    }
}
