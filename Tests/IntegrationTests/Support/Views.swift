internal import ArbiterCore
internal import ArbiterTestKit
internal import Testing

// What a view says, in a word.

extension ViewProcess {
    func post(_ path: String, _ body: JSONValue = [:]) throws -> ViewAnswer {
        try request("POST", path, body)
    }

    func start(_ body: JSONValue = [:]) throws -> ViewAnswer {
        try post("/transitions/start", body)
    }

    func serialize(_ body: JSONValue = [:]) throws -> ViewAnswer {
        try post("/transitions/serialize", body)
    }

    /// Takes a place in the queue, and leaves the answer for later.
    func park(_ body: JSONValue = [:], wait: Double = 60) {
        ask("POST", "/transitions/serialize", body.adding(["wait": .number(wait)]))
    }

    func progress(_ transition: ViewAnswer, _ fraction: Double, _ more: JSONValue = [:]) throws -> ViewAnswer {
        let body = transition.credentials.adding(["fraction": .number(fraction)]).adding(more)
        return try post("/transitions/progress", body)
    }

    func release(_ transition: ViewAnswer, _ more: JSONValue = [:]) throws -> ViewAnswer {
        try post("/transitions/release", transition.credentials.adding(more))
    }

    func end(_ transition: ViewAnswer, _ more: JSONValue = [:]) throws -> ViewAnswer {
        try post("/transitions/end", transition.credentials.adding(more))
    }

    /// Starts a transition and ends it.
    func carryOut(_ body: JSONValue) throws -> ViewAnswer {
        try end(try start(body))
    }
}

extension ViewAnswer {
    /// What its owner acts on a transition with.
    var credentials: JSONValue { ["id": self["id"], "token": self["token"]] }
}

extension WireClient {
    func declare(_ storyboard: JSONValue, in scene: String) throws -> WireResponse {
        try put("/scenes/\(scene)/storyboard", storyboard)
    }

    /// The topmost controller of a scene, with all that is in it.
    func tree(of scene: String) throws -> JSONValue {
        try get("/scenes/\(scene)")["hierarchy"]
    }
}

extension DaemonProcess {
    /// A new stream of a scene's events, whatever its answer.
    func follow(_ scene: String, headers: [String] = []) throws -> WireEventStream {
        try WireEventStream(port: port, scene: try #require(SceneName(scene)), headers: headers)
    }
}

extension JSONValue {
    /// The names of a controller's children.
    var childNames: [String] { self["children"].elements.compactMap { $0["id"].string } }
}
