internal import ArbiterCore
internal import ArbiterEngine

extension Engine {
    typealias Change =
        @Sendable (Engine, Revision?, @escaping @Sendable (Result<Reply, EngineError>) -> Void) -> Void

    /// Changes a scene as a whole, if it has a revision that will do; where it has another than the one that is tried
    /// first, and that will do as well, tries again with that.
    func change(
        _ scene: SceneName, if condition: IfMatch?, _ change: @escaping Change,
        completion: @escaping @Sendable (Result<Reply, Problem>) -> Void
    ) {
        self.change(scene, if: condition, at: condition?.likeliest, change, completion: completion)
    }

    private func change(
        _ scene: SceneName, if condition: IfMatch?, at revision: Revision?, _ change: @escaping Change,
        completion: @escaping @Sendable (Result<Reply, Problem>) -> Void
    ) {
        change(self, revision) { [self] result in
            switch result {
            case .success(let reply):
                completion(.success(reply))
            case .failure(.refused(.revisionMismatch(_, let actual))):
                guard let condition else {
                    preconditionFailure("\(scene) was changed whatever its revision, and refused for it")
                }
                if let actual, condition.isMet(by: actual) {
                    self.change(scene, if: condition, at: actual, change, completion: completion)
                } else {
                    completion(.failure(Problem(expectedTags: condition.text, actual: actual)))
                }
            case .failure(.refused(.busy(let busy))):
                completion(.failure(Problem(unfinished: busy)))
            case .failure(let error):
                completion(.failure(Problem(error)))
            }
        }
    }
}
