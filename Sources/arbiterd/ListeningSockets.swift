internal import ArbiterEngine
internal import ArbiterHTTP
internal import Foundation
internal import Glibc
internal import Logging

// The sockets that the daemon listens on.

extension Options {
    private static let defaultAddress = ListenAddress.tcp(NetworkAddress(host: "127.0.0.1", port: 8080))

    /// Where to listen, unless the service manager hands over sockets.
    var addresses: [ListenAddress] { listen.isEmpty ? [Self.defaultAddress] : listen }

    /// Opens the sockets of `--listen`, and takes over those that the service manager hands over.
    ///
    /// - Throws: `ListenError`, `Failure`.
    func openSockets() throws -> [ListeningSocket] {
        let inherited = try inheritedSockets()
        let addresses = inherited.isEmpty ? addresses : listen
        return try inherited
            + addresses.map { address in
                switch address {
                case .tcp(let network): try ListeningSocket(network, beyondLoopback: mayLeaveLoopback)
                case .tls(let network):
                    try ListeningSocket(network, isEncrypted: true, beyondLoopback: mayLeaveLoopback)
                case .unix(let path): try ListeningSocket(path: path, permissions: socketPermissions)
                }
            }
    }

    /// Whether other machines may reach the daemon: because it knows who may do what, or because the operator says so.
    private var mayLeaveLoopback: Bool { insecure || access != nil }

    /// Which clients of before may still hold leases that the journal has lost.
    ///
    /// One that is reached by a name of its own, or by pages of other machines, is reached through a proxy.
    func earlierClients(of sockets: [ListeningSocket]) -> EarlierClients {
        if trustLeasesOver { return .gone }
        let isLocal = sockets.allSatisfy(\.isLocal) && allowHost.isEmpty && allowOrigin.allSatisfy(\.isLocal)
        return isLocal ? .onThisMachine : .anywhere
    }

    /// Warns of tokens that can be read on the way.
    func warn(of sockets: [ListeningSocket], _ logger: Logger) {
        for socket in sockets where access != nil && socket.sendsTokensInClear {
            logger.warning(
                "tokens can be read on their way to this address; use tls:", metadata: ["address": "\(socket.address)"])
        }
    }

    var socketPermissions: SocketPermissions { SocketPermissions(mode: socketMode.bits, group: socketGroup) }

    /// The sockets of socket activation (sd_listen_fds(3)); one whose name begins with `tls` is encrypted.
    private func inheritedSockets() throws -> [ListeningSocket] {
        let environment = ProcessInfo.processInfo.environment
        guard environment["LISTEN_PID"] == "\(getpid())", let text = environment["LISTEN_FDS"] else { return [] }
        guard let count = Int32(text), 0...64 ~= count else {
            throw Failure(EX_USAGE, "LISTEN_FDS must be a number of sockets, not \(text)")
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        let first: Int32 = 3
        return try (0..<count).map { index in
            let isEncrypted = Int(index) < names.count && names[Int(index)].hasPrefix("tls")
            return try ListeningSocket(
                inherited: first + index, isEncrypted: isEncrypted, beyondLoopback: mayLeaveLoopback)
        }
    }
}
