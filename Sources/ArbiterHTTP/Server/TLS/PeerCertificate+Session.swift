internal import CGnuTLS

extension PeerCertificate {
    /// Has the handshake fail unless the peer shows such a certificate; to be called before the handshake.
    ///
    /// - Parameter session: the session of GnuTLS.
    static func require(ofSession session: UnsafeMutableRawPointer?) {
        guard let session = unsafe session else { return }
        unsafe arbiter_require_peer(session)
    }

    /// The certificate that the peer has shown, if it is valid and a trusted authority has signed it.
    ///
    /// - Parameter session: the session of GnuTLS.
    init?(ofSession session: UnsafeMutableRawPointer?) {
        guard let session = unsafe session else { return nil }
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe arbiter_peer_common_name(session, &name, name.count) == 0 else { return nil }
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else { return nil }
        self.init(commonName: text)
    }
}
