internal import ArbiterEngine
internal import ArbiterHTTP
internal import ArgumentParser
internal import Foundation
internal import Logging

/// What can be set, by flag or in the environment.
struct Options: ParsableArguments {
    @Option(help: "Where to listen, as host:port; port 0 lets the system choose.")
    var listen = ListenAddress(host: "127.0.0.1", port: 8080)

    @Flag(help: "Listen beyond loopback although anybody who reaches the daemon may take any lock.")
    var insecure = false

    @Option(help: "The directory of the journal; it is made if it is not there.")
    var data = Self.defaultData

    @Option(help: "Where the journal is kept: sqlite, or memory to keep nothing.")
    var journal = JournalKind.sqlite

    @Option(help: "What a commit survives: crash, the death of the process; power, that of the machine too.")
    var durability = SQLiteJournal.Durability.crash

    @Flag(
        help: ArgumentHelp(
            "After the machine died, grant at once, because no client of before is left.",
            discussion: "With --durability crash the last commits may then be missing, and leases with them."))
    var trustLeasesOver = false

    @Option(help: "How many connections may wait for an answer at once.")
    var maxParked = 10_000

    @Option(help: "How many threads serve connections; as many as there are processors by default.")
    var threads = ProcessInfo.processInfo.activeProcessorCount

    @Option(
        help: "The least that is logged: trace, debug, info, notice, warning, error or critical.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else { throw ValidationError("there is no such level") }
            return level
        })
    var logLevel = Logger.Level.info

    @Option(help: "How it is logged: text or json.")
    var logFormat = LogFormat.text

    enum LogFormat: String, ExpressibleByArgument, CaseIterable {
        case text
        case json
    }

    static let defaultData = "arbiter-data"

    enum JournalKind: String, ExpressibleByArgument, CaseIterable {
        case sqlite
        case memory
    }

    func makeJournal(logger: Logger) throws -> any Journal {
        switch journal {
        case .sqlite: try SQLiteJournal(directory: data, durability: durability, logger: logger)
        case .memory: MemoryJournal(keepsRecords: false)
        }
    }

    func validate() throws {
        guard 1...1_000_000 ~= maxParked else { throw ValidationError("--max-parked must be 1 to 1000000") }
        guard 1...256 ~= threads else { throw ValidationError("--threads must be 1 to 256") }
    }

    func logHandler(label: String) -> any LogHandler {
        switch logFormat {
        case .text:
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = logLevel
            return handler
        case .json:
            return JSONLogHandler(label: label, logLevel: logLevel)
        }
    }

    /// What the server may have, after the descriptor limit has been raised as far as it goes.
    func serverLimits(logger: Logger) throws -> ServerLimits {
        let others = 2 * ServerLimits.activeConnections + ServerLimits.otherDescriptors + 2 * threads
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
        return ServerLimits(parked: parked, threads: threads)
    }
}

// MARK: - The environment

extension Options {
    private static let named = [
        "listen", "data", "journal", "durability", "max-parked", "threads", "log-level", "log-format",
    ]
    private static let flags = ["insecure", "trust-leases-over"]

    /// What the environment says, as arguments; to be put before the real ones, which then count more.
    static func environmentArguments(_ named: [String] = Self.named) throws -> [String] {
        let environment = ProcessInfo.processInfo.environment
        func value(of option: String) -> (variable: String, value: String)? {
            let variable = "ARBITERD_" + option.uppercased().replacingOccurrences(of: "-", with: "_")
            return environment[variable].map { (variable, $0) }
        }
        var arguments = named.compactMap { option in value(of: option).map { "--\(option)=\($0.value)" } }
        for flag in flags where named == Self.named {
            guard let (variable, value) = value(of: flag) else { continue }
            switch value.lowercased() {
            case "true", "yes", "1": arguments.append("--\(flag)")
            case "false", "no", "0", "": break
            default: throw Failure(EX_USAGE, "\(variable) must be true or false")
            }
        }
        return arguments
    }
}

extension SQLiteJournal.Durability: ExpressibleByArgument {}

extension ListenAddress: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }
}
