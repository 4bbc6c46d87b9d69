internal import ArbiterEngine

/// Refuses requests of web pages whose origin is not allowed.
///
/// A page of any origin can make a browser on this machine send requests to the daemon. Two checks prevent harm. `Host`
/// has to name the daemon, so that a page cannot reach it under its own name (DNS rebinding). And the origin that the
/// browser reports (`Origin`, `Sec-Fetch-Site`) has to be the daemon's own or an allowed one. A browser does not connect to
/// a Unix socket, so nothing is checked there.
package struct WebAccess: Sendable {
    private let hosts: Set<Authority.Host>
    private let origins: Set<Origin>
    private let lastHost = LastHost()

    /// - Parameters:
    ///   - hosts: the names that `Host` may contain, besides IP addresses and `localhost`.
    ///   - origins: the origins of pages that may be clients.
    package init(hosts: [Authority.Host] = [], origins: [Origin] = []) {
        self.hosts = Set(hosts).union([.name("localhost")])
        self.origins = Set(origins)
    }

    /// Checks the host that a request is for, and the page that it comes from.
    ///
    /// - Returns: the origin, as the browser wrote it, that may read the answer; `nil` if the answer needs no CORS
    ///   fields.
    /// - Throws: `invalid-field`, `misdirected-request` or `foreign-origin`.
    func admit(_ request: Request) throws(Problem) -> String? {
        guard let scheme = request.peer.scheme else { return nil }
        let authority = try authority(of: request)
        let written = request.headers.value(of: .origin)
        if let written {
            let origin = Origin(written)
            if let origin, origins.contains(origin) { return written }
            guard origin == Origin(scheme: scheme, authority) else {
                throw Problem(
                    .foreignOrigin,
                    "Pages of \(quoted(written)) may not use the daemon: allow the origin with --allow-origin.",
                    field: HeaderName.origin.text)
            }
        }
        try checkSite(of: request)
        return nil
    }

    private func authority(of request: Request) throws(Problem) -> Authority {
        guard let host = request.headers.value(of: .host), !host.isEmpty else {
            throw Problem(
                .invalidField, "Name the daemon in Host.", field: HeaderName.host.text, closesConnection: true)
        }
        let isAbsolute = request.path.utf8.first != UInt8(ascii: "/")
        if !isAbsolute, let authority = lastHost.authority(of: host) { return authority }
        guard let named = Authority(host) else {
            throw Problem(
                .invalidField, "Host must be a host and, if need be, a port, not \(quoted(host)).",
                field: HeaderName.host.text)
        }
        // An absolute target takes precedence over the header field (RFC 9112, section 3.2.2).
        let target = PercentEncoding.authority(ofTarget: request.path)
        guard let authority = target.map({ Authority($0) }) ?? named else {
            throw Problem(.invalidField, "The target \(quoted(request.path)) names no host.", field: nil)
        }
        if case .name(let name) = authority.host, !hosts.contains(authority.host) {
            throw Problem(
                .misdirectedRequest,
                "The daemon is not known as \(quoted(name)): use its IP address or localhost, or start it with "
                    + "--allow-host \(name).",
                field: HeaderName.host.text)
        }
        if !isAbsolute { lastHost.note(host, authority) }
        return authority
    }

    /// Checks what a browser reports about the page (https://www.w3.org/TR/fetch-metadata/); other clients report
    /// nothing.
    private func checkSite(of request: Request) throws(Problem) {
        guard let site = request.headers.value(of: .secFetchSite), site != "same-origin", site != "none" else { return }
        // A top-level navigation, by a person who followed a link, is allowed. A page could open many frames, so they
        // are not.
        let destination = request.headers.value(of: .secFetchDestination)
        if request.method == "GET", request.headers.value(of: .secFetchMode) == "navigate",
            destination == nil || destination == "document"
        {
            return
        }
        throw Problem(
            .foreignOrigin,
            "The request comes from a page of another origin (\(quoted(site))): allow its origin with --allow-origin.",
            field: HeaderName.secFetchSite.text)
    }
}

/// The `Host` that was admitted last: nearly all requests name the same one.
private final class LastHost: Sendable {
    private let last = Guarded<(text: String, authority: Authority)?>(nil)

    /// - Returns: `nil` if another one was admitted last.
    func authority(of text: String) -> Authority? {
        last.withLock { last in last.flatMap { $0.text == text ? $0.authority : nil } }
    }

    func note(_ text: String, _ authority: Authority) {
        last.withLock { $0 = (text, authority) }
    }
}

extension Peer {
    /// The scheme of the daemon's own origin on this connection; `nil` on a Unix socket, which has none.
    fileprivate var scheme: String? {
        switch self {
        case .network: "http"
        case .encrypted: "https"
        case .local, .node: nil
        }
    }
}
