internal import Glibc

/// An address and a port to listen on: `127.0.0.1:8080`, `[::1]:8080` or `localhost:0`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
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
        case notLoopback
        case notPermitted
        case unavailable
    }

    package let kind: Kind
    /// One sentence that a person can act on.
    package let reason: String
}

/// A listening TCP socket.
package struct ListeningSocket: ~Copyable {
    /// Connections that may wait to be accepted; the system may lower this.
    private static let backlog: Int32 = 4096

    private(set) var descriptor: Int32
    /// The bound address: if port 0 was requested, it has the port that the system chose.
    package let address: ListenAddress

    /// - Throws: `ListenError` if the address is unknown, in use, not ours, or beyond loopback without permission.
    package init(_ address: ListenAddress, beyondLoopback: Bool) throws(ListenError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(address.host, String(address.port), &hints, &found)
        guard status == 0, let first = unsafe found else {
            let reason = unsafe String(cString: gai_strerror(status))
            throw ListenError(kind: .unknownHost, reason: "cannot find the address of \(address.host): \(reason)")
        }
        defer { unsafe freeaddrinfo(found) }
        guard unsafe beyondLoopback || isLoopback(first.pointee.ai_addr) else {
            throw ListenError(
                kind: .notLoopback,
                reason: "\(address) can be reached from other machines, and whoever reaches it may take any lock: "
                    + "listen on 127.0.0.1, or say --insecure")
        }
        let type = unsafe first.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = unsafe socket(first.pointee.ai_family, type, first.pointee.ai_protocol)
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        guard descriptor >= 0,
            unsafe bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
            listen(descriptor, Self.backlog) == 0
        else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw ListenError(
                kind: code == EACCES ? .notPermitted : .unavailable,
                reason: "cannot listen on \(address): \(unsafe String(cString: strerror(code)))")
        }
        noticeLostPeers(descriptor)
        self.descriptor = descriptor
        self.address = ListenAddress(host: address.host, port: boundPort(of: descriptor) ?? address.port)
    }

    /// Hands over the descriptor; the caller has to close it.
    consuming func release() -> Int32 {
        let descriptor = self.descriptor
        self.descriptor = -1
        return descriptor
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Makes the system probe peers that are silent.
///
/// Accepted connections inherit these options from the listening socket.
private func noticeLostPeers(_ descriptor: Int32) {
    set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, ServerLimits.keepAliveSeconds)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, ServerLimits.keepAliveProbeSeconds)
    set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPCNT, ServerLimits.keepAliveProbes)
}

private func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
}

private func isLoopback(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
    switch unsafe Int32(address.pointee.sa_family) {
    case AF_INET:
        unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
            unsafe UInt32(bigEndian: address.pointee.sin_addr.s_addr) >> 24 == 127
        }
    case AF_INET6:
        unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            unsafe withUnsafeBytes(of: address.pointee.sin6_addr) { octets in
                unsafe octets.dropLast().allSatisfy { $0 == 0 } && octets.last == 1
            }
        }
    default:
        false
    }
}

private func boundPort(of descriptor: Int32) -> UInt16? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
        unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
            // The port has the same offset in both address families.
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                unsafe UInt16(bigEndian: address.pointee.sin_port)
            }
        }
    }
}
