internal import ArbiterHTTP
internal import Logging

/// Reads the files again that the settings name, when the daemon gets SIGHUP.
struct Reloading {
    let options: Options
    let access: AccessControl
    let hub: EventHub
    let server: MicroHTTPDServer
    let serving: any Serving
    let metrics: Metrics
    let logger: Logger

    /// A file that is wrong changes nothing.
    func reload() {
        if let path = options.access { reloadAccess(path) }
        if let certificate = options.tlsCertificate, let key = options.tlsKey { reloadIdentity(certificate, key) }
        let isNode = options.journal.isOfCluster
        if isNode, options.cluster.namesFiles { reloadPeers() }
        if isNode, options.cluster.store.namesFiles { reloadEtcd() }
        guard options.access == nil, options.tlsCertificate == nil,
            !isNode || !options.cluster.namesFiles && !options.cluster.store.namesFiles
        else { return }
        logger.notice("there is nothing to reload")
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

    private func reloadPeers() {
        do {
            let peers = try options.cluster.peerFiles()
            if let identity = peers.identity { try server.replace(identity, forNodes: true) }
            serving.replacePeers(peers.trust)
            logger.notice("the certificate for other nodes has been read again")
        } catch let failure as Failure {
            logger.error("the certificate for other nodes stays as it was: \(failure.reason)")
        } catch {
            logger.error("the certificate for other nodes stays as it was: \(error)")
        }
    }

    private func reloadEtcd() {
        do {
            serving.replaceEtcd(try options.cluster.store.access(beyondLoopback: options.insecure))
            logger.notice("the files for etcd have been read again")
        } catch let failure as Failure {
            logger.error("the files for etcd stay as they were: \(failure.reason)")
        } catch {
            logger.error("the files for etcd stay as they were: \(error)")
        }
    }
}
