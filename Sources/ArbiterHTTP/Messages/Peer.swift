/// What is known about the other end of a connection before it says anything.
package enum Peer: Hashable, Sendable {
    /// TCP, from this IP address.
    case network(address: String)
    /// TLS, from this IP address, perhaps with a certificate that has been verified.
    case encrypted(address: String, certificate: PeerCertificate?)
    /// A Unix socket, from a process of this user.
    case local(LocalUser)

    /// Another node of the cluster, from this IP address; whether it is one is known only over TLS once it has shown its
    /// certificate.
    case node(address: String, isTrusted: Bool)

    /// A peer about which nothing is known.
    package static let unknown = Peer.network(address: "")

    /// What it has in common with other connections of the same client: the address, or the user.
    var key: String {
        switch self {
        case .network(let address), .encrypted(let address, _): address
        case .local(let user): "uid:\(user.user)"
        case .node(let address, _): "node:\(address)"
        }
    }

    /// The client of another node, by what it has in common with its other connections there.
    ///
    /// - Returns: `nil` if that is nothing.
    init?(key: String) {
        if key.hasPrefix("uid:") {
            guard let user = UInt32(key.dropFirst(4)) else { return nil }
            self = .local(LocalUser(user: user, groups: []))
        } else {
            guard !key.isEmpty, !key.hasPrefix("node:") else { return nil }
            self = .network(address: key)
        }
    }

    /// The address, if it is connected over the network.
    package var address: String? {
        switch self {
        case .network(let address), .encrypted(let address, _), .node(let address, _): address
        case .local: nil
        }
    }

    /// Whether it is another node, or says so.
    var isNode: Bool { if case .node = self { true } else { false } }

    /// Whether it is another node for certain.
    var isTrustedNode: Bool { if case .node(_, isTrusted: true) = self { true } else { false } }
}

/// A client's certificate that a trusted authority has signed.
package struct PeerCertificate: Hashable, Sendable {
    /// The common name of its subject.
    package let commonName: String

    package init(commonName: String) {
        self.commonName = commonName
    }
}

/// The user of the process at the other end of a Unix socket.
package struct LocalUser: Hashable, Sendable {
    package let user: UInt32
    /// All groups of the process.
    package let groups: Set<UInt32>

    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }
}
