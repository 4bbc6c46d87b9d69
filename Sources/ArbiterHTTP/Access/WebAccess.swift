/// Keeps web pages out that have not been let in.
///
/// A page of any origin can make a browser on this machine send requests to the daemon. Two checks keep it from doing
/// harm: `Host` has to name the daemon, so that a page can't reach it under a name of its own (DNS rebinding), and what a
/// browser says of the page (`Origin`, `Sec-Fetch-Site`) has to be the daemon's own or an allowed one.
package struct WebAccess: Sendable {
    private let hosts: Set<Authority.Host>
    private let origins: Set<Origin>

    /// - Parameters:
    ///   - hosts: names, beside IP addresses and `localhost`, by which the daemon may be addressed.
    ///   - origins: of pages that may be clients.
    package init(hosts: [Authority.Host] = [], origins: [Origin] = []) {
        self.hosts = Set(hosts).union([.name("localhost")])
        self.origins = Set(origins)
    }

    /// Checks for whom a request is and what page it comes from.
    ///
    /// - Returns: the origin, as the browser wrote it, that is allowed to read the answer; `nil` if no CORS is needed.
    /// - Throws: `invalid-field`, `misdirected-request` or `foreign-origin`.
    func admit(_ request: Request) throws(Problem) -> String? {
        let authority = try authority(of: request)
        let written = request.headers.value(of: .origin)
        if let written {
            let origin = Origin(written)
            if let origin, origins.contains(origin) { return written }
            guard origin == Origin(scheme: "http", authority) else {
                throw Problem(
                    .foreignOrigin,
                    "Pages of \(quoted(written)) may not use the daemon: allow the origin with --allow-origin.",
                    field: HeaderName.origin.rawValue)
            }
        }
        try checkSite(of: request)
        return nil
    }

    private func authority(of request: Request) throws(Problem) -> Authority {
        guard let host = request.headers.value(of: .host), !host.isEmpty else {
            throw Problem(.invalidField, "Say in Host whom the request is for.", field: HeaderName.host.rawValue)
        }
        guard let named = Authority(host) else {
            throw Problem(
                .invalidField, "Host must be a host and, if need be, a port, not \(quoted(host)).",
                field: HeaderName.host.rawValue)
        }
        // An absolute target counts more than the header field (RFC 9112, section 3.2.2).
        let target = PercentEncoding.authority(ofTarget: request.path)
        guard let authority = target.map({ Authority($0) }) ?? named else {
            throw Problem(.invalidField, "The target \(quoted(request.path)) names no host.", field: nil)
        }
        switch authority.host {
        case .address:
            return authority
        case .name(let name):
            guard hosts.contains(authority.host) else {
                throw Problem(
                    .misdirectedRequest,
                    "The daemon is not known as \(quoted(name)): use its IP address or localhost, or start it with "
                        + "--allow-host \(name).",
                    field: HeaderName.host.rawValue)
            }
            return authority
        }
    }

    /// What a browser says of where a request comes from (https://www.w3.org/TR/fetch-metadata/); others say nothing.
    private func checkSite(of request: Request) throws(Problem) {
        guard let site = request.headers.value(of: .secFetchSite), site != "same-origin", site != "none" else { return }
        // A person has followed a link. In a frame the page that has it would go on, and could open many.
        let destination = request.headers.value(of: .secFetchDestination)
        if request.method == "GET", request.headers.value(of: .secFetchMode) == "navigate",
            destination == nil || destination == "document"
        {
            return
        }
        throw Problem(
            .foreignOrigin,
            "The request comes from a page of another origin (\(quoted(site))): allow its origin with --allow-origin.",
            field: HeaderName.secFetchSite.rawValue)
    }
}
