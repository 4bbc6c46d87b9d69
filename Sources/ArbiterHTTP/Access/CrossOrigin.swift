internal import ArbiterTransfers

/// Cross-origin resource sharing (https://fetch.spec.whatwg.org/#http-cors-protocol), for the origins that are allowed.
enum CrossOrigin {
    /// How long a browser may remember the answer to a preflight, in seconds.
    private static let preflightSeconds = 600

    /// The fields of an answer that a page may read, besides those that are always readable.
    private static let exposedHeaders = [
        "Allow", Heartbeat.field, "ETag", "Link", "Preference-Applied", "Retry-After", "WWW-Authenticate",
        HeaderName.requestID.text,
    ]
    /// The fields that a page may send, besides those that are always allowed.
    private static let sentHeaders: [HeaderName] = [
        .session, .authorization, .contentType, .idempotencyKey, .ifMatch, .ifNoneMatch, .lastEventID, .prefer,
        .requestID,
        .traceParent,
    ]

    /// The fields of every answer to an allowed origin.
    static func headers(for origin: String) -> [HeaderField] {
        [
            HeaderField("Access-Control-Allow-Origin", origin),
            HeaderField("Access-Control-Expose-Headers", exposedHeaders.joined(separator: ", ")),
            HeaderField("Vary", HeaderName.origin.text),
        ]
    }

    /// Whether a request is a preflight, which asks whether another request is allowed.
    static func isPreflight(_ request: Request) -> Bool {
        request.method == "OPTIONS" && request.headers.value(of: .requestedMethod) != nil
    }

    /// The answer to a preflight for a path with these methods.
    static func preflightResponse(to request: Request, methods: [String]) -> Response {
        var response = Response.noContent
        response.headers = [
            HeaderField("Access-Control-Allow-Methods", methods.joined(separator: ", ")),
            HeaderField("Access-Control-Allow-Headers", sentHeaders.map(\.text).joined(separator: ", ")),
            HeaderField("Access-Control-Max-Age", String(preflightSeconds)),
        ]
        // Asked for by a page on the public Internet before it sends requests to loopback
        // (https://wicg.github.io/private-network-access/).
        if request.headers.value(of: .requestedPrivateNetwork) == "true" {
            response.headers.append(HeaderField("Access-Control-Allow-Private-Network", "true"))
        }
        return response
    }
}

extension Response {
    /// All header fields except `Content-Type`.
    package var allHeaders: [HeaderField] {
        let common = [
            HeaderField("Cache-Control", Self.cacheControl),
            requestID.map { HeaderField(HeaderName.requestID.text, $0) },
        ]
        return headers + common.compactMap(\.self) + (allowedOrigin.map { CrossOrigin.headers(for: $0) } ?? [])
    }
}
