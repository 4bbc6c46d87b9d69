internal import Glibc

/// Where the daemon listens: an address and a port, as `127.0.0.1:8080`, `[::1]:8080` or `localhost:0`.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package let host: String
    package let port: UInt16

    /// - Returns: `nil` if the text is not written like that.
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

    /// An address from its parts.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why an address cannot be listened on.
package struct ListenError: Error, Hashable, Sendable {
    /// What kind of trouble it is.
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
    /// As many connections may wait to be accepted as the system allows.
    private static let backlog: Int32 = 4096

    private(set) var descriptor: Int32
    /// Where it really listens: the port, where 0 was asked for, is the one that the system chose.
    package let address: ListenAddress

    /// - Throws: `ListenError` if the address is unknown, taken or not ours, or lies beyond loopback and may not.
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

    /// Gives the descriptor away; whoever takes it closes it.
    consuming func release() -> Int32 {
        let descriptor = self.descriptor
        self.descriptor = -1
        return descriptor
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }
}

/// Has the system ask silent peers whether they are still there.
///
/// Connections have these options from the socket that they
/// are accepted on.
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
            // The port stands at the same place in both families.
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                unsafe UInt16(bigEndian: address.pointee.sin_port)
            }
        }
    }
}
