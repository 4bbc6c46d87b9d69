internal import ArbiterCore

/// The longest turn of each kind of work that one client can cause at the default limits.
enum LongestTurns {
    static let kinds: [(name: String, measure: @Sendable () -> Duration)] = [
        ("leases that run out at one instant", leases),
        ("a row of silent tickets", silentRow),
        ("the end of a session with many transitions", boundSession),
        ("the end of a participant of many transitions", participant),
        ("the end of a session that visited many scenes", visitor),
        ("an end that moves what waiting tickets lock", refiled),
        ("an end that grants many", granted),
        ("a ticket that interrupts many", interruption),
        ("the ends of many that were interrupted", interrupted),
        ("a ticket that replaces many", replaced),
        ("a ticket with a key of which many are separated", separated),
        ("an end that many await", awaited),
        ("a storyboard of many controllers", declared),
        ("an operation that brings in many controllers", arrivals),
    ]

    private static func leases() -> Duration {
        var crowd = Crowd()
        _ = crowd.ask(100_000) { TransitionRequest(scene: Crowd.scene($0), lease: .seconds(300)) }
        return crowd.longest { $0.wait(.seconds(300)) }
    }

    private static func silentRow() -> Duration {
        var crowd = Crowd()
        let holder = crowd.ask(1) { _ in TransitionRequest() }
        _ = crowd.ask(100_000, isSerialized: true) { _ in TransitionRequest(ticket: .seconds(3600)) }
        return crowd.longest { crowd in
            crowd.end(holder)
            crowd.wait(.seconds(5))
        }
    }

    private static func boundSession() -> Duration {
        var crowd = Crowd()
        let session = crowd.openSession()
        _ = crowd.ask(100_000) { TransitionRequest(scene: Crowd.scene($0), lease: .seconds(300), session: session) }
        return crowd.longest { $0.endSession(session) }
    }

    private static func participant() -> Duration {
        var crowd = Crowd()
        guard let client = ClientName("screen") else { fatalError("screen is no name") }
        let session = crowd.openSession(of: client)
        _ = crowd.ask(100_000) {
            TransitionRequest(
                scene: Crowd.scene($0), lease: .seconds(300), participants: [Participant(client: client)],
                ready: .seconds(60))
        }
        return crowd.longest { $0.endSession(session) }
    }

    private static func visitor() -> Duration {
        var crowd = Crowd()
        let session = crowd.openSession()
        for number in 0..<40_000 {
            crowd.end(crowd.ask(1) { _ in TransitionRequest(scene: Crowd.scene(number), session: session) })
        }
        return crowd.longest { $0.endSession(session) }
    }

    private static func refiled() -> Duration {
        var crowd = Crowd()
        crowd.declare(1)
        let holder = crowd.ask(1) { _ in
            TransitionRequest(scope: .scene, operation: .setRoot(Crowd.stack(800)), lease: .seconds(300))
        }
        _ = crowd.ask(100_000, isSerialized: true) { ticket in
            let locked = (0..<Limits.scopeControllers).map { Crowd.name((ticket * 13 + $0 * 11) % 800) }
            return TransitionRequest(scope: .controllers(locked), ticket: .seconds(3600))
        }
        return crowd.longest { $0.end(holder) }
    }

    private static func granted() -> Duration {
        var crowd = Crowd()
        crowd.declare(9_990)
        let holder = crowd.ask(1) { _ in TransitionRequest(lease: .seconds(300)) }
        _ = crowd.ask(9_990, isSerialized: true) {
            TransitionRequest(scope: .controllers([Crowd.name($0)]), ticket: .seconds(3600))
        }
        return crowd.longest { $0.end(holder) }
    }

    /// Many that may be interrupted, of a controller each, and a ticket for all of them, which its session looks after.
    private static func interruptible() -> (crowd: Crowd, ticket: TransitionRequest) {
        var crowd = Crowd()
        crowd.declare(9_990)
        _ = crowd.ask(9_990) {
            TransitionRequest(
                scope: .controllers([Crowd.name($0)]), lease: .seconds(300),
                interruptibility: .allowed(Consent(by: .equal, grace: .seconds(1))))
        }
        let session = crowd.openSession()
        return (crowd, TransitionRequest(scope: .scene, interrupts: true, session: session))
    }

    private static func interruption() -> Duration {
        var (crowd, ticket) = interruptible()
        return crowd.longest { crowd in _ = crowd.ask(1, isSerialized: true) { _ in ticket } }
    }

    private static func interrupted() -> Duration {
        var (crowd, ticket) = interruptible()
        _ = crowd.ask(1, isSerialized: true) { _ in ticket }
        return crowd.longest { $0.wait(.seconds(1)) }
    }

    /// Tickets with one key and a controller each.
    ///
    /// A ticket for the same controller separates each from the next one.
    private static func keyed(_ crowd: inout Crowd) -> (separating: [TransitionID], new: TransitionRequest) {
        crowd.declare(9_990)
        guard let key = CoalescingKey("key") else { fatalError("key is no key") }
        _ = crowd.ask(1) { _ in TransitionRequest(lease: .seconds(300)) }
        let all = crowd.ask(8_000, isSerialized: true) { number in
            TransitionRequest(
                scope: .controllers([Crowd.name(number / 2)]), ticket: .seconds(3600),
                coalescing: number.isMultiple(of: 2) ? Coalescing(key: key, keep: .latest) : nil)
        }
        let new = TransitionRequest(
            scope: .controllers([Crowd.name(9_989)]), ticket: .seconds(3600),
            coalescing: Coalescing(key: key, keep: .latest))
        return (all.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element), new)
    }

    private static func replaced() -> Duration {
        var crowd = Crowd()
        let (separating, new) = keyed(&crowd)
        crowd.end(separating, as: .cancelled)
        return crowd.longest { crowd in
            crowd.turn { machine, step throws(ArbiterError) in
                try machine.dryRun(new, isSerialized: true, at: step.moment.instant)
            }
            _ = crowd.ask(1, isSerialized: true) { _ in new }
        }
    }

    private static func separated() -> Duration {
        var crowd = Crowd()
        let (_, new) = keyed(&crowd)
        return crowd.longest { crowd in _ = crowd.ask(1, isSerialized: true) { _ in new } }
    }

    private static func awaited() -> Duration {
        var crowd = Crowd()
        let holder = crowd.ask(1) { _ in TransitionRequest(lease: .seconds(300)) }
        for _ in 0..<5_000 {
            let park = Park(waiter: WaiterID(rawValue: crowd.nextID()), wait: .seconds(120))
            crowd.turn { machine, step throws(ArbiterError) in
                try machine.wait(on: holder[0], token: nil, until: .ended, park: park, in: &step)
            }
        }
        return crowd.longest { $0.end(holder) }
    }

    private static func declared() -> Duration {
        var crowd = Crowd()
        return crowd.longest { $0.declare(9_990) }
    }

    private static func arrivals() -> Duration {
        var crowd = Crowd()
        crowd.declare(1)
        return crowd.longest { crowd in
            crowd.end(
                crowd.ask(1, isSerialized: true) { _ in
                    TransitionRequest(scope: .operation, operation: .setRoot(Crowd.stack(9_000)))
                })
        }
    }
}
