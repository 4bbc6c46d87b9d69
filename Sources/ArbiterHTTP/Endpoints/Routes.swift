internal import ArbiterEngine

/// A method and a path, and what answers there.
struct Route: Sendable {
    let method: String
    /// The path as openapi.yaml writes it, with `{name}` for a part that varies.
    let template: String
    /// What it serves when all is well, as `type/subtype`; `nil` where that has no content.
    let contentType: String?
    let answersWhileDraining: Bool
    /// Whether it is served on connections of the reserve too: what tells how the daemon is, and what lets go of a lock.
    let mayUseReserve: Bool
    /// The longest body that it reads, in bytes.
    let bodyBytes: Int
    let endpoint: Router.Endpoint

    private let segments: [Substring]

    init(
        _ method: String, _ template: String, contentType: String? = "application/json",
        answersWhileDraining: Bool = false, mayUseReserve: Bool = false, bodyBytes: Int = ServerLimits.bodyBytes,
        _ endpoint: @escaping Router.Endpoint
    ) {
        self.method = method
        self.template = template
        self.contentType = contentType
        self.answersWhileDraining = answersWhileDraining
        self.mayUseReserve = mayUseReserve
        self.bodyBytes = bodyBytes
        self.endpoint = endpoint
        segments = template.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Every route of the arbiter, in the order of openapi.yaml.
    static func all(engine: Engine, hub: EventHub, scenes reader: SceneReader) -> [Route] {
        let transitions = TransitionEndpoints(engine: engine)
        let gestures = GestureEndpoints(engine: engine)
        let sessions = SessionEndpoints(engine: engine)
        let scenes = SceneEndpoints(engine: engine)
        let storyboards = StoryboardEndpoints(engine: engine)
        let events = EventEndpoints(engine: engine, hub: hub, scenes: reader)
        let health = HealthEndpoints(engine: engine)
        return [
            Route("POST", "/transitions/start", transitions.start),
            Route("POST", "/transitions/serialize", transitions.serialize),
            Route("POST", "/transitions/await", transitions.ownersAwait),
            Route("GET", "/transitions/await", transitions.anybodysAwait),
            Route("POST", "/transitions/end", mayUseReserve: true, transitions.end),
            Route("POST", "/transitions/renew", mayUseReserve: true, transitions.renew),
            Route("POST", "/transitions/progress", mayUseReserve: true, gestures.progress),
            Route("POST", "/transitions/release", mayUseReserve: true, gestures.release),
            Route("POST", "/transitions/ready", gestures.ready),
            Route("POST", "/transitions/revoke", transitions.revoke),
            Route("GET", "/transitions", transitions.list),
            Route("GET", "/transitions/{id}", transitions.show),
            Route("GET", "/scenes", scenes.list),
            Route("GET", "/scenes/{scene}", scenes.show),
            Route("DELETE", "/scenes/{scene}", contentType: nil, scenes.delete),
            Route(
                "PUT", "/scenes/{scene}/storyboard", bodyBytes: ServerLimits.storyboardBytes, storyboards.declare),
            Route("GET", "/scenes/{scene}/storyboard", storyboards.show),
            Route("GET", "/scenes/{scene}/events", contentType: "text/event-stream", events.followScene),
            Route("GET", "/events", contentType: "text/event-stream", events.followAll),
            Route("POST", "/sessions", sessions.open),
            Route("POST", "/sessions/renew", sessions.renew),
            Route("POST", "/sessions/end", sessions.end),
            Route("GET", "/livez", answersWhileDraining: true, mayUseReserve: true, health.live),
            Route("GET", "/readyz", mayUseReserve: true, health.ready),
            Route(
                "GET", "/openapi.yaml", contentType: "application/yaml", answersWhileDraining: true, Description.yaml),
            Route("GET", "/openapi.json", answersWhileDraining: true, Description.json),
        ]
    }

    /// Whether the path is always the same.
    var isPlain: Bool { !template.contains("{") }

    /// The parts of the path that the template names, or `nil` if the path is another.
    func match(_ path: String) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            if segment.hasPrefix("{") {
                guard !part.isEmpty, let value = PercentEncoding.decode(part) else { return nil }
                parameters[String(segment.dropFirst().dropLast())] = value
            } else if part != segment {
                return nil
            }
        }
        return parameters
    }
}
