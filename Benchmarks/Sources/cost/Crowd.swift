internal import ArbiterCore

/// A state machine with default limits, in which every turn is timed.
struct Crowd {
    private(set) var machine: ArbiterStateMachine
    private(set) var longest = Duration.zero
    private var now = Instant(nanoseconds: 0)
    private var lastID: UInt64 = 0

    /// The memory that the daemon allows itself by default.
    private static let memory = 128 << 20

    init() {
        var limits = Limits()
        limits.memory = Self.memory
        machine = ArbiterStateMachine(limits: limits)
    }

    // MARK: Turns

    /// Runs an event in a turn, which is timed.
    @discardableResult
    mutating func turn<Answer>(
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) -> Result<Answer, ArbiterError> {
        let moment = Moment(instant: now, timestamp: Timestamp(milliseconds: 0))
        let clock = ContinuousClock()
        let begun = clock.now
        let outcome = machine.turn(at: moment, event)
        longest = max(longest, clock.now - begun)
        return outcome.answer
    }

    /// The longest turn of a part.
    mutating func longest(of part: (inout Crowd) -> Void) -> Duration {
        longest = .zero
        part(&self)
        return longest
    }

    /// Lets time pass, and runs turns until nothing is due.
    mutating func wait(_ duration: Duration) {
        now = now.advanced(by: duration)
        while let next = machine.nextDeadline, next <= now { turn { _, _ in } }
    }

    // MARK: Requests

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Starts or serializes as many as the limits allow, at most `count`.
    ///
    /// - Returns: their ids.
    mutating func ask(_ count: Int, isSerialized: Bool = false, _ request: (Int) -> TransitionRequest) -> [TransitionID]
    {
        var ids: [TransitionID] = []
        for index in 0..<count {
            let number = nextID()
            let (id, token) = (TransitionID(rawValue: number), Self.token(number))
            let asked = request(index)
            let answer = turn { machine, step throws(ArbiterError) in
                if isSerialized {
                    _ = try machine.serialize(asked, id: id, token: token, park: nil, in: &step)
                } else {
                    _ = try machine.start(asked, id: id, token: token, in: &step)
                }
            }
            guard case .success = answer else { break }
            ids.append(id)
        }
        return ids
    }

    mutating func end(_ ids: [TransitionID], as outcome: EndOutcome = .completed) {
        for id in ids {
            turn { machine, step throws(ArbiterError) in
                try machine.end(id, token: Self.token(id.rawValue), as: outcome, in: &step)
            }
        }
    }

    mutating func openSession(of client: ClientName? = nil) -> Token {
        let number = nextID()
        let token = Self.token(number)
        turn { machine, step throws(ArbiterError) in
            try machine.openSession(
                client: client, timeToLive: .seconds(3600), id: SessionID(rawValue: number), token: token, in: &step)
        }
        return token
    }

    mutating func endSession(_ token: Token) {
        turn { machine, step throws(ArbiterError) in try machine.endSession(token, in: &step) }
        wait(.zero)
    }

    static func token(_ number: UInt64) -> Token { Token(high: number, low: number) }

    static func name(_ number: Int) -> ControllerID {
        guard let id = ControllerID("c\(number)") else { fatalError("c\(number) is no id") }
        return id
    }

    static func scene(_ number: Int) -> SceneName {
        guard let name = SceneName("s\(number)") else { fatalError("s\(number) is no name") }
        return name
    }

    /// A navigation with as many views in its stack.
    static func stack(_ count: Int) -> Hierarchy {
        guard let root = ControllerID("nav") else { fatalError("nav is no id") }
        let views = (0..<count).map(name)
        let controllers = [Controller(id: root, content: .navigation(views))] + views.map { Controller(id: $0) }
        guard let tree = try? Hierarchy(root: root, controllers: controllers) else { fatalError("no tree") }
        return tree
    }

    /// Declares such a navigation in the scene `main`.
    mutating func declare(_ count: Int) {
        guard let storyboard = try? Storyboard(hierarchy: Self.stack(count)) else { fatalError("no storyboard") }
        turn { machine, step throws(ArbiterError) in
            try machine.declare(.main, storyboard, if: .none, in: &step)
        }
    }
}
