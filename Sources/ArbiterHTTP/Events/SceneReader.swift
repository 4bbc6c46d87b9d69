package import ArbiterCore
package import ArbiterEngine

/// What the streams ask of a scene.
package struct SceneReader: Sendable {
    /// Asks whether the scene can be followed; told why not, or `nil`.
    package let find: @Sendable (SceneName, @escaping @Sendable (EngineError?) -> Void) -> Void
    /// Asks for the scene whole; told `nil` if there is none.
    package let read: @Sendable (SceneName, @escaping @Sendable (SceneSnapshot?) -> Void) -> Void

    package init(
        find: @escaping @Sendable (SceneName, @escaping @Sendable (EngineError?) -> Void) -> Void,
        read: @escaping @Sendable (SceneName, @escaping @Sendable (SceneSnapshot?) -> Void) -> Void
    ) {
        self.find = find
        self.read = read
    }

    /// Asks the engine; a scene that nobody has used yet can be followed as well.
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
                        SceneSnapshot(
                            number: view.summary.lastEvent,
                            json: JSONWriter.object { $0.members(of: view, limits: limits) })
                    })
            }
        }
    }
}
