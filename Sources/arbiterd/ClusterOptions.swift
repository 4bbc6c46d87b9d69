internal import ArbiterCluster
internal import ArbiterHTTP
internal import ArbiterTransfers
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// The settings of a node of a cluster, which keeps its journal in etcd.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A member of the etcd cluster for --journal etcd, such as http://127.0.0.1:2379; can be repeated.",
            valueName: "URL"),
        transform: { try ClusterOptions.address($0) })
    var etcd: [String] = []

    @Option(
        help: ArgumentHelp(
            "What the keys in etcd begin with; clusters with different ones can share it.", valueName: "prefix"))
    var etcdPrefix = "/arbiter/"

    @Option(help: ArgumentHelp("The user of etcd, if etcd has access control.", valueName: "name"))
    var etcdUser: String?

    @Option(help: ArgumentHelp("The file with the password of that user.", valueName: "file"))
    var etcdPasswordFile: String?

    @Option(
        help: ArgumentHelp(
            "The authorities that etcd's certificates are checked by, in PEM. (default: the system's)",
            valueName: "file"))
    var etcdCa: String?

    @Option(help: ArgumentHelp("The certificate that etcd is shown, in PEM.", valueName: "file"))
    var etcdCertificate: String?

    @Option(help: ArgumentHelp("The private key of that certificate, in PEM.", valueName: "file"))
    var etcdKey: String?

    @Option(
        help: ArgumentHelp(
            "After how many seconds another node takes over what this one served, if it is not heard of: 2 to 60.",
            valueName: "seconds"))
    var etcdLeaseSeconds = 5

    @Option(
        help: ArgumentHelp(
            "Among how many shards a cluster divides its scenes, 1 to 256; fixed when it is made.", valueName: "count"))
    var shards = 64

    @Option(
        help: ArgumentHelp(
            "Where other nodes reach this one, such as https://10.0.0.1:7080; also the name of the node.",
            valueName: "URL"), transform: { try ClusterOptions.address($0) })
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
        guard 1...256 ~= shards else { throw ValidationError("--shards must be 1 to 256") }
        guard etcdPrefix.hasSuffix("/"), etcdPrefix.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), etcdPrefix.utf8.count <= 256
        else { throw ValidationError("--etcd-prefix must be ASCII without spaces, and end with /") }
        guard (etcdUser == nil) == (etcdPasswordFile == nil) else {
            throw ValidationError("give both --etcd-user and --etcd-password-file")
        }
        guard (etcdCertificate == nil) == (etcdKey == nil) else {
            throw ValidationError("give both --etcd-certificate and --etcd-key")
        }
    }

    /// An address of HTTP without a path.
    private static func address(_ text: String) throws -> String {
        let url = URL(string: text)
        guard let url, ["http", "https"].contains(url.scheme), url.host?.isEmpty == false, url.path.count <= 1,
            url.query == nil, url.user == nil
        else { throw ValidationError("expected an address such as http://127.0.0.1:2379") }
        return url.path.isEmpty ? text : String(text.dropLast())
    }

    // MARK: - What they make

    /// - Throws: `Failure` if a setting that a node needs is missing, or if a file cannot be read.
    func etcdAccess() throws -> EtcdGateway.Access {
        guard !etcd.isEmpty else { throw Failure(EX_USAGE, "--journal etcd needs --etcd") }
        let identity = etcdCertificate.flatMap { certificate in
            etcdKey.map { TransferRequest.Trust.Identity(certificate: certificate, key: $0) }
        }
        var user: EtcdGateway.Access.User?
        if let etcdUser, let etcdPasswordFile {
            do throws(SettingsFile.Malformed) {
                let text = try SettingsFile.read(etcdPasswordFile, upTo: 4096)
                user = .init(name: etcdUser, password: text.trimmingCharacters(in: .newlines))
            } catch {
                throw Failure(EX_CONFIG, error.description(in: etcdPasswordFile))
            }
        }
        return EtcdGateway.Access(
            endpoints: etcd, trust: .init(authority: etcdCa, identity: identity), user: user)
    }

    /// What the node shows on its listener for nodes; `nil` where that is on loopback without TLS.
    ///
    /// - Throws: `Failure` if a file cannot be used, or if TLS is needed and a file is missing.
    func peerIdentity() throws -> TLSIdentity? {
        guard let peerListen, peerListen.isEncrypted else { return nil }
        guard let peerCertificate, let peerKey, let peerCa else {
            throw Failure(EX_USAGE, "--peer-listen with tls: needs --peer-certificate, --peer-key and --peer-ca")
        }
        do throws(TLSIdentity.Unusable) {
            return try TLSIdentity(certificate: peerCertificate, key: peerKey, clientAuthority: peerCa)
        } catch {
            throw Failure(EX_CONFIG, error.reason)
        }
    }

    /// By what this node knows the others.
    var peerTrust: TransferRequest.Trust {
        let identity = peerCertificate.flatMap { certificate in
            peerKey.map { TransferRequest.Trust.Identity(certificate: certificate, key: $0) }
        }
        return TransferRequest.Trust(authority: peerCa, identity: identity)
    }
}
