internal import ArbiterRelay

/// A method and a path, and what answers there.
///
/// A class, because every call keeps the one that it goes to.
final class Route: Sendable {
    /// Its `operationId` in openapi.yaml.
    let name: String
    let method: String
    /// The path as openapi.yaml writes it, with `{name}` for a part that varies.
    let template: String
    /// The access that it needs; `nil` if it needs none.
    let role: Role?
    /// Whether a client has to be authenticated, as it has for every role.
    let needsPrincipal: Bool
    /// The parameters that it takes in the query.
    let query: Set<QueryParameter>
    /// Whether the query is read by the client only, so that nothing in it is refused.
    let ignoresQuery: Bool
    /// What it serves when all is well, each as `type/subtype`; empty where that has no content.
    let contentTypes: [String]
    let answersWhileDraining: Bool
    /// Whether it is served on connections of the reserve too: what tells how the daemon is, and what lets go of a lock.
    let mayUseReserve: Bool
    /// The longest body that it reads, in bytes.
    let bodyBytes: Int
    let endpoint: Router.Endpoint
    let metrics = RouteMetrics()

    private let segments: [Substring]

    init(
        _ name: String, _ method: String, _ template: String, role: Role?, needsPrincipal: Bool = false,
        query: Set<QueryParameter> = [], ignoresQuery: Bool = false, contentTypes: [String] = ["application/json"],
        answersWhileDraining: Bool = false,
        mayUseReserve: Bool = false,
        bodyBytes: Int = ServerLimits.bodyBytes, _ endpoint: @escaping Router.Endpoint
    ) {
        self.name = name
        self.method = method
        self.template = template
        self.role = role
        self.needsPrincipal = needsPrincipal || role != nil
        self.query = query
        self.ignoresQuery = ignoresQuery
        self.contentTypes = contentTypes
        self.answersWhileDraining = answersWhileDraining
        self.mayUseReserve = mayUseReserve
        self.bodyBytes = bodyBytes
        self.endpoint = endpoint
        segments = template.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Every route of the arbiter, in the order of openapi.yaml.
    static func all(
        shards: Shards, hub: EventHub, _ metrics: MetricsEndpoint, _ identity: IdentityEndpoint,
        _ traces: TraceEndpoints, opensMetrics: Bool
    ) -> [Route] {
        transitionRoutes(TransitionEndpoints(shards: shards), GestureEndpoints(shards: shards))
            + sceneRoutes(
                SceneEndpoints(shards: shards), IdleEndpoint(shards: shards), StoryboardEndpoints(shards: shards),
                ControllerEndpoint(shards: shards), GuardEndpoints(shards: shards))
            + eventRoutes(EventEndpoints(shards: shards, hub: hub), traces)
            + sessionRoutes(SessionEndpoints(shards: shards))
            + operationRoutes(
                HealthEndpoints(shards: shards), metrics, identity, ClusterEndpoint(shards: shards),
                opensMetrics: opensMetrics)
            + pageRoutes
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

// MARK: - Every route

extension Route {
    private static func transitionRoutes(_ transitions: TransitionEndpoints, _ gestures: GestureEndpoints) -> [Route] {
        [
            Route(
                "startTransition", "POST", "/transitions/start", role: .transition, query: [.dryRun],
                transitions.start),
            Route(
                "serializeTransition", "POST", "/transitions/serialize", role: .transition, query: [.wait, .dryRun],
                transitions.serialize),
            Route(
                "awaitTransition", "POST", "/transitions/await", role: .transition, query: [.wait],
                transitions.ownersAwait),
            Route(
                "watchTransition", "GET", "/transitions/await", role: .observe, query: [.id, .until, .wait],
                transitions.anybodysAwait),
            Route("endTransition", "POST", "/transitions/end", role: .transition, mayUseReserve: true, transitions.end),
            Route(
                "renewTransition", "POST", "/transitions/renew", role: .transition, mayUseReserve: true,
                transitions.renew),
            Route("performTransition", "POST", "/transitions/perform", role: .transition, transitions.perform),
            Route(
                "progressTransition", "POST", "/transitions/progress", role: .transition, mayUseReserve: true,
                gestures.progress),
            Route(
                "releaseTransition", "POST", "/transitions/release", role: .transition, mayUseReserve: true,
                gestures.release),
            Route("readyForTransition", "POST", "/transitions/ready", role: .transition, gestures.ready),
            Route("updateTransition", "POST", "/transitions/update", role: .transition, transitions.update),
            Route(
                "revokeTransition", "POST", "/transitions/revoke", role: nil, needsPrincipal: true, transitions.revoke),
            Route(
                "listTransitions", "GET", "/transitions", role: .observe,
                query: [.scene, .state, .client, .limit, .after, .partial],
                transitions.list),
            Route("showTransition", "GET", "/transitions/{id}", role: .observe, transitions.show),
        ]
    }

    /// The page, which has nothing that only some may see: it asks for the rest with the rights of its reader.
    private static var pageRoutes: [Route] {
        [
            Route(
                "showPage", "GET", "/", role: nil, query: [.scene, .trace], ignoresQuery: true,
                contentTypes: ["text/html"], PageEndpoints.show),
            Route("servePageStyle", "GET", "/page.css", role: nil, contentTypes: ["text/css"], PageEndpoints.style),
            Route(
                "servePageScript", "GET", "/page.js", role: nil, contentTypes: ["text/javascript"], PageEndpoints.script
            ),
            Route(
                "servePageModule", "GET", "/page/{module}", role: nil, contentTypes: ["text/javascript"],
                PageEndpoints.module),
        ]
    }

    private static func sceneRoutes(
        _ scenes: SceneEndpoints, _ idle: IdleEndpoint, _ storyboards: StoryboardEndpoints,
        _ controllers: ControllerEndpoint, _ guards: GuardEndpoints
    ) -> [Route] {
        [
            Route(
                "listScenes", "GET", "/scenes", role: .observe, query: [.limit, .after, .partial],
                scenes.list),
            Route("showScene", "GET", "/scenes/{scene}", role: .observe, scenes.show),
            Route("deleteScene", "DELETE", "/scenes/{scene}", role: .design, contentTypes: [], scenes.delete),
            Route(
                "awaitScene", "GET", "/scenes/{scene}/await", role: .observe,
                query: [.until, .controller, .quietSeconds, .wait], idle.await),
            Route(
                "declareStoryboard", "PUT", "/scenes/{scene}/storyboard", role: .design,
                query: [.dryRun], bodyBytes: ServerLimits.storyboardBytes, storyboards.declare),
            Route(
                "patchStoryboard", "PATCH", "/scenes/{scene}/storyboard", role: .design,
                bodyBytes: ServerLimits.storyboardBytes, storyboards.patch),
            Route("showStoryboard", "GET", "/scenes/{scene}/storyboard", role: .observe, storyboards.show),
            Route("showController", "GET", "/scenes/{scene}/controllers/{id}", role: .observe, controllers.show),
            Route(
                "awaitController", "GET", "/scenes/{scene}/controllers/{id}/await", role: .observe,
                query: [.is, .not, .wait], controllers.await),
            Route("addGuard", "POST", "/scenes/{scene}/guards", role: .transition, guards.add),
            Route(
                "removeGuard", "DELETE", "/scenes/{scene}/guards/{id}", role: .transition, contentTypes: [],
                guards.remove),
        ]
    }

    private static func eventRoutes(_ events: EventEndpoints, _ traces: TraceEndpoints) -> [Route] {
        [
            Route(
                "followScene", "GET", "/scenes/{scene}/events", role: .observe, query: [.since],
                contentTypes: ["text/event-stream"], events.followScene),
            Route(
                "followAllScenes", "GET", "/events", role: .observe, query: [.since],
                contentTypes: ["text/event-stream"],
                events.followAll),
            Route(
                "recordScene", "GET", "/scenes/{scene}/trace", role: .observe,
                contentTypes: ["application/x-ndjson"], traces.ofScene),
            Route(
                "recordAllScenes", "GET", "/trace", role: .observe,
                contentTypes: ["application/x-ndjson"], traces.ofAll),
        ]
    }

    private static func sessionRoutes(_ sessions: SessionEndpoints) -> [Route] {
        [
            Route("openSession", "POST", "/sessions", role: .transition, sessions.open),
            Route("renewSession", "POST", "/sessions/renew", role: .transition, sessions.renew),
            Route("endSession", "POST", "/sessions/end", role: .transition, sessions.end),
        ]
    }

    private static func operationRoutes(
        _ health: HealthEndpoints, _ metrics: MetricsEndpoint, _ identity: IdentityEndpoint,
        _ cluster: ClusterEndpoint, opensMetrics: Bool
    ) -> [Route] {
        [
            Route(
                "checkLiveness", "GET", "/livez", role: nil, answersWhileDraining: true, mayUseReserve: true,
                health.live),
            Route("checkReadiness", "GET", "/readyz", role: nil, mayUseReserve: true, health.ready),
            Route(
                "showMetrics", "GET", "/metrics", role: opensMetrics ? nil : .observe, contentTypes: ["text/plain"],
                answersWhileDraining: true, mayUseReserve: true, metrics.show),
            Route("showIdentity", "GET", "/whoami", role: nil, needsPrincipal: true, identity.show),
            Route("showCluster", "GET", "/cluster", role: .observe, cluster.show),
            Route(
                "describeInYAML", "GET", "/openapi.yaml", role: nil, contentTypes: ["application/yaml"],
                answersWhileDraining: true, Description.yaml),
            Route(
                "describeInJSON", "GET", "/openapi.json", role: nil, answersWhileDraining: true, Description.json),
            Route(
                "serveClient", "GET", "/client.js", role: nil, contentTypes: ["text/javascript"],
                answersWhileDraining: true, ClientModule.show),
            Route(
                "serveClientTypes", "GET", "/client.d.ts", role: nil, contentTypes: ["application/typescript"],
                answersWhileDraining: true, ClientModule.showTypes),
        ]
    }
}
