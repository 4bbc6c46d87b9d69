internal import ArbiterCore

/// Draws ids and tokens, and numbers the waiters.
struct Identities: Sendable {
    private var random: any RandomNumberGenerator & Sendable
    private var lastWaiter: UInt64 = 0

    init(_ random: any RandomNumberGenerator & Sendable) {
        self.random = random
    }

    /// An id that no remembered transition has, in the slot of its scene.
    mutating func transition(in scene: SceneName, of machine: borrowing ArbiterStateMachine) -> TransitionID {
        let slot = Slot(scene)
        while true {
            let id = TransitionID(rawValue: slot.prefixed(to: random.next()))
            if !machine.isInUse(id) { return id }
        }
    }

    /// An id that no living session has, in a slot, or in any.
    mutating func session(at slot: Slot?, of machine: borrowing ArbiterStateMachine) -> SessionID {
        while true {
            let number = random.next()
            let id = SessionID(rawValue: slot?.prefixed(to: number) ?? number)
            if !machine.isInUse(id) { return id }
        }
    }

    /// An id that no guard of a scene has.
    mutating func `guard`(in scene: SceneName, of machine: borrowing ArbiterStateMachine) -> GuardID {
        while true {
            let id = GuardID(rawValue: random.next())
            if !machine.isInUse(id, in: scene) { return id }
        }
    }

    /// The token of a transition.
    mutating func token() -> Token {
        Token(high: random.next(), low: random.next())
    }

    /// The token of a session, which begins with the slot of the session's id.
    mutating func token(of session: SessionID) -> Token {
        Token(high: session.slot.prefixed(to: random.next()), low: random.next())
    }

    /// How an await with this wait parks; `nil` if its wait is zero.
    mutating func park(for wait: Duration) -> Park? {
        guard wait > .zero else { return nil }
        lastWaiter += 1
        return Park(waiter: WaiterID(rawValue: lastWaiter), wait: wait)
    }
}
