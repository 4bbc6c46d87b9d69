internal import CLinux
internal import Glibc

/// A socket that listens for connections, over TCP or on this machine; closed unless it is released.
package final class ListeningSocket {
    /// Connections that may wait to be accepted; the system may lower this.
    static let backlog: Int32 = 4096

    private(set) var descriptor: Int32
    /// The bound address: if port 0 was requested, it has the port that the system chose.
    package let address: ListenAddress
    /// The file of a Unix socket that this process has made.
    private let file: UnixSocketFile?
    /// Whether only processes of this machine can reach it.
    package let isLocal: Bool
    /// Whether other machines can reach it, and what they send is not encrypted.
    package var sendsTokensInClear: Bool { !isLocal && !address.isEncrypted }
    /// Whether the socket outlives the process, because the service manager holds it too.
    package let isInherited: Bool

    /// Listens on a TCP address.
    ///
    /// - Parameters:
    ///   - network: the address.
    ///   - isEncrypted: whether TLS is spoken.
    ///   - beyondLoopback: whether the address may be reachable from other machines.
    /// - Throws: `ListenError` if the address is unknown, in use, not ours, or beyond loopback without permission.
    package init(
        _ network: NetworkAddress, isEncrypted: Bool = false, beyondLoopback: Bool
    ) throws(ListenError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let status = unsafe getaddrinfo(network.host, String(network.port), &hints, &found)
        guard status == 0, let first = unsafe found else {
            let reason = unsafe String(cString: gai_strerror(status))
            throw ListenError(kind: .unknownHost, reason: "cannot find the address of \(network.host): \(reason)")
        }
        defer { unsafe freeaddrinfo(found) }
        guard unsafe beyondLoopback || isLoopback(first.pointee.ai_addr) else {
            throw ListenError(
                kind: .notLoopback,
                reason: "\(network) can be reached from other machines, and every client that reaches it may take any "
                    + "lock: listen on 127.0.0.1, say with --access who may do what, or say --insecure")
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
                reason: "cannot listen on \(network): \(unsafe String(cString: strerror(code)))")
        }
        noticeLostPeers(descriptor)
        isLocal = unsafe isLoopback(first.pointee.ai_addr)
        self.descriptor = descriptor
        let bound = NetworkAddress(host: network.host, port: BoundAddress(of: descriptor)?.port ?? network.port)
        address = isEncrypted ? .tls(bound) : .tcp(bound)
        file = nil
        isInherited = false
    }

    /// Listens on a Unix socket.
    ///
    /// - Throws: `ListenError` if another process listens on it, or if it cannot be made.
    package init(path: String, permissions: SocketPermissions) throws(ListenError) {
        let (descriptor, file) = try UnixSocketFile.make(at: path, permissions: permissions)
        self.descriptor = descriptor
        self.file = file
        isLocal = true
        address = .unix(path: path)
        isInherited = false
    }

    /// Takes over a listening socket that the service manager has opened.
    ///
    /// - Parameters:
    ///   - descriptor: the descriptor.
    ///   - isEncrypted: whether TLS is spoken on it, if it is a TCP socket.
    ///   - beyondLoopback: whether its address may be reachable from other machines.
    /// - Throws: `ListenError` if it is no listening stream socket, or beyond loopback without permission.
    package init(inherited descriptor: Int32, isEncrypted: Bool, beyondLoopback: Bool) throws(ListenError) {
        guard isListening(descriptor), let bound = BoundAddress(of: descriptor) else {
            throw ListenError(
                kind: .notASocket, reason: "the inherited descriptor \(descriptor) is no listening stream socket")
        }
        switch bound {
        case .unix(let path):
            address = .unix(path: path)
            isLocal = true
        case .network(let network, let isLoopback):
            guard beyondLoopback || isLoopback else {
                throw ListenError(
                    kind: .notLoopback,
                    reason: "the inherited socket \(network) can be reached from other machines, and every client that "
                        + "reaches it may take any lock: say with --access who may do what, or say --insecure")
            }
            address = isEncrypted ? .tls(network) : .tcp(network)
            isLocal = isLoopback
            noticeLostPeers(descriptor)
        }
        _ = arbiter_close_on_exec(descriptor)
        self.descriptor = descriptor
        file = nil
        isInherited = true
    }

    /// Hands over the descriptor, which the caller has to close, and the file of a Unix socket, which it has to remove.
    func release() -> (descriptor: Int32, file: UnixSocketFile?) {
        defer { descriptor = -1 }
        return (descriptor, file)
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        file?.remove()
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

private func isListening(_ descriptor: Int32) -> Bool {
    func option(_ name: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
    return option(SO_ACCEPTCONN) == 1 && option(SO_TYPE) == Int32(SOCK_STREAM.rawValue)
}
