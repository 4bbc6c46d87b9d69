internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay
internal import ArbiterTransfers

/// One page of a list out of the parts of several shards, as they come.
final class GatheredList: Sendable {
    /// Asks an engine for its part.
    typealias Question =
        @Sendable (Engine, _ completion: @escaping @Sendable (Result<ListPart, EngineError>) -> Void) ->
        Void

    /// What is wanted.
    struct Wanted: Sendable {
        /// What another node is asked for, with the query.
        let path: String
        let limit: Int
        let end: ListPart.End
        /// Whether shards that cannot be reached may be missing.
        let mayBePartial: Bool
    }

    private struct State {
        var parts: [ListPart] = []
        var missing: [Int] = []
        var awaited: Int
        var failure: Problem?
    }

    private let wanted: Wanted
    private let state: Guarded<State>
    private let completion: @Sendable (Result<(page: ListPart, missing: [Int]), Problem>) -> Void

    private init(
        _ wanted: Wanted, of count: Int,
        completion: @escaping @Sendable (Result<(page: ListPart, missing: [Int]), Problem>) -> Void
    ) {
        (self.wanted, self.completion) = (wanted, completion)
        state = Guarded(State(awaited: count))
    }

    /// Asks every shard, here and at other nodes.
    ///
    /// - Parameters:
    ///   - wanted: what is wanted.
    ///   - groups: the shards, by where they run.
    ///   - call: for whom.
    ///   - question: asks an engine here.
    ///   - completion: called once with the page, and with the shards that are missing in it.
    static func gather(
        _ wanted: Wanted, from groups: [Shards.Group], for call: Call, asking question: Question,
        completion: @escaping @Sendable (Result<(page: ListPart, missing: [Int]), Problem>) -> Void
    ) {
        let list = GatheredList(
            wanted, of: groups.map { $0.engines.isEmpty ? 1 : $0.engines.count }.reduce(0, +), completion: completion)
        for group in groups {
            for (shard, engine) in zip(group.shards, group.engines) {
                question(engine) { list.take($0.mapError { Problem($0) }, of: [shard]) }
            }
            guard group.engines.isEmpty else { continue }
            guard let owner = group.owner, let request = call.part(of: group.shards, from: owner, wanted.path),
                let forwarder = call.forwarder
            else {
                list.take(.failure(Problem(lost: group.shards)), of: group.shards)
                continue
            }
            forwarder.fetch(request) { result in
                list.take(Self.part(result, of: group.shards, from: owner), of: group.shards)
            }
        }
    }

    private static func part(
        _ result: Result<TransferAnswer, TransferFailure>, of shards: [Int], from owner: String
    ) -> Result<ListPart, Problem> {
        let reason: String
        switch result {
        case .success(let answer):
            if answer.head.status == 200, let part = ListPart(answer.body) { return .success(part) }
            reason = "it answered \(answer.head.status)"
        case .failure(let failure): reason = failure.reason
        }
        return .failure(
            Problem(
                .notOwner, "The node at \(owner) did not give its part of the list (\(reason)); ask again.",
                retryAfter: Problem.retrySoon))
    }

    private func take(_ result: Result<ListPart, Problem>, of shards: [Int]) {
        let whole = state.withLock { state -> State? in
            state.awaited -= 1
            switch result {
            case .success(let part): state.parts.append(part)
            case .failure(let problem):
                state.missing += shards
                if state.failure == nil { state.failure = problem }
            }
            return state.awaited == 0 ? state : nil
        }
        guard let whole else { return }
        if let failure = whole.failure, !wanted.mayBePartial || whole.parts.isEmpty {
            return completion(.failure(failure))
        }
        completion(
            .success(
                (ListPart(whole.parts, limit: wanted.limit, from: wanted.end), whole.missing.sorted())))
    }
}

extension Call {
    /// Answers with one page of a list over all shards, or with the part of it that another node wants.
    ///
    /// - Parameters:
    ///   - shards: where the shards are.
    ///   - name: the name of the list in the answer.
    ///   - limit: the most entries of the page.
    ///   - end: which end of the list it shows.
    ///   - link: the link to the next page, after the key of this page's last entry in that direction.
    ///   - question: asks an engine for its part.
    /// - Throws: `not-owner` if no node serves one of the shards; `too-many-connections`.
    func respond(
        over shards: Shards, as name: StaticString, limit: Int, from end: ListPart.End,
        link: @escaping @Sendable (_ key: String) -> HeaderField, asking question: GatheredList.Question
    ) throws(Problem) {
        let own = try part(of: shards)
        let mayBePartial = try query.value(of: .partial, Bool.init(_:field:)) ?? false
        let groups = own.map { [$0] } ?? shards.groups
        if groups.contains(where: { $0.engines.isEmpty }), !exchange.reservePlace() {
            throw Problem(
                .tooManyConnections, "No more requests can be passed on to other nodes here; try again.",
                retryAfter: Problem.retrySoon)
        }
        let wanted = GatheredList.Wanted(
            path: request.target(without: .partial), limit: limit, end: end, mayBePartial: mayBePartial && own == nil)
        GatheredList.gather(wanted, from: groups, for: self, asking: question) { [self] result in
            switch result {
            case .failure(let problem): respond(problem.response)
            case .success((let page, _)) where own != nil: respond(Response(200, .text, body: page.bytes))
            case .success((let page, let missing)):
                var response = Response.json(200) { writer in
                    writer.array(name, page.entries) { writer, entry in writer.bytes += entry.json }
                    if mayBePartial { writer.array("missingShards", missing) { $0.bytes += "\($1)".utf8 } }
                }
                if page.hasMore, let last = end == .first ? page.entries.last : page.entries.first {
                    response.headers.append(link(last.key))
                }
                respond(response)
            }
        }
    }
}

extension Request {
    /// The path with the query as it came, but without one parameter.
    fileprivate func target(without parameter: QueryParameter) -> String {
        let query = query.filter { $0.name != parameter.rawValue }.map { item in
            item.value.isEmpty ? "\(item.name)" : "\(item.name)=\(item.value)"
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}
