/// Where to listen: `127.0.0.1:8080`, `tls:[::1]:8443` or `unix:/run/arbiterd/arbiterd.sock`.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// HTTP over TCP.
    case tcp(NetworkAddress)
    /// HTTP over TLS.
    case tls(NetworkAddress)
    /// HTTP over a Unix socket with this path.
    case unix(path: String)

    private static let unixPrefix = "unix:"
    private static let tlsPrefix = "tls:"

    /// - Returns: `nil` if the text has none of these forms; the path of a Unix socket has to be absolute.
    package init?(_ text: String) {
        if text.hasPrefix(Self.unixPrefix) {
            let path = text.dropFirst(Self.unixPrefix.count)
            guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else { return nil }
            self = .unix(path: String(path))
        } else if text.hasPrefix(Self.tlsPrefix) {
            guard let address = NetworkAddress(String(text.dropFirst(Self.tlsPrefix.count))) else { return nil }
            self = .tls(address)
        } else {
            guard let address = NetworkAddress(text) else { return nil }
            self = .tcp(address)
        }
    }

    package var description: String {
        switch self {
        case .tcp(let address): address.description
        case .tls(let address): Self.tlsPrefix + address.description
        case .unix(let path): Self.unixPrefix + path
        }
    }

    /// The address as clients use it: a URL, or for a Unix socket `unix:` and the path.
    package var url: String {
        switch self {
        case .tcp(let address): "http://\(address)"
        case .tls(let address): "https://\(address)"
        case .unix: description
        }
    }

    /// Whether TLS is spoken.
    package var isEncrypted: Bool { if case .tls = self { true } else { false } }

    /// The port; `nil` for a Unix socket.
    package var port: UInt16? {
        switch self {
        case .tcp(let address), .tls(let address): address.port
        case .unix: nil
        }
    }
}

/// A host and a port: `127.0.0.1:8080`, `[::1]:8080` or `localhost:0`.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: UInt16

    /// - Returns: `nil` if the text does not have this form.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), text[text.index(after: colon)...].allSatisfy(\.isNumber),
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why the daemon cannot listen on an address.
package struct ListenError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case unknownHost
        case unknownGroup
        case notLoopback
        case notPermitted
        case unavailable
        case notASocket
    }

    package let kind: Kind
    /// One sentence that a person can act on.
    package let reason: String
}
