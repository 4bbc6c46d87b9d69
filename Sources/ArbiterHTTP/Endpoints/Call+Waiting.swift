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

    /// Has a waiter that is parked leave when the connection closes.
    func leave(_ waiter: WaiterID?, of engine: Engine) {
        guard let waiter else { return }
        exchange.whenAbandoned { engine.leave(waiter, client: self.clientAtClose) }
    }
}
