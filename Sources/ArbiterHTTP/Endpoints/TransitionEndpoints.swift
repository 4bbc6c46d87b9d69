internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/transitions`: the lock itself.
struct TransitionEndpoints: Sendable {
    let shards: Shards

    func start(_ call: Call) throws(Problem) {
        let asked = try AskedTransition(call, maySetWait: false)
        let engine = try call.engine(of: asked.request.scene, in: shards, hosting: asked.request.session)
        if asked.isDryRun { return dryRun(asked, isSerialized: false, call, engine) }
        engine.start(asked.request, by: call.takeAsker()) {
            call.respond($0, showingToken: true) { $0.statusWhenAsked }
        }
    }

    func serialize(_ call: Call) throws(Problem) {
        let asked = try AskedTransition(call, maySetWait: true)
        let wait = asked.isDryRun ? .zero : call.bounded(asked.wait.resolved(default: .zero))
        let engine = try call.engine(
            of: asked.request.scene, in: shards, hosting: asked.request.session, waiting: wait)
        if asked.isDryRun { return dryRun(asked, isSerialized: true, call, engine) }
        try call.reservePlace(for: wait)
        let waiter = engine.serialize(asked.request, wait: wait, by: call.takeAsker()) {
            // A ticket that waits was made, also if its shard is lost meanwhile.
            call.respond(
                $0, showingToken: true, headers: asked.wait.appliedPreference, hasBegun: wait > .zero
            ) { $0.statusWhenAsked }
        }
        call.leave(waiter, of: engine)
    }

    /// Answers what would come of the request; without waiting, so no place is needed.
    private func dryRun(_ asked: AskedTransition, isSerialized: Bool, _ call: Call, _ engine: Engine) {
        engine.dryRun(asked.request, isSerialized: isSerialized, by: call.takeAsker()) { result in
            switch result {
            case .success(let dryRun): call.respond(200, dryRun.document)
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func ownersAwait(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var until: Milestone?
        var claims = false
        var wait = Wait()
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "until": until = try Milestone(try value.string(field), field: field)
            case "claim": claims = try value.boolean(field)
            case "wait": wait.body = try value.seconds(field, in: Limits.waitDurations)
            default: try transition.read(field, &value)
            }
        }
        try wait.readQueryAndHeader(of: call)
        try park(
            call, on: try transition.requiredID(), token: try transition.requiredToken(), until: until, claims: claims,
            wait: wait)
    }

    func anybodysAwait(_ call: Call) throws(Problem) {
        let id = try call.query.value(of: .id, TransitionID.init(_:field:))
        let until = try call.query.value(of: .until, Milestone.init(_:field:))
        var wait = Wait()
        try wait.readQueryAndHeader(of: call)
        guard let id else { throw Problem.missing("id") }
        try park(call, on: id, token: nil, until: until, wait: wait)
    }

    private func park(
        _ call: Call, on id: TransitionID, token: Token?, until: Milestone?, claims: Bool = false, wait: Wait
    ) throws(Problem) {
        let duration = call.bounded(wait.resolved(default: Limits.defaultAwait))
        let session = try call.session()
        let engine = try call.engine(of: id, in: shards, hosting: session, waiting: duration)
        try call.reservePlace(for: duration)
        let waiter = engine.wait(
            on: id, token: token, until: until ?? .granted, claims: claims, session: session, wait: duration,
            by: call.takeAsker()
        ) {
            call.respond($0, headers: wait.appliedPreference)
        }
        call.leave(waiter, of: engine)
    }

    func end(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var outcome: EndOutcome?
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "outcome": outcome = try EndOutcome(try value.string(field), field: field)
            default: try transition.read(field, &value)
            }
        }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        try shards.engine(of: id).end(id, token: token, as: outcome, by: call.takeAsker()) { call.respond($0) }
    }

    func perform(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var operation = AskedOperation()
        var expectations: [Expectation] = []
        var ignoresGuards = false
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "operation", "operations": try operation.read(field, from: &value)
            case "expect": expectations = try value.expectations(field)
            case "ignoreGuards": ignoresGuards = try value.boolean(field)
            default: try transition.read(field, &value)
            }
        }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        guard let operation = operation.value else { throw Problem.missing("operation") }
        if ignoresGuards { try call.permission.checkMayIgnoreGuards() }
        try shards.engine(of: id).perform(
            id, token: token, operation, expecting: expectations, ignoresGuards: ignoresGuards, by: call.takeAsker()
        ) { result in
            switch result {
            case .success(let answer):
                call.respond(200, answer.view) { writer in
                    guard let plan = answer.plan else { return writer.member("noop", true) }
                    writer.member("inserted", plan.inserted)
                    writer.member("removed", plan.removed)
                }
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
    }

    func revoke(_ call: Call) throws(Problem) {
        let owner = try call.permission.checkMayRevoke()
        var id: TransitionID?
        var (scene, client): (SceneName?, ClientName?)
        var reason: GivenReason?
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "id": id = try TransitionID(try value.string(field), field: field)
            case "scene": scene = try SceneName(try value.string(field), field: field)
            case "client": client = try ClientName(try value.string(field), field: field)
            case "reason": reason = try GivenReason(try value.string(field), field: field)
            default: throw Problem.unknown(field)
            }
        }
        guard id != nil || scene != nil else { throw Problem.missing(client == nil ? "id" : "scene") }
        guard let reason else { throw Problem.missing("reason") }
        if let id {
            if let other = scene.map({ _ in "scene" }) ?? client.map({ _ in "client" }) {
                throw .invalid(other, "cannot be given together with \"id\"")
            }
            return try shards.engine(of: id).revoke(id, ownedBy: owner, because: reason, by: call.takeAsker()) {
                call.respond($0)
            }
        }
        guard let scene else { throw Problem.missing("id") }
        try call.permission.check(scene)
        try shards.engine(of: scene).revokeAll(
            in: scene, of: client, ownedBy: owner, because: reason, by: call.takeAsker()
        ) { result in
            call.respond(result) { ids in .json(200) { $0.member("revoked", ids) } }
        }
    }

    func update(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        var update: AnimationUpdate?
        try call.readBody { field, value throws(Problem) in
            switch field {
            case "animation": update = try value.animationUpdate(field)
            default: try transition.read(field, &value)
            }
        }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        guard let update else { throw Problem.missing("animation") }
        try shards.engine(of: id).update(id, token: token, update, by: call.takeAsker()) { call.respond($0) }
    }

    func renew(_ call: Call) throws(Problem) {
        var transition = ActedTransition()
        try call.readBody { field, value throws(Problem) in try transition.read(field, &value) }
        let (id, token) = (try transition.requiredID(), try transition.requiredToken())
        try shards.engine(of: id).renew(id, token: token, by: call.takeAsker()) { call.respond($0) }
    }
}

// MARK: - Reading

extension TransitionEndpoints {
    func list(_ call: Call) throws(Problem) {
        var filter = TransitionFilter()
        filter.scene = try call.query.value(of: .scene, SceneName.init(_:field:))
        if let scene = filter.scene { try call.permission.check(scene) }
        filter.scenes = call.caller.scenes
        filter.state = try call.query.value(of: .state, TransitionState.init(_:field:))
        filter.client = try call.query.value(of: .client, ClientName.init(_:field:))
        filter.limit = try call.query.value(of: .limit, Int.init(limit:field:)) ?? filter.limit
        _ = try call.query.value(of: .partial, Bool.init(_:field:))
        let one = if let scene = filter.scene { try shards.engine(of: scene) } else { try shards.engineOfAll() }
        guard let engine = one else { return try gather(filter, call) }
        filter.before = try call.query.value(of: .after, RequestOrder.init(after:field:))
        engine.read { [filter] machine, now in
            var filter = filter
            // One more tells whether there is another page.
            filter.limit += 1
            return machine.list(filter, at: now)
        } completion: { [filter] result in
            call.respond(result) { views in
                let page = TransitionPage(newestOf: views, limit: filter.limit)
                var response = page.response
                if let last = page.last {
                    response.headers.append(.link(toPageAfter: String(last.rawValue), of: filter))
                }
                return response
            }
        }
    }

    /// Lists the transitions of all shards.
    private func gather(_ filter: TransitionFilter, _ call: Call) throws(Problem) {
        let time = try call.query.value(of: .after, RequestTime.init(after:field:))
        try call.respond(over: shards, as: "transitions", limit: filter.limit, from: .last) { key in
            .link(toPageAfter: key, of: filter)
        } asking: { engine, completion in
            engine.read { machine, now in
                var filter = filter
                // One more tells whether there is another page.
                filter.limit += 1
                return machine.list(filter, requestedBefore: time, at: now)
            } completion: { result in
                completion(
                    result.map { views in
                        let entries = views.map { view in
                            ListPart.Entry(
                                key: view.transition.requestTime.key,
                                json: JSONWriter.object { $0.summaryMembers(of: view) })
                        }
                        return ListPart(entries, limit: filter.limit, from: .last)
                    })
            }
        }
    }

    func show(_ call: Call) throws(Problem) {
        // What is no id at all names a transition that there cannot be: 404, as for any other path.
        let text = call.parameters["id"] ?? ""
        guard let id = TransitionID(text) else {
            throw Problem(.unknownTransition, "No transition \(quoted(text)) is known: ids look like t-7f3k9v0m2c5xq.")
        }
        try shards.engine(of: id).read { machine, now throws(ArbiterError) in
            try machine.check(call.caller, maySee: id)
            return try machine.view(of: id, at: now)
        } completion: {
            call.respond($0)
        }
    }
}

extension HeaderField {
    /// The page of older transitions.
    fileprivate static func link(toPageAfter last: String, of filter: TransitionFilter) -> Self {
        .link(
            "next", to: "/transitions",
            [
                "scene": filter.scene?.description, "state": filter.state?.rawValue,
                "client": filter.client?.description, "limit": String(filter.limit), "after": last,
            ])
    }
}

extension TransitionView {
    /// The status of the answer to a start or serialize.
    fileprivate var statusWhenAsked: Int {
        switch transition.phase {
        case .queued: 202
        case .preparing, .running: 201
        case .ended: 200
        }
    }
}
