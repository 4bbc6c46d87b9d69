internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterHTTP
internal import ArbiterTransfers
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// The settings of a node of a cluster, which keeps its journal in etcd.
struct ClusterOptions: ParsableArguments {
    @OptionGroup var store: EtcdOptions

    @Option(
        help: ArgumentHelp(
            "After how many seconds another node takes over what this one served, if it is not heard of: 2 to 60.",
            valueName: "seconds"))
    var etcdLeaseSeconds = 5

    @Option(
        help: ArgumentHelp(
            "The highest rules to which the cluster may be raised, so that nodes of an earlier version can be added again.",
            valueName: "number"))
    var highestRules = Int(Rules.newest.rawValue)

    @Flag(
        help: ArgumentHelp(
            "Take part with the limits of the cluster, and change those when all nodes were started with the same.",
            discussion: "Otherwise a node whose limits differ from those of the cluster does not start."))
    var adoptLimits = false

    @Option(
        help: ArgumentHelp(
            "Where other nodes reach this one, such as https://10.0.0.1:7080; also the name of the node.",
            valueName: "URL"), transform: { try EtcdOptions.address($0) })
    var advertise: String?

    @Option(
        help: ArgumentHelp(
            "Where to listen for other nodes: host:port on loopback, or tls:host:port.", valueName: "address"),
        transform: { text in
            switch ListenAddress(text) {
            case .tcp(let network)?: return .tcp(network)
            case .tls(let network)?: return .tls(network)
            case .unix?, nil: throw ValidationError("expected host:port, or tls: and host:port")
            }
        })
    var peerListen: ListenAddress?

    @Option(
        help: ArgumentHelp("The certificate by which this node shows other nodes who it is, in PEM.", valueName: "file")
    )
    var peerCertificate: String?

    @Option(help: ArgumentHelp("The private key of that certificate, in PEM.", valueName: "file"))
    var peerKey: String?

    @Option(help: ArgumentHelp("The authorities whose certificates make a node, in PEM.", valueName: "file"))
    var peerCa: String?

    func validate() throws {
        guard 2...60 ~= etcdLeaseSeconds else { throw ValidationError("--etcd-lease-seconds must be 2 to 60") }
        guard rules != nil else {
            let supported = Rules.allCases.filter(Rules.supported.contains).map { "\($0.rawValue)" }
            throw ValidationError("--highest-rules must be \(supported.joined(separator: " or "))")
        }
        guard (peerCertificate == nil) == (peerKey == nil) else {
            throw ValidationError("give both --peer-certificate and --peer-key")
        }
    }

    /// The highest rules to which the cluster may be raised; `nil` if the version does not support them.
    var rules: Rules? {
        UInt8(exactly: highestRules).flatMap(Rules.init).flatMap { Rules.supported.contains($0) ? $0 : nil }
    }

    /// Whether there are files by which nodes know each other.
    var namesFiles: Bool { peerCertificate != nil || peerKey != nil || peerCa != nil }

    // MARK: - What they make

    /// What the node makes a cluster with.
    func form(limits: Limits) -> ClusterForm {
        ClusterForm(shards: store.shards, rules: rules ?? .newest, limits: ClusterLimits(limits))
    }

    /// By what nodes know each other.
    struct PeerFiles {
        /// What this node shows on its listener for nodes; `nil` where that is on loopback without TLS.
        let identity: TLSIdentity?
        /// By what it knows the others, and what it shows them when it asks them something.
        let trust: TransferRequest.Trust
    }

    /// Reads the files by which nodes know each other.
    ///
    /// - Throws: `Failure` if a file cannot be used, or if TLS is needed and a file is missing.
    func peerFiles() throws -> PeerFiles {
        guard let peerListen, peerListen.isEncrypted else {
            let trust = try TransferRequest.Trust(authority: peerCa, certificate: peerCertificate, key: peerKey)
            return PeerFiles(identity: nil, trust: trust)
        }
        guard let peerCertificate, let peerKey, let peerCa else {
            throw Failure(EX_USAGE, "--peer-listen with tls: needs --peer-certificate, --peer-key and --peer-ca")
        }
        do throws(TLSIdentity.Unusable) {
            let identity = try TLSIdentity(certificate: peerCertificate, key: peerKey, clientAuthority: peerCa)
            return PeerFiles(
                identity: identity,
                trust: try .keeping(identity.clientAuthorities, (identity.certificates, identity.key)))
        } catch {
            throw Failure(EX_CONFIG, error.reason)
        }
    }
}

extension TransferRequest.Trust {
    /// Reads and checks files in PEM; what becomes of them later changes nothing.
    ///
    /// - Parameters:
    ///   - authority: the path of certificates that are trusted, instead of the system's.
    ///   - certificate: the path of the certificate that is shown.
    ///   - key: the path of its private key.
    /// - Throws: `Failure` if a file cannot be used.
    init(authority: String?, certificate: String?, key: String?) throws {
        do throws(TLSIdentity.Unusable) {
            let authorities = if let authority { try TLSIdentity.authorities(authority) } else { String?.none }
            var shown: (String, String)?
            if let certificate, let key {
                let identity = try TLSIdentity(certificate: certificate, key: key, clientAuthority: nil)
                shown = (identity.certificates, identity.key)
            }
            self = try .keeping(authorities, shown)
        } catch {
            throw Failure(EX_CONFIG, error.reason)
        }
    }

    fileprivate static func keeping(
        _ authorities: String?, _ certificates: (String, String)?
    ) throws(TLSIdentity.Unusable) -> Self {
        guard let kept = Self(authorities: authorities, certificates: certificates) else {
            throw TLSIdentity.Unusable(reason: "the system has no room for certificates")
        }
        return kept
    }
}
