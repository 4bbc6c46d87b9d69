internal import CGnuTLS
internal import Glibc

/// What the server shows to clients over TLS, and which certificates of clients it trusts, as PEM.
package struct TLSIdentity: Hashable, Sendable {
    /// The server's certificate, followed by those between it and a trusted one.
    package let certificates: String
    package let key: String
    /// The authorities whose certificates of clients are accepted; `nil` if clients are not asked for one.
    package let clientAuthorities: String?
    /// When the server's certificate expires, in seconds since 1970.
    package let expiresAt: Int

    /// The most bytes that each file may have.
    private static let fileBytes = 1 << 20

    /// Why TLS cannot be spoken.
    package struct Unusable: Error, Hashable, Sendable {
        /// One sentence that a person can act on.
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Reads and checks the files.
    ///
    /// - Parameters:
    ///   - certificate: the path of the certificates.
    ///   - key: the path of the private key.
    ///   - clientAuthority: the path of the clients' authorities, if clients may have certificates.
    /// - Throws: `Unusable` if one of them cannot be read, or if the key is not that of the certificate.
    package init(certificate: String, key: String, clientAuthority: String?) throws(Unusable) {
        certificates = try Self.read(certificate)
        self.key = try Self.read(key)
        clientAuthorities = if let clientAuthority { try Self.authorities(clientAuthority) } else { nil }
        let status = unsafe arbiter_check_pair(
            certificates, certificates.utf8.count, self.key, self.key.utf8.count)
        guard status == 0 else {
            throw Unusable(reason: "\(certificate) and \(key) are no certificate and its key (\(Self.words(status)))")
        }
        expiresAt = unsafe Int(arbiter_expiration(certificates, certificates.utf8.count))
    }

    /// Reads and checks certificates of authorities.
    ///
    /// - Parameter path: the path of the file.
    /// - Returns: them, as PEM.
    /// - Throws: `Unusable` if the file cannot be read, or has none.
    package static func authorities(_ path: String) throws(Unusable) -> String {
        let text = try read(path)
        let count = unsafe arbiter_count_authorities(text, text.utf8.count)
        guard count > 0 else {
            throw Unusable(reason: "\(path) has no certificate of an authority (\(words(count)))")
        }
        return text
    }

    private static func read(_ path: String) throws(Unusable) -> String {
        do throws(SettingsFile.Malformed) {
            return try SettingsFile.read(path, upTo: fileBytes)
        } catch {
            throw Unusable(reason: error.description(in: path))
        }
    }

    private static func words(_ status: Int32) -> String {
        status == 0 ? "the file has none" : unsafe String(cString: gnutls_strerror(status))
    }
}
