internal import CLinux

extension Peer {
    /// The other end of a connection that was accepted.
    ///
    /// - Parameters:
    ///   - descriptor: the connection.
    ///   - address: where it was accepted.
    init(of descriptor: Int32, at address: ListenAddress) {
        switch address {
        case .tcp: self = .network(address: peerHost(of: descriptor) ?? "")
        case .tls: self = .encrypted(address: peerHost(of: descriptor) ?? "", certificate: nil)
        // Without credentials, it is a user that has no name and no permissions.
        case .unix: self = .local(LocalUser(of: descriptor) ?? LocalUser(user: .max, groups: []))
        }
    }
}

extension LocalUser {
    /// The process that connected, as the system reports it (`SO_PEERCRED`, `SO_PEERGROUPS`; unix(7)).
    ///
    /// - Returns: `nil` if the descriptor is no connected Unix socket.
    init?(of descriptor: Int32) {
        var credentials = arbiter_peer()
        guard unsafe arbiter_peer_credentials(descriptor, &credentials) == 0 else { return nil }
        var groups: Set<UInt32> = [credentials.group]
        var room = [UInt32](repeating: 0, count: 64)
        var count = unsafe arbiter_peer_groups(descriptor, &room, UInt32(room.count))
        if count > room.count {
            room = [UInt32](repeating: 0, count: Int(count))
            count = unsafe arbiter_peer_groups(descriptor, &room, UInt32(room.count))
        }
        groups.formUnion(room.prefix(Int(max(0, count))))
        self.init(user: credentials.user, groups: groups)
    }
}
