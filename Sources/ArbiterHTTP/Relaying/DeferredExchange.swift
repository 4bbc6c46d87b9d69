internal import ArbiterEngine

/// The exchange of a request that is carried out later, and perhaps on another thread, than when it came.
final class DeferredExchange: Exchange {
    private struct State {
        var isAbandoned = false
        /// Whether it is answered; then nothing more is done for a client that leaves.
        var isAnswered = false
        var whenAbandoned: (@Sendable () -> Void)?
    }

    private let exchange: any Exchange
    private let hasPlace: Bool
    private let state = Guarded(State())

    /// - Parameters:
    ///   - exchange: the exchange.
    ///   - hasPlace: whether it has one of the places for parked connections.
    init(_ exchange: any Exchange, hasPlace: Bool) {
        (self.exchange, self.hasPlace) = (exchange, hasPlace)
        exchange.whenAbandoned { [weak self] in self?.abandon() }
    }

    func respond(_ response: Response) {
        forgetAction()
        exchange.respond(response)
    }

    func stream(_ head: Response, from source: any StreamSource) {
        forgetAction()
        exchange.stream(head, from: source)
    }

    func reservePlace() -> Bool { hasPlace }

    func reserve(_ room: AnswerRoom) -> Bool { exchange.reserve(room) }

    func wake() { exchange.wake() }

    func cut() { exchange.cut() }

    /// Says what to do now if the client closes its connection, instead of what was said before.
    func whenAbandoned(_ action: @escaping @Sendable () -> Void) {
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned, !state.isAnswered { state.whenAbandoned = action }
            return state.isAbandoned
        }
        if isAbandoned { action() }
    }

    private func forgetAction() {
        _ = state.withLock { state in
            state.isAnswered = true
            return state.whenAbandoned.take()
        }
    }

    private func abandon() {
        let action = state.withLock { state in
            state.isAbandoned = true
            return state.whenAbandoned.take()
        }
        action?()
    }
}
