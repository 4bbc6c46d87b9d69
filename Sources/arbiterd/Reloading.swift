internal import ArbiterHTTP
internal import Logging

/// Reads the files again that the settings name, when the daemon gets SIGHUP.
struct Reloading {
    let options: Options
    let access: AccessControl
    let hub: EventHub
    let server: MicroHTTPDServer
    let metrics: Metrics
    let logger: Logger

    /// A file that is wrong changes nothing.
    func reload() {
        if let path = options.access { reloadAccess(path) }
        if let certificate = options.tlsCertificate, let key = options.tlsKey { reloadIdentity(certificate, key) }
        if options.access == nil, options.tlsCertificate == nil { logger.notice("there is nothing to reload") }
    }

    private func reloadAccess(_ path: String) {
        do throws(SettingsFile.Malformed) {
            try access.replace(with: SettingsFile.read(path, upTo: AccessFile.fileBytes))
            hub.endRevoked()
            logger.notice(
                "the access file has been read again",
                metadata: ["file": "\(path)", "entries": "\(access.entryCount ?? 0)"])
        } catch {
            logger.error(
                "the access file is wrong, and the entries stay as they were: \(error.description(in: path))")
        }
    }

    private func reloadIdentity(_ certificate: String, _ key: String) {
        do {
            let identity = try TLSIdentity(
                certificate: certificate, key: key, clientAuthority: options.tlsClientCa)
            try server.replace(identity)
            metrics.noteCertificate(expiringAt: identity.expiresAt)
            logger.notice("the certificate has been read again", metadata: ["file": "\(certificate)"])
        } catch let fault as TLSIdentity.Unusable {
            logger.error("the certificate stays as it was: \(fault.reason)")
        } catch {
            logger.error("the certificate stays as it was: \(error)")
        }
    }
}
