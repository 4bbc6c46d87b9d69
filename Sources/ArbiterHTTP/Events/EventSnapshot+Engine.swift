internal import ArbiterCore
internal import ArbiterEngine

extension Engine {
    /// Asks how everything in a topic is; told `nil` if the journal is unavailable, and so the stream is over.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - scenes: the scenes that the reader may see.
    ///   - completion: called with the state.
    func snapshot(
        of topic: EventTopic, scenes: SceneSelection = .all, completion: @escaping @Sendable (EventSnapshot?) -> Void
    ) {
        switch topic {
        case .scene(let scene):
            read { machine, now in
                (machine.followedScene(scene, at: now), machine.limits)
            } completion: { result in
                completion((try? result.get()).map { view, limits in EventSnapshot(of: view, limits) })
            }
        case .shard(let shard):
            read { machine, _ in
                (machine.scenes(scenes), machine.lastEvent)
            } completion: { result in
                completion(
                    (try? result.get()).map { scenes, number in EventSnapshot(of: scenes, in: shard, at: number) })
            }
        }
    }
}

extension EventSnapshot {
    /// A scene whole.
    fileprivate init(of view: SceneView, _ limits: Limits) {
        self.init(
            number: view.summary.lastEvent, byteCount: view.byteCount,
            object: [
                .brief { writer in
                    writer.beginObject()
                    writer.resetMembers(of: view.summary)
                }
            ] + view.parts(limits) + [.brief { $0.endObject() }])
    }

    /// Every scene by its counts.
    fileprivate init(of scenes: [SceneSummary], in shard: Shard, at number: EventNumber) {
        self.init(of: shard, number: number, scenes: scenes) { writer, scene in
            writer.object { writer in
                writer.resetMembers(of: scene)
                writer.stateMembers(of: scene)
            }
        }
    }
}

extension JSONWriter {
    /// What every event of a scene says, for one that has no members of its own for it.
    fileprivate mutating func resetMembers(of scene: SceneSummary) {
        member("scene", scene.name.description)
        member("number", scene.lastEvent.rawValue)
    }
}
