internal import CLinux
internal import Glibc

/// The address that a socket is bound to.
enum BoundAddress: Hashable, Sendable {
    case network(NetworkAddress, isLoopback: Bool)
    case unix(path: String)

    /// - Returns: `nil` if the descriptor is no bound socket of these families.
    init?(of descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bound: BoundAddress? = unsafe withSocketAddress(&storage) { address in
            guard unsafe getsockname(descriptor, address, &length) == 0 else { return nil }
            return unsafe BoundAddress(address)
        }
        guard let bound else { return nil }
        self = bound
    }

    private init?(_ address: UnsafeMutablePointer<sockaddr>) {
        if unsafe Int32(address.pointee.sa_family) == AF_UNIX {
            self = unsafe .unix(path: unixPath(of: address))
        } else {
            guard let host = unsafe numericHost(of: address) else { return nil }
            self = unsafe .network(
                NetworkAddress(host: host, port: portNumber(of: address)), isLoopback: isLoopback(address))
        }
    }

    /// The port; `nil` for a Unix socket.
    var port: UInt16? {
        switch self {
        case .network(let address, _): address.port
        case .unix: nil
        }
    }
}

/// The IP address of the other end of a TCP connection, without its port; `nil` for other connections.
func peerHost(of descriptor: Int32) -> String? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withSocketAddress(&storage) { address in
        guard unsafe getpeername(descriptor, address, &length) == 0 else { return nil }
        return unsafe numericHost(of: address)
    }
}

/// Whether an IP address belongs to this machine's loopback interface.
func isLoopback(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
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

private func withSocketAddress<Value>(
    _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> Value
) -> Value {
    unsafe withUnsafeMutablePointer(to: &storage) { storage in
        unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
    }
}

private func portNumber(of address: UnsafeMutablePointer<sockaddr>) -> UInt16 {
    // The port has the same offset in both address families.
    unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
        unsafe UInt16(bigEndian: address.pointee.sin_port)
    }
}

private func numericHost(of address: UnsafeMutablePointer<sockaddr>) -> String? {
    let family = unsafe Int32(address.pointee.sa_family)
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isKnown: Bool
    switch family {
    case AF_INET:
        isKnown = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
            unsafe inet_ntop(family, &address.pointee.sin_addr, &text, socklen_t(INET6_ADDRSTRLEN)) != nil
        }
    case AF_INET6:
        isKnown = unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            unsafe inet_ntop(family, &address.pointee.sin6_addr, &text, socklen_t(INET6_ADDRSTRLEN)) != nil
        }
    default:
        isKnown = false
    }
    guard isKnown else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func unixPath(of address: UnsafeMutablePointer<sockaddr>) -> String {
    unsafe address.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { address in
        unsafe withUnsafeBytes(of: address.pointee.sun_path) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
