internal import ArbiterCore

/// The client of a request that a node passes on, as its header fields say; believed of nodes only.
struct ForwardedClient: Sendable {
    /// The principal, if the client is authenticated.
    let principal: String?
    /// The name of its entry in the access file.
    let entry: String?
    /// By how many nodes the request was passed on.
    let hops: Int

    init(_ headers: any HeaderFields) {
        principal = headers.value(of: .forwardedPrincipal).flatMap { PercentEncoding.decode(Substring($0)) }
        entry = headers.value(of: .forwardedEntry).flatMap { PercentEncoding.decode(Substring($0)) }
        hops = headers.value(of: .hops).flatMap { Int($0) } ?? 0
    }

    /// The lines of the header of a request that is passed on.
    ///
    /// - Parameters:
    ///   - request: the request, as it came.
    ///   - permission: what its client may do.
    /// - Returns: the lines.
    static func fields(of request: Request, _ permission: Permission) -> [String] {
        let earlier = request.peer.isNode ? ForwardedClient(request.headers) : nil
        let principal = earlier?.principal ?? permission.caller.principal?.description
        let entry = earlier?.entry ?? permission.entryName
        var fields = ["\(HeaderName.hops.rawValue): \((earlier?.hops ?? 0) + 1)"]
        if let principal {
            fields.append("\(HeaderName.forwardedPrincipal.rawValue): \(PercentEncoding.encode(principal))")
        }
        if let entry { fields.append("\(HeaderName.forwardedEntry.rawValue): \(PercentEncoding.encode(entry))") }
        return fields
    }
}
