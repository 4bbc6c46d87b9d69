package import ArbiterCore

/// What a client is answered.
package struct Response: Hashable, Sendable {
    package let status: Int
    /// `nil` where there is nothing in the body, and never will be, as with 204 and 304.
    package let contentType: ContentType?
    package let body: [UInt8]
    /// The header fields of this response alone, in their order.
    package var headers: [HeaderField]
    /// The id of the request, which every response to a client names.
    package var requestID: String?
    /// The origin of the page that may read the response, if it is another's.
    package var allowedOrigin: String?
    /// The code of the problem that the response tells.
    package var problem: Problem.Code?
    /// Whether nothing of the request was carried out, so that a node that has passed it on may send it to another one.
    var isUntouched = false
    /// The length of the body that `GET` would have, in bytes, of an answer to `HEAD` whose body is not known.
    var announcedBytes: Int?
    /// The transition that the response shows, for the log.
    package var transition: TransitionID?
    /// The scene of that transition.
    package var scene: SceneName?

    package init(_ status: Int, _ contentType: ContentType?, body: [UInt8], headers: [HeaderField] = []) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
    }

    /// The field by which one node tells another that nothing of a request was carried out.
    static let untouched = "Arbiter-Untouched"

    /// What every response says about caching.
    package static let cacheControl = "no-store"

    /// It is done, and there is nothing to say.
    static let noContent = Response(204, nil, body: [])
}

/// One header field of a response.
package struct HeaderField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The types of what is served.
package enum ContentType: String, Hashable, Sendable {
    case json = "application/json; charset=utf-8"
    case problem = "application/problem+json; charset=utf-8"
    case yaml = "application/yaml; charset=utf-8"
    case javascript = "text/javascript; charset=utf-8"
    case typescript = "application/typescript; charset=utf-8"
    /// Server-sent events, which are UTF-8 always.
    case eventStream = "text/event-stream"
    /// JSON values, each on a line.
    case jsonLines = "application/x-ndjson; charset=utf-8"
    case html = "text/html; charset=utf-8"
    case css = "text/css; charset=utf-8"
    case text = "text/plain; charset=utf-8"
    case metrics = "text/plain; version=0.0.4; charset=utf-8"
}
