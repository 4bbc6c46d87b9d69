internal import ArbiterCluster
internal import ArbiterHTTP
internal import ArbiterTransfers
internal import ArgumentParser
internal import Foundation
internal import Glibc

/// Where a cluster is in etcd, and among how many shards it divides its scenes.
struct EtcdOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A member of the etcd cluster for --journal etcd, such as http://127.0.0.1:2379; can be repeated.",
            valueName: "URL"),
        transform: { try EtcdOptions.address($0) })
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
            "Among how many shards a cluster divides its scenes, 1 to 256; fixed when it is made.", valueName: "count")
    )
    var shards = 64

    @Option(
        help: ArgumentHelp(
            "The quota of etcd's members (--quota-backend-bytes); at 80 % nothing new is admitted.", valueName: "size"))
    var etcdQuota = MemorySize(bytes: 2 << 30)

    /// The names of these settings.
    static let names = [
        "etcd", "etcd-prefix", "etcd-user", "etcd-password-file", "etcd-ca", "etcd-certificate", "etcd-key", "shards",
        "etcd-quota",
    ]

    func validate() throws {
        guard 1...256 ~= shards else { throw ValidationError("--shards must be 1 to 256") }
        guard etcdPrefix.hasSuffix("/"), etcdPrefix.utf8.allSatisfy({ 0x21...0x7e ~= $0 }), etcdPrefix.utf8.count <= 256
        else { throw ValidationError("--etcd-prefix must be ASCII without spaces, and end with /") }
        guard MemorySize.allowed ~= etcdQuota.bytes else {
            throw ValidationError("--etcd-quota must be 64MB to 1024GB")
        }
        guard (etcdUser == nil) == (etcdPasswordFile == nil) else {
            throw ValidationError("give both --etcd-user and --etcd-password-file")
        }
        guard (etcdCertificate == nil) == (etcdKey == nil) else {
            throw ValidationError("give both --etcd-certificate and --etcd-key")
        }
    }

    /// Whether there are files by which etcd is reached.
    var namesFiles: Bool { etcdCa != nil || etcdCertificate != nil || etcdPasswordFile != nil }

    /// An address of HTTP without a path.
    ///
    /// - Throws: `ValidationError` if the text is none.
    static func address(_ text: String) throws -> String {
        let url = URL(string: text)
        guard let url, ["http", "https"].contains(url.scheme), url.host?.isEmpty == false, url.path.count <= 1,
            url.query == nil, url.user == nil
        else { throw ValidationError("expected an address such as http://127.0.0.1:2379") }
        return url.path.isEmpty ? text : String(text.dropLast())
    }

    /// Whether everyone on the way to an address can read what is sent.
    static func isOpen(_ address: String) -> Bool {
        guard let url = URL(string: address), url.scheme == "http", let host = url.host else { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        let isLoopback4 = numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
        return !isLoopback4 && !["localhost", "::1", "[::1]"].contains(host)
    }

    /// How etcd is reached.
    ///
    /// - Parameters:
    ///   - user: what needs it, for the error if no member is named.
    ///   - mayLeaveLoopback: whether it may be reached over a network without TLS.
    /// - Returns: how.
    /// - Throws: `Failure` if a setting is missing, or if a file cannot be read.
    func access(
        for user: String = "--journal etcd", beyondLoopback mayLeaveLoopback: Bool = false
    ) throws -> EtcdGateway.Access {
        guard !etcd.isEmpty else { throw Failure(EX_USAGE, "\(user) needs --etcd") }
        if !mayLeaveLoopback, let open = etcd.first(where: Self.isOpen) {
            throw Failure(
                EX_USAGE,
                "etcd keeps the tokens of all transitions, and \(open) is reached over a network without TLS: use https, "
                    + "or say --insecure")
        }
        var account: EtcdGateway.Access.User?
        if let etcdUser, let etcdPasswordFile {
            do throws(SettingsFile.Malformed) {
                let text = try SettingsFile.read(etcdPasswordFile, upTo: 4096)
                account = .init(name: etcdUser, password: text.trimmingCharacters(in: .newlines))
            } catch {
                throw Failure(EX_CONFIG, error.description(in: etcdPasswordFile))
            }
        }
        return EtcdGateway.Access(
            endpoints: etcd,
            trust: try TransferRequest.Trust(authority: etcdCa, certificate: etcdCertificate, key: etcdKey),
            user: account)
    }
}
