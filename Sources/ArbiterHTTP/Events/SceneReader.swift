package import ArbiterCore
package import ArbiterEngine

/// What the streams need to know about scenes.
package struct SceneReader: Sendable {
    /// Asks whether the scene can be followed; the answer is the reason why not, or `nil`.
    package let find: @Sendable (SceneName, @escaping @Sendable (EngineError?) -> Void) -> Void
    /// Asks for the state of a scene; the answer is `nil` if there is none.
    package let read: @Sendable (SceneName, @escaping @Sendable (EventSnapshot?) -> Void) -> Void
    /// Asks for all scenes with their counts.
    package let readAll: @Sendable (@escaping @Sendable (EventSnapshot?) -> Void) -> Void

    package init(
        find: @escaping @Sendable (SceneName, @escaping @Sendable (EngineError?) -> Void) -> Void,
        read: @escaping @Sendable (SceneName, @escaping @Sendable (EventSnapshot?) -> Void) -> Void,
        readAll: @escaping @Sendable (@escaping @Sendable (EventSnapshot?) -> Void) -> Void = { $0(nil) }
    ) {
        self.find = find
        self.read = read
        self.readAll = readAll
    }

    /// Asks the engine; a scene that does not exist yet can be followed as well.
    package init(_ engine: Engine) {
        find = { scene, completion in
            engine.read { _, _ in
                scene
            } completion: { result in
                switch result {
                case .success: completion(nil)
                case .failure(let error): completion(error)
                }
            }
        }
        read = { scene, completion in
            engine.read { machine, now in
                (machine.followedScene(scene, at: now), machine.limits)
            } completion: { result in
                completion(
                    (try? result.get()).map { view, limits in
                        EventSnapshot(
                            number: view.summary.lastEvent,
                            object: [
                                .brief { writer in
                                    writer.beginObject()
                                    writer.resetMembers(of: view.summary)
                                }
                            ] + view.parts(limits) + [.brief { $0.endObject() }])
                    })
            }
        }
        readAll = { completion in
            engine.read { machine, _ in
                (machine.scenes(), machine.lastEvent)
            } completion: { result in
                completion(
                    (try? result.get()).map { scenes, number in
                        EventSnapshot(number: number, scenes: scenes) { writer, scene in
                            writer.object { writer in
                                writer.resetMembers(of: scene)
                                writer.stateMembers(of: scene)
                            }
                        }
                    })
            }
        }
    }
}

extension JSONWriter {
    /// The members that every event of a scene has.
    fileprivate mutating func resetMembers(of scene: SceneSummary) {
        member("scene", scene.name.description)
        member("number", scene.lastEvent.rawValue)
    }
}
