internal import Synchronization

/// The places that a server has beside its connections: for what waits, for large bodies and for long answers.
package final class ServerPlaces: Sendable {
    /// Requests that wait for their answer, and open event streams.
    package let parked: Places
    /// Bodies on their way that are longer than most may be.
    package let largeBodies = Places(limit: ServerLimits.largeBodies)
    /// Long answers on their way.
    package let longAnswers = Places(limit: ServerLimits.longAnswers)
    /// Bytes that answers on their way keep.
    package let bytesOfAnswers = Places(limit: ServerLimits.bytesOfAnswers)

    package init(_ limits: ServerLimits) {
        parked = Places(limit: limits.parked)
    }
}

/// Places of one kind: how many there are, and how many are taken.
package final class Places: Sendable {
    /// How many there are.
    package let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// How many are taken; for a moment that may be more than there are, while a request finds that there is none left.
    package var count: Int { taken.load(ordering: .relaxed) }

    /// Takes places.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - limit: how many may be taken then; `nil` for as many as there are.
    /// - Returns: whether there were so many left; otherwise none is taken.
    func take(_ count: Int = 1, upTo limit: Int? = nil) -> Bool {
        guard taken.add(count, ordering: .relaxed).newValue <= limit ?? self.limit else {
            leave(count)
            return false
        }
        return true
    }

    /// Gives places back.
    func leave(_ count: Int = 1) {
        taken.subtract(count, ordering: .relaxed)
    }
}
