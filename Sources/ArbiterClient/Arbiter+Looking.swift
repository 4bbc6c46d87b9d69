internal import Foundation

/// What there is, and what an administrator does.
extension Arbiter {
    /// A transition by its id, also one of others, and one that has ended a while ago.
    ///
    /// - Throws: `ClientError`, for example `refused` with `unknown-transition`; `CancellationError`.
    public func read(_ id: String) async throws -> JSONValue {
        try await ask(WireRequest("GET", "/transitions/\(id.inPath)")).accepted()
    }

    /// The newest transitions, oldest first.
    ///
    /// - Parameters:
    ///   - scene: only those of this scene.
    ///   - state: only those in this state: `queued`, `preparing`, `running` or `ended`.
    ///   - client: only those of this client.
    ///   - limit: how many at most.
    /// - Returns: the transitions, each as a summary.
    /// - Throws: `ClientError`; `CancellationError`.
    public func transitions(
        scene: String? = nil, state: String? = nil, client: String? = nil, limit: Int = 100
    ) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        let query = [("scene", scene), ("state", state), ("client", client)]
        // Each page is older than the one before.
        try await pages("/transitions", query, limit) { page in
            found = (page["transitions"]?.array ?? []) + found
            return found.count < limit
        }
        return found.suffix(limit)
    }

    /// All scenes, by their names: how many transitions run and wait in each.
    ///
    /// - Throws: `ClientError`; `CancellationError`.
    public func scenes() async throws -> [JSONValue] {
        var found: [JSONValue] = []
        try await pages("/scenes", [], WireLimits.longestPage) { page in
            found += page["scenes"]?.array ?? []
            return true
        }
        return found
    }

    /// Takes a transition from its owner, or a ticket out of the queue, as an administrator.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - reason: what its owner is told.
    /// - Returns: the transition.
    /// - Throws: `ClientError`, for example `refused` with `already-ended`; `CancellationError`.
    @discardableResult
    public func revoke(_ id: String, reason: String) async throws -> JSONValue {
        let body: JSONValue = ["id": .string(id), "reason": .string(reason)]
        return try await ask(WireRequest("POST", "/transitions/revoke", body)).accepted()
    }

    /// Asks for one page after the other, as long as more is wanted.
    private func pages(
        _ path: String, _ query: [(String, String?)], _ limit: Int, _ takesMore: (JSONValue) -> Bool
    ) async throws {
        let given = query.compactMap { name, value in value.map { "&\(name)=\($0.inPath)" } }.joined()
        var next: String? = "\(path)?limit=\(min(limit, WireLimits.longestPage))\(given)"
        while let page = next {
            let answer = try await ask(WireRequest("GET", page))
            guard takesMore(try answer.accepted()) else { return }
            next = answer.next
        }
    }
}

extension ArbiterScene {
    /// What a dry run asks about.
    public enum Call: String, Hashable, Sendable {
        case start
        case serialize
    }

    /// What would come of a call now; nothing changes.
    ///
    /// - Returns: for example `wouldRun`, `blockers`, and what would come and go.
    /// - Throws: `ClientError.refused` for what would be refused; `unreachable`; `CancellationError`.
    public func dryRun(_ call: Call, _ options: TransitionOptions = TransitionOptions()) async throws -> JSONValue {
        try options.check()
        var members = options.members.merging(["scene": .string(name)]) { $1 }
        if call == .start { for name in TransitionOptions.turnMembers { members[name] = nil } }
        let body = JSONValue.object(members)
        return try await arbiter.ask(WireRequest("POST", "/transitions/\(call)?dryRun=true", body)).accepted()
    }

    /// Adds, replaces and removes segues, transition types and defaults, also while transitions run; `null` removes an entry.
    ///
    /// - Returns: the name of the scene, and its revision.
    /// - Throws: `ClientError`, for example `refused` with `in-use`; `CancellationError`.
    @discardableResult
    public func patchStoryboard(_ changes: JSONValue) async throws -> JSONValue {
        try await arbiter.ask(WireRequest("PATCH", path("/storyboard"), changes)).accepted()
    }

    /// One controller, with its path, its conditions, and the transitions that lock it.
    ///
    /// - Throws: `ClientError`, for example `refused` with `unknown-controller`; `CancellationError`.
    public func controller(_ id: String) async throws -> JSONValue {
        try await arbiter.ask(WireRequest("GET", path("/controllers/\(id.inPath)"))).accepted()
    }

    /// Waits until nothing here is unfinished, and has not been for a while.
    ///
    /// - Parameters:
    ///   - controller: the controller below which nothing is to be unfinished; the whole scene unless given.
    ///   - quiet: for how long nothing must have been unfinished, not negative.
    ///   - timeout: how long that may take, not negative; for ever unless set.
    /// - Returns: how the scene is, or what is below the controller.
    /// - Throws: `ClientError.timedOut`; `refused`, `unreachable`; `CancellationError`.
    @discardableResult
    public func untilIdle(
        below controller: String? = nil, quiet: Duration = .zero, timeout: Duration? = nil
    ) async throws -> JSONValue {
        if quiet < .zero { throw ClientError.misuse("quietSeconds", "The time must not be negative.") }
        let part = controller.map { "&controller=\($0.inPath)" } ?? ""
        let query = String(format: "until=idle&quietSeconds=%.3f", quiet.inSeconds) + part
        // Of a part, the time of quiet begins with each request.
        let longest = controller == nil ? WireTimes.longestWait : min(quiet + WireTimes.longestWait, WireTimes.mostWait)
        return try await wait(path("/await?\(query)"), timeout: timeout, atMost: longest) { $0["idle"] == true }
    }

    /// Waits until a controller is so; neither that nor the scene need exist.
    ///
    /// It is no lock.
    ///
    /// - Parameters:
    ///   - id: the controller.
    ///   - condition: `exists`, `absent`, `visible`, `presented`, `presenting`, `top` or `selected`.
    ///   - timeout: how long that may take, not negative; for ever unless set.
    /// - Returns: `holds`, and the `controller`, if it exists.
    /// - Throws: `ClientError.timedOut`; `refused`, `unreachable`; `CancellationError`.
    @discardableResult
    public func untilController(
        _ id: String, is condition: String, timeout: Duration? = nil
    ) async throws -> JSONValue {
        try await untilController(id, "is=\(condition.inPath)", timeout)
    }

    /// Waits until a controller is not so any more; see ``untilController(_:is:timeout:)``.
    @discardableResult
    public func untilController(
        _ id: String, isNot condition: String, timeout: Duration? = nil
    ) async throws -> JSONValue {
        try await untilController(id, "not=\(condition.inPath)", timeout)
    }

    private func untilController(_ id: String, _ query: String, _ timeout: Duration?) async throws -> JSONValue {
        try await wait(path("/controllers/\(id.inPath)/await?\(query)"), timeout: timeout) { $0["holds"] == true }
    }

    /// Asks again and again, until an answer is the wanted one.
    private func wait(
        _ target: String, timeout: Duration?, atMost longest: Duration = WireTimes.longestWait,
        _ isReached: (JSONValue) -> Bool
    ) async throws -> JSONValue {
        if let timeout, timeout < .zero { throw ClientError.misuse("timeout", "The timeout must not be negative.") }
        let deadline = timeout.map { ContinuousClock.now + $0 }
        while true {
            let left = deadline.map { $0 - .now } ?? longest
            let wait = max(.zero, min(left, longest))
            let asked = target + String(format: "&wait=%.3f", wait.inSeconds)
            let found = try await arbiter.ask(WireRequest("GET", asked, wait: wait)).accepted()
            if isReached(found) { return found }
            if let deadline, deadline <= .now { throw ClientError.timedOut }
        }
    }
}

extension String {
    /// The text as a part of a path or a query.
    package var inPath: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? self
    }
}
