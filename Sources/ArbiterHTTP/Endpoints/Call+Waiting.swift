internal import ArbiterCore
internal import ArbiterEngine

// Requests that wait for their answer.

extension Call {
    /// Reserves a place among the parked connections, unless the request does not wait.
    ///
    /// - Throws: `too-many-connections` if there is none.
    func reservePlace(for wait: Duration) throws(Problem) {
        guard wait == .zero || exchange.reservePlace() else {
            throw Problem(
                .tooManyConnections, "No more connections can wait here; ask again, or ask without waiting.",
                retryAfter: Problem.retrySoon)
        }
    }

    /// Takes notice if the connection closes before the call is answered.
    ///
    /// Then its client has closed it at some time before the answer, and may have said something elsewhere since.
    ///
    /// - Returns: says whether the client is gone, to be called when the connection closes.
    func presenceAtClose() -> EventSubscription.PresenceAtClose {
        let hasLeftEarly = Guarded(false)
        exchange.whenAbandoned { hasLeftEarly.withLock { $0 = true } }
        return { isCut in
            let client = self.clientAtClose
            return isCut && !hasLeftEarly.withLock { $0 } ? client : .present
        }
    }

    /// Has a waiter that is parked leave when the connection closes.
    func leave(_ waiter: WaiterID?, of engine: Engine) {
        guard let waiter else { return }
        exchange.whenAbandoned { engine.leave(waiter, client: self.clientAtClose) }
    }
}
