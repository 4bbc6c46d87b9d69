internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/trace` and `/trace`: what has happened, as a recording.
struct TraceEndpoints: Sendable {
    /// The most transitions of a recording for Perfetto; the daemon remembers about as many.
    private static let transitions = 10_000
    /// How many of them are read from the engine at once.
    private static let page = 1000
    /// The most scenes whose state is in a recording of all scenes.
    private static let scenes = 100

    let shards: Shards
    let hub: EventHub
    let places: ServerPlaces
    let version: String

    /// What a recording is for.
    private enum Form: String, CaseIterable {
        /// The events as they were sent, one a line, to be loaded into the page.
        case jsonl
        /// For Perfetto and chrome://tracing.
        case chrome
    }

    func ofScene(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let engine = try shards.engine(of: name)
        let form = try form(call)
        try reserve(call)
        switch form {
        case .jsonl:
            engine.read { machine, now throws(ArbiterError) in
                (scenes: [try machine.scene(name, at: now)], limits: machine.limits)
            } completion: { result in
                record(result, of: .scene(name), call, engine)
            }
        case .chrome:
            try reserve(call)
            engine.read { machine, _ throws(ArbiterError) in
                guard machine.hierarchy(of: name) != nil else { throw .unknownScene(name) }
            } completion: { result in
                answer(call, result) { _ in writeChrome(call, TransitionFilter(scene: name), [], engine) }
            }
        }
    }

    func ofAll(_ call: Call) throws(Problem) {
        guard let engine = try shards.engineOfAll() else {
            throw Problem(
                .notFound, "A cluster of several shards has no recording of all scenes; ask for /scenes/{scene}/trace.")
        }
        let form = try form(call)
        try reserve(call)
        switch form {
        case .jsonl:
            engine.read { machine, _ in
                (names: machine.scenes(call.caller.scenes, limit: Self.scenes).map(\.name), limits: machine.limits)
            } completion: { result in
                answer(call, result) { record(call, $0.names[...], [], $0.limits, engine) }
            }
        case .chrome: call.asLongWork { writeChrome(call, TransitionFilter(), [], engine) }
        }
    }

    /// Goes on as long work, or says what went wrong.
    private func answer<Value: Sendable>(
        _ call: Call, _ result: Result<Value, EngineError>, goingOn work: @escaping @Sendable (Value) -> Void
    ) {
        switch result {
        case .success(let value): call.asLongWork { work(value) }
        case .failure(let error): call.respond(Problem(error).response)
        }
    }

    /// Takes room before anything is read, because a recording is large while it is gathered.
    private func reserve(_ call: Call) throws(Problem) {
        let room = AnswerRoom(byteCount: ServerLimits.bytesOfOneAnswer, isLong: true, isQuestion: true)
        guard call.request.method == "HEAD" || call.exchange.reserve(room) else { throw .tooManyLongAnswers }
    }

    private func form(_ call: Call) throws(Problem) -> Form {
        try call.query.value(of: .format) { text, field throws(Problem) in
            guard let form = Form(rawValue: text) else {
                throw Problem(.invalidField, "The parameter \"format\" must be jsonl or chrome.", field: field)
            }
            return form
        } ?? .jsonl
    }

    /// Reads one scene after the other, so that none of the engine's turns is long, and answers.
    ///
    /// - Parameters:
    ///   - call: what is answered.
    ///   - names: the scenes that are still to be read.
    ///   - scenes: those that have been read.
    ///   - limits: what they say of the limits.
    ///   - engine: where they are.
    private func record(
        _ call: Call, _ names: ArraySlice<SceneName>, _ scenes: [SceneView], _ limits: Limits, _ engine: Engine
    ) {
        guard let name = names.first else {
            return record(.success((scenes: scenes, limits: limits)), of: .allScenes, call, engine)
        }
        engine.read { machine, now in
            // One that has been deleted meanwhile is not shown.
            try? machine.scene(name, at: now)
        } completion: { result in
            answer(call, result) { scene in
                record(call, names.dropFirst(), scene.map { scenes + [$0] } ?? scenes, limits, engine)
            }
        }
    }

    private func record(
        _ result: Result<(scenes: [SceneView], limits: Limits), EngineError>, of topic: EventTopic, _ call: Call,
        _ engine: Engine
    ) {
        switch result {
        case .failure(let error): call.respond(Problem(error).response)
        case .success(let state):
            hub.readHistory(of: topic, in: call.caller.scenes) { history in
                let document = document(
                    state.scenes, state.limits, topic, history, at: engine.now().timestamp)
                call.respond(200, document, as: .jsonLines)
            }
        }
    }

    private func document(
        _ scenes: [SceneView], _ limits: Limits, _ topic: EventTopic, _ history: EventHistory,
        at timestamp: Timestamp
    ) -> JSONDocument {
        var parts: [JSONDocument.Part] = [
            .brief { writer in
                writer.beginObject()
                writer.member("trace", "transition-arbiter")
                writer.member("form", 1)
                writer.member("version", version)
                if case .scene(let name) = topic { writer.member("scene", name.description) }
                writer.member("at", timestamp)
                writer.member("dropped", history.dropped(of: scenes, in: topic))
                writer.begin("scenes")
                writer.beginArray()
            }
        ]
        for scene in scenes {
            parts.append(
                .brief { writer in
                    writer.beginElement()
                    writer.beginObject()
                })
            parts += scene.parts(limits)
            parts.append(.brief { $0.endObject() })
        }
        parts.append(
            .brief { writer in
                writer.endArray()
                writer.endObject()
                writer.endLine()
            })
        parts.append(.each(history.events.indices) { writer, index in writer.line(ofEvent: history.events[index]) })
        return JSONDocument(parts, keeping: ServerLimits.bytesOfOneAnswer)
    }

    /// Reads the transitions page by page, as long work, so that none of the engine's turns is long, and answers.
    ///
    /// - Parameters:
    ///   - call: what is answered.
    ///   - filter: which transitions; those before the ones that have been read.
    ///   - newer: those that have been read, oldest first.
    ///   - engine: where they are.
    private func writeChrome(_ call: Call, _ filter: TransitionFilter, _ newer: [TransitionView], _ engine: Engine) {
        var page = filter
        page.scenes = call.caller.scenes
        page.limit = Self.page
        engine.read { [page] machine, now in
            machine.list(page, at: now)
        } completion: { result in
            answer(call, result) { page in
                let views = page + newer
                let isLarge = views.reduce(0) { $0 + $1.byteCount } > ServerLimits.bytesOfOneAnswer
                guard page.count == Self.page, let first = page.first, views.count < Self.transitions, !isLarge else {
                    let isWhole = page.count < Self.page
                    let document = ChromeTrace(views, now: engine.now().timestamp).document(
                        dropped: !isWhole, parked: filter.scene == nil ? places.parked.count : nil)
                    return call.respond(200, document)
                }
                var next = filter
                next.before = first.transition.order
                writeChrome(call, next, views, engine)
            }
        }
    }
}

extension EventHistory {
    /// How many events before the first one are no longer stored.
    fileprivate func dropped(of scenes: [SceneView], in topic: EventTopic) -> UInt64 {
        if let floor { return floor.rawValue }
        guard case .scene = topic else { return 0 }
        return scenes.first?.summary.lastEvent.rawValue ?? 0
    }
}
