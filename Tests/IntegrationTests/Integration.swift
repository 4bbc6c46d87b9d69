internal import ArbiterTestKit
internal import Testing

/// Tests with the real daemon, over real sockets, with real processes.
///
/// Each has its own daemon, port and directory, so that they run beside each other.
enum Integration {}

// MARK: - Requests of clients

extension WireClient {
    func post(_ path: String, _ body: JSONValue = [:], headers: [String] = []) throws -> WireResponse {
        try request("POST", path, headers: headers, body: body.text)
    }

    func get(_ path: String, headers: [String] = []) throws -> WireResponse {
        try request("GET", path, headers: headers)
    }

    func start(_ body: JSONValue = [:]) throws -> WireResponse {
        try post("/transitions/start", Self.long.adding(body))
    }

    func serialize(_ body: JSONValue = [:]) throws -> WireResponse {
        try post("/transitions/serialize", Self.long.adding(body))
    }

    /// What is held for longer than a test takes on any machine.
    private static let long: JSONValue = ["leaseSeconds": 300]

    /// Takes a place in the queue, without reading the answer.
    func park(_ body: JSONValue = [:], wait: Double = 60) throws {
        try send("POST", "/transitions/serialize", body: Self.long.adding(body).adding(["wait": .number(wait)]).text)
    }

    func end(_ transition: WireResponse, _ more: JSONValue = [:]) throws -> WireResponse {
        try post("/transitions/end", transition.credentials.adding(more))
    }

    /// Another client's wait for the end of a transition.
    func awaitEnd(of id: JSONValue, wait: Int = 45) throws -> WireResponse {
        try get("/transitions/await?id=\(id.string ?? "")&until=ended&wait=\(wait)")
    }

    func record(of id: JSONValue) throws -> WireResponse {
        try get("/transitions/\(id.string ?? "")")
    }

    /// The transitions of a scene, in request order.
    func transitions(in scene: String = "main", _ filter: String = "") throws -> [JSONValue] {
        var found: [JSONValue] = []
        var target: String? = "/transitions?scene=\(scene)&limit=1000\(filter)"
        while let page = target {
            let answer = try get(page)
            // Every page leads to an older one.
            found = answer["transitions"].elements + found
            let link = answer.header("Link").flatMap { $0.contains("rel=\"next\"") ? $0 : nil }
            target = link.map { String($0.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }) }
        }
        return found
    }

    /// How many tickets a scene has, from the list of scenes, which is short.
    func queuedCount(in scene: String = "main") throws -> Int? {
        try get("/scenes")["scenes"].elements.first { $0["name"].string == scene }?["queuedCount"].integer
    }

    /// Waits until a scene has this many tickets.
    func isQueueLong(_ count: Int, in scene: String = "main") throws -> Bool {
        try eventually { try queuedCount(in: scene) == count }
    }

    /// Waits until so many requests wait in the daemon for their answer.
    ///
    /// The daemon reads different connections in any order: a request that waits says nothing about one that was sent before it
    /// on another connection.
    func areParked(_ count: Int) throws -> Bool {
        try eventually { try get("/metrics").text.contains("\narbiter_parked_connections \(count)\n") }
    }
}

extension WireResponse {
    /// The id and token with which its owner acts on a transition.
    var credentials: JSONValue { ["id": self["id"], "token": self["token"]] }
}

extension JSONValue {
    /// How a transition ended, as `outcome/reason`.
    var ending: String {
        [self["outcome"], self["reason"]].compactMap(\.string).joined(separator: "/")
    }
}
