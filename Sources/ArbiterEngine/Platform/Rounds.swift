/// Threads that serve requests in rounds, and commit once at the end of a round what its requests have recorded.
package protocol Rounds: Sendable {
    /// Has an engine commit at the end of the round that the calling thread is in; one call for many records is enough.
    ///
    /// - Returns: whether it will; if not, because the thread is in no round or has only one request, the engine commits at
    ///   once.
    func putOffCommit(of engine: Engine) -> Bool
}

/// No rounds: every request is committed by itself.
package struct NoRounds: Rounds {
    package init() {}

    package func putOffCommit(of engine: Engine) -> Bool { false }
}
