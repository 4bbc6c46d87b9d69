internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterRelay

/// `/scenes/{scene}/trace` and `/trace`: what has happened, as a recording.
struct TraceEndpoints: Sendable {
    /// The most scenes whose state is in a recording of all scenes.
    private static let scenes = 100

    let shards: Shards
    let hub: EventHub
    let version: String

    func ofScene(_ call: Call) throws(Problem) {
        let name = try SceneName(namedBy: call)
        let engine = try shards.engine(of: name)
        try reserve(call)
        engine.read { machine, now throws(ArbiterError) in
            (scenes: [try machine.scene(name, at: now)], limits: machine.limits)
        } completion: { result in
            record(result, of: .scene(name), call, engine)
        }
    }

    func ofAll(_ call: Call) throws(Problem) {
        guard let engine = try shards.engineOfAll() else {
            throw Problem(
                .notFound, "A cluster of several shards has no recording of all scenes; ask for /scenes/{scene}/trace.")
        }
        try reserve(call)
        engine.read { machine, _ in
            (names: machine.scenes(call.caller.scenes, limit: Self.scenes).map(\.name), limits: machine.limits)
        } completion: { result in
            answer(call, result) { record(call, $0.names[...], [], $0.limits, engine) }
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
}

extension EventHistory {
    /// How many events before the first one are no longer stored.
    fileprivate func dropped(of scenes: [SceneView], in topic: EventTopic) -> UInt64 {
        if let floor { return floor.rawValue }
        guard case .scene = topic else { return 0 }
        return scenes.first?.summary.lastEvent.rawValue ?? 0
    }
}
