internal import ArbiterEngine
internal import ArbiterHTTP
internal import Foundation
internal import Logging

/// One setting: an option of the command line that the environment and a file can give as well.
struct Setting: Sendable {
    enum Kind: Hashable, Sendable {
        case value
        /// Can be repeated. In the environment, the values are separated by commas.
        case list
        case flag
    }

    /// The name of the option, without the dashes before it; also its name in a file.
    let name: String
    let kind: Kind
    /// The values that the options have, as they would be given.
    let values: @Sendable (Options) throws -> [String]

    private init(_ name: String, _ kind: Kind = .value, _ values: @escaping @Sendable (Options) throws -> [String]) {
        self.name = name
        self.kind = kind
        self.values = values
    }

    private init(flag name: String, _ isSet: @escaping @Sendable (Options) -> Bool) {
        self.init(name, .flag) { ["\(isSet($0))"] }
    }

    /// All settings except `config`, which names the file; in the order of the help.
    static let all: [Setting] = [
        Setting("listen", .list) { $0.addresses.map(\.description) },
        Setting("socket-mode") { ["\($0.socketMode)"] },
        Setting("socket-group") { [$0.socketGroup].compactMap(\.self) },
        Setting(flag: "insecure") { $0.insecure },
        Setting("access") { [$0.access].compactMap(\.self) },
        Setting(flag: "allow-no-one") { $0.allowNoOne },
        Setting("tls-certificate") { [$0.tlsCertificate].compactMap(\.self) },
        Setting("tls-key") { [$0.tlsKey].compactMap(\.self) },
        Setting("tls-client-ca") { [$0.tlsClientCa].compactMap(\.self) },
        Setting("allow-host", .list) { $0.allowHost.map(\.description) },
        Setting("allow-origin", .list) { $0.allowOrigin.map(\.description) },
        Setting(flag: "open-metrics") { $0.openMetrics },
        Setting("data") { [try $0.directory.path()] },
        Setting("etcd", .list) { $0.cluster.store.etcd },
        Setting("etcd-prefix") { [$0.cluster.store.etcdPrefix] },
        Setting("etcd-user") { [$0.cluster.store.etcdUser].compactMap(\.self) },
        Setting("etcd-password-file") { [$0.cluster.store.etcdPasswordFile].compactMap(\.self) },
        Setting("etcd-ca") { [$0.cluster.store.etcdCa].compactMap(\.self) },
        Setting("etcd-certificate") { [$0.cluster.store.etcdCertificate].compactMap(\.self) },
        Setting("etcd-key") { [$0.cluster.store.etcdKey].compactMap(\.self) },
        Setting("shards") { ["\($0.cluster.store.shards)"] },
        Setting("etcd-quota") { ["\($0.cluster.store.etcdQuota)"] },
        Setting("etcd-lease-seconds") { ["\($0.cluster.etcdLeaseSeconds)"] },
        Setting("highest-rules") { ["\($0.cluster.highestRules)"] },
        Setting(flag: "adopt-limits") { $0.cluster.adoptLimits },
        Setting("advertise") { [$0.cluster.advertise].compactMap(\.self) },
        Setting("peer-listen") { [$0.cluster.peerListen?.description].compactMap(\.self) },
        Setting("peer-certificate") { [$0.cluster.peerCertificate].compactMap(\.self) },
        Setting("peer-key") { [$0.cluster.peerKey].compactMap(\.self) },
        Setting("peer-ca") { [$0.cluster.peerCa].compactMap(\.self) },
        Setting("journal") { [$0.journal.rawValue] },
        Setting("durability") { [$0.durability.rawValue] },
        Setting(flag: "trust-leases-over") { $0.trustLeasesOver },
        Setting("max-parked") { ["\($0.maxParked)"] },
        Setting("max-memory") { ["\($0.maxMemory)"] },
        Setting("max-connections-per-client") { $0.maxConnectionsPerClient.map { ["\($0)"] } ?? [] },
        Setting("max-requests-per-second") { $0.maxRequestsPerSecond.map { ["\($0)"] } ?? [] },
        Setting("max-transitions-per-principal") { $0.maxTransitionsPerPrincipal.map { ["\($0)"] } ?? [] },
        Setting("max-sessions-per-principal") { $0.maxSessionsPerPrincipal.map { ["\($0)"] } ?? [] },
        Setting("max-sessions") { ["\($0.maxSessions)"] },
        Setting("max-transitions") { ["\($0.maxTransitions)"] },
        Setting("max-queued") { ["\($0.maxQueued)"] },
        Setting("max-lease-seconds") { ["\($0.maxLeaseSeconds)"] },
        Setting("max-wait-seconds") { ["\($0.maxWaitSeconds)"] },
        Setting("head-seconds") { ["\($0.headSeconds)"] },
        Setting("body-seconds") { ["\($0.bodySeconds)"] },
        Setting("threads") { ["\($0.threads)"] },
        Setting("log-level") { [$0.logLevel.rawValue] },
        Setting("log-format") { [$0.logFormat.rawValue] },
    ]

    /// The option that names the file of settings.
    static let file = Setting("config") { [$0.config].compactMap(\.self) }

    /// The variable of the environment that gives it.
    var variable: String { Self.variablePrefix + name.uppercased().replacingOccurrences(of: "-", with: "_") }

    static let variablePrefix = "ARBITERD_"

    /// The arguments that give these values.
    func arguments(_ values: [String]) -> [String] {
        switch kind {
        case .value, .list: values.map { "--\(name)=\($0)" }
        case .flag: values == ["true"] ? ["--\(name)"] : []
        }
    }

    /// Whether a list of arguments gives it.
    func isGiven(in arguments: [String]) -> Bool {
        let options = arguments.prefix { $0 != "--" }
        return options.contains { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") }
    }

    /// Whether a text is a word for yes or for no; `nil` if it is neither.
    static func isYes(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0", "": false
        default: nil
        }
    }
}
