internal import ArbiterCore

/// The client of a request that a node passes on, as its header fields say; believed of nodes only.
struct ForwardedClient: Sendable {
    /// The principal, if the client is authenticated.
    let principal: String?
    /// The name of its entry in the access file.
    let entry: String?
    /// Where the client is; `nil` if the node does not say so.
    let peer: Peer?
    /// By how many nodes the request was passed on.
    let hops: Int
    /// How long the client still waits for the answer, if the request waits.
    let remaining: Duration?
    /// Whether the client was there when the request was read.
    let presence: ClientPresence

    init(_ headers: any HeaderFields) {
        principal = headers.value(of: .forwardedPrincipal).flatMap { PercentEncoding.decode(Substring($0)) }
        entry = headers.value(of: .forwardedEntry).flatMap { PercentEncoding.decode(Substring($0)) }
        peer = headers.value(of: .forwardedPeer).flatMap { PercentEncoding.decode(Substring($0)) }
            .flatMap { Peer(key: $0) }
        hops = headers.value(of: .hops).flatMap { Int($0) } ?? 0
        presence = headers.value(of: .orphaned) == nil ? .present : .gone
        remaining = headers.value(of: .remaining).flatMap { Int($0) }.map { .milliseconds(max(0, $0)) }
    }

    /// The lines of the header of a request that is passed on.
    ///
    /// - Parameters:
    ///   - request: the request, as it came.
    ///   - permission: what its client may do.
    ///   - wait: how long it may still wait.
    /// - Returns: the lines.
    static func fields(of request: Request, _ permission: Permission, waiting wait: Duration = .zero) -> [String] {
        let earlier = request.peer.isNode ? ForwardedClient(request.headers) : nil
        let principal = earlier?.principal ?? permission.caller.principal?.description
        let entry = earlier?.entry ?? permission.entryName
        var fields = [
            "\(HeaderName.hops.text): \((earlier?.hops ?? 0) + 1)",
            "\(HeaderName.remaining.text): \(Int(wait / .milliseconds(1)))",
        ]
        if let peer = request.peer.isNode ? earlier?.peer : request.peer {
            fields.append("\(HeaderName.forwardedPeer.text): \(PercentEncoding.encode(peer.key))")
        }
        if let principal {
            fields.append("\(HeaderName.forwardedPrincipal.text): \(PercentEncoding.encode(principal))")
        }
        if earlier?.presence ?? request.client == .gone { fields.append("\(HeaderName.orphaned.text): 1") }
        if let entry { fields.append("\(HeaderName.forwardedEntry.text): \(PercentEncoding.encode(entry))") }
        return fields
    }
}
