package import ArbiterCore

/// What a client asks, as it came.
package struct Request: Sendable {
    package let method: String
    /// The path as it came, percent-encoding and all.
    package let path: String
    /// The parameters behind the question mark, in their order, percent-encoding and all.
    package let query: [QueryItem]
    package let headers: any HeaderFields
    package private(set) var body: [UInt8]
    /// The other end of its connection.
    package let peer: Peer
    /// Whether its client was there when the whole request was read.
    package let client: ClientPresence
    /// What was found out about earlier requests with its head on its connection.
    let known: KnownRequest?

    package init(
        method: String, path: String, query: [QueryItem] = [], headers: any HeaderFields, body: [UInt8] = [],
        peer: Peer = .unknown, client: ClientPresence = .present, known: KnownRequest? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.client = client
        self.known = known
    }
}

/// One parameter of a query.
package struct QueryItem: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The header fields of a request, looked up only when somebody wants to know.
package protocol HeaderFields: Sendable {
    /// What the field of this name says, in whatever case it was written; several lines of it count as one, with commas
    /// between them (RFC 9110, section 5.3).
    func value(of name: HeaderName) -> String?
}

extension Request {
    /// The request with header fields that outlive its connection.
    var kept: Request {
        Request(
            method: method, path: path, query: query, headers: KeptFields(headers), body: body, peer: peer,
            client: client)
    }

    /// The request without its body.
    var withoutBody: Request {
        var request = self
        request.body = []
        return request
    }

    /// Whether another node says it for itself, and not for a client.
    var isNodesOwn: Bool { peer.isNode && path.hasPrefix("/cluster/") }

    /// Whether it only reads, so that it may be made any number of times.
    var onlyReads: Bool { method == "GET" || method == "HEAD" }
}

/// Header fields that outlive their connection.
struct KeptFields: HeaderFields {
    private let values: [HeaderName: String]

    /// Copies those that mean something here.
    init(_ fields: any HeaderFields) {
        var values: [HeaderName: String] = [:]
        for name in HeaderName.allCases { values[name] = fields.value(of: name) }
        self.values = values
    }

    func value(of name: HeaderName) -> String? { values[name] }
}

/// The header fields that mean something here.
package enum HeaderName: UInt8, Hashable, Sendable, CaseIterable {
    case accept
    case forwardedPeer
    case forwardedEntry
    case forwarded
    case hops
    case orphaned
    case part
    case forwardedPrincipal
    case remaining
    case authorization
    case contentEncoding
    case contentLength
    case contentType
    case host
    case idempotencyKey
    case ifMatch
    case ifNoneMatch
    case lastEventID
    case origin
    case prefer
    case requestedMethod
    case requestedPrivateNetwork
    case secFetchDestination
    case secFetchMode
    case secFetchSite
    case session
    case transferEncoding
    case requestID
    case traceParent
}

extension HeaderName {
    /// As it is written.
    package var text: String {
        switch self {
        case .accept: "Accept"
        case .forwardedPeer: "Arbiter-Client"
        case .forwardedEntry: "Arbiter-Entry"
        case .forwarded: "Arbiter-Forwarded"
        case .hops: "Arbiter-Hops"
        case .orphaned: "Arbiter-Orphaned"
        case .part: "Arbiter-Part"
        case .forwardedPrincipal: "Arbiter-Principal"
        case .remaining: "Arbiter-Remaining"
        case .authorization: "Authorization"
        case .contentEncoding: "Content-Encoding"
        case .contentLength: "Content-Length"
        case .contentType: "Content-Type"
        case .host: "Host"
        case .idempotencyKey: "Idempotency-Key"
        case .ifMatch: "If-Match"
        case .ifNoneMatch: "If-None-Match"
        case .lastEventID: "Last-Event-ID"
        case .origin: "Origin"
        case .prefer: "Prefer"
        case .requestedMethod: "Access-Control-Request-Method"
        case .requestedPrivateNetwork: "Access-Control-Request-Private-Network"
        case .secFetchDestination: "Sec-Fetch-Dest"
        case .secFetchMode: "Sec-Fetch-Mode"
        case .secFetchSite: "Sec-Fetch-Site"
        case .session: "Arbiter-Session"
        case .transferEncoding: "Transfer-Encoding"
        case .requestID: "X-Request-Id"
        case .traceParent: "traceparent"
        }
    }

    /// Whether the node that serves a request reads this field of it, so that a node which forwards the request passes it on.
    var isPassedOn: Bool {
        switch self {
        case .accept, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .prefer, .session,
            .traceParent:
            true
        // The node that forwards it has checked these.
        case .authorization, .host, .origin, .secFetchDestination, .secFetchMode, .secFetchSite: false
        // Browsers ask with these before a request, and every node answers that itself.
        case .requestedMethod, .requestedPrivateNetwork: false
        // Nodes say these to each other: the node that forwards it writes its own.
        case .forwarded, .forwardedEntry, .forwardedPeer, .forwardedPrincipal, .hops, .orphaned, .part, .remaining,
            .requestID:
            false
        // They belong to one connection, and the next one has its own. A body that is encoded is refused.
        case .contentEncoding, .contentLength, .transferEncoding: false
        }
    }
}
