/// One request for the lock, from the request to its one outcome; part of the durable state.
package struct Transition: Hashable, Sendable {
    private var asked: Shared<Asked>
    /// The clients that must be ready before it runs, with their states.
    package private(set) var participants: [Participant]
    /// The decision about its gesture; `nil` until the release.
    package private(set) var gesture: DecidedGesture?
    /// The current phase, with the values that exist only in it.
    package private(set) var phase: Phase
    private var interrupted: Shared<Interruption>?

    /// The part that hardly ever changes; it is large, so copies of the transition share it.
    private struct Asked: Hashable, Sendable {
        let id: TransitionID
        let token: Token
        let order: RequestOrder
        let place: LinePlace
        let isSerialized: Bool
        var isPerformed: Bool
        var request: TransitionRequest
        var scope: Scope
        let lease: Duration
        let requestedAt: Moment
        let requestedRevision: Revision
        let session: SessionID?
        let consent: Consent?
        let fenceWhenAsked: Fence?
        var update: AnimationUpdate?
    }

    package var id: TransitionID { asked.value.id }
    package var token: Token { asked.value.token }
    package var order: RequestOrder { asked.value.order }
    /// Its place in the line: by its priority, and its own order or that of the ticket which it replaced.
    package var place: LinePlace { asked.value.place }
    /// Its own priority; a request without one gets the scene's default.
    package var priority: Priority { place.priority }
    /// Whether it was requested with `serialize`; otherwise with `start`.
    package var isSerialized: Bool { asked.value.isSerialized }
    /// What its owner has requested, with the operation that it was given since.
    package var request: TransitionRequest { asked.value.request }
    /// Whether it was requested without an operation, and has been given one.
    package var isPerformed: Bool { asked.value.isPerformed }
    /// What its owner has changed of its animation since.
    package var update: AnimationUpdate? { asked.value.update }
    /// The scope that it locks; a request without a scope gets the scene's default.
    ///
    /// Of several names, it is known from the grant on which one it is.
    package var scope: Scope { asked.value.scope }
    /// How long the granted transition may go without a request of its owner.
    package var lease: Duration { asked.value.lease }
    package var requestedAt: Moment { asked.value.requestedAt }
    /// The revision of the hierarchy at the request.
    package var requestedRevision: Revision { asked.value.requestedRevision }
    /// The session that it is bound to, if any.
    package var session: SessionID? { asked.value.session }
    /// Whether it may be interrupted once it is granted; a request that says nothing gets the scene's default.
    package var consent: Consent? { asked.value.consent }
    /// The last fence that had been given when it was asked for, or when the ticket was which it replaced; only of one that interrupts
    /// or is coalesced.
    var fenceWhenAsked: Fence? { asked.value.fenceWhenAsked }
    /// Its interruption, from its beginning to the transition's end.
    package var interruption: Interruption? { interrupted?.value }

    init(
        id: TransitionID, token: Token, order: RequestOrder, place: LinePlace, isSerialized: Bool,
        request: TransitionRequest, scope: Scope, lease: Duration, requestedAt: Moment, requestedRevision: Revision,
        session: SessionID?, consent: Consent?, fenceWhenAsked: Fence?, participants: [Participant],
        gesture: DecidedGesture?, phase: Phase, isPerformed: Bool = false, interruption: Interruption? = nil,
        update: AnimationUpdate? = nil
    ) {
        asked = Shared(
            Asked(
                id: id, token: token, order: order, place: place, isSerialized: isSerialized, isPerformed: isPerformed,
                request: request.packed, scope: scope, lease: lease, requestedAt: requestedAt,
                requestedRevision: requestedRevision,
                session: session, consent: consent, fenceWhenAsked: fenceWhenAsked, update: update))
        self.participants = participants
        self.gesture = gesture
        self.phase = phase
        interrupted = interruption.map { Shared($0) }
    }

    package var isEnded: Bool {
        if case .ended = phase { true } else { false }
    }

    package var isQueued: Bool {
        if case .queued = phase { true } else { false }
    }

    /// Whether its owner has ended it already, and it completes by itself: at its grant, or when it would begin to run.
    package var hasRememberedEnd: Bool {
        switch phase {
        case .queued(let queued): queued.completesAtGrant
        case .preparing(_, let completes): completes
        case .running, .ended: false
        }
    }

    /// Whether it waits for its conditions if need be; read without a copy of the request.
    var awaitsState: Bool { asked.value.request.unmet == .wait }

    /// Whether it waits outside the line.
    package var isSetAside: Bool {
        if case .queued(let queued) = phase { queued.isSetAside } else { false }
    }

    /// The failed condition because of which it is set aside; `nil` if it is not.
    package var unmet: FailedExpectation? {
        if case .queued(let queued) = phase { queued.unmet } else { nil }
    }

    package var state: TransitionState {
        switch phase {
        case .queued: .queued
        case .preparing: .preparing
        case .running: .running
        case .ended: .ended
        }
    }

    /// Its grant; `nil` if it has none.
    package var grant: Grant? {
        switch phase {
        case .queued: nil
        case .preparing(let grant, _), .running(let grant): grant
        case .ended(let ending): ending.grant
        }
    }

    /// The participants that were missing when it ran without them, or ended before it ran.
    package var laggards: [ClientName] {
        switch phase {
        case .queued, .preparing: []
        case .running, .ended:
            grant == nil ? [] : participants.filter(\.isMissing).map(\.client).filter { $0 != vetoer }.eachOnce
        }
    }

    /// The participant that vetoed it.
    private var vetoer: ClientName? {
        guard case .ended(let ending) = phase, case .rejected(.vetoed(let client, _)) = ending.outcome else {
            return nil
        }
        return client
    }

    /// Whether an await for the milestone is answered now.
    package func hasReached(_ milestone: Milestone) -> Bool {
        switch phase {
        case .queued: false
        case .preparing: milestone == .granted
        case .running: milestone == .interrupted ? interrupted != nil : milestone != .ended
        case .ended: true
        }
    }
}

// MARK: - Phases

extension Transition {
    /// Notes that the owner has ended the queued transition: it completes at its grant.
    mutating func completeAtGrant() {
        switch phase {
        case .queued(let queued): phase = .queued(Queued(completesAtGrant: true, unmet: queued.unmet))
        case .preparing, .running, .ended: preconditionFailure("\(id) completes at its grant, but is \(state)")
        }
    }

    /// Sets the queued transition aside because of a condition, or puts it back into the line.
    mutating func setAside(because unmet: FailedExpectation?) {
        switch phase {
        case .queued(let queued):
            phase = .queued(Queued(completesAtGrant: queued.completesAtGrant, unmet: unmet))
        case .preparing, .running, .ended: preconditionFailure("\(id) is set aside, but is \(state)")
        }
    }

    /// Grants a queued transition, which then waits for its participants.
    ///
    /// A participant that was gone and has a session again is waited for.
    ///
    /// - Parameters:
    ///   - grant: the values of the grant.
    ///   - guards: those to ask, besides the participants of the request.
    ///   - isPresent: whether a client has a session now.
    mutating func prepare(with grant: Grant, asking guards: [Guard], _ isPresent: (ClientName) -> Bool) {
        switch phase {
        case .queued(let queued): phase = .preparing(grant, completes: queued.completesAtGrant)
        case .preparing, .running, .ended: preconditionFailure("\(id) is \(state): only a queued one is granted")
        }
        for index in participants.indices where participants[index].state == .gone {
            if isPresent(participants[index].client) { participants[index].state = .waiting }
        }
        participants += guards.map(\.participant)
    }

    /// Notes that the owner has ended the preparing transition: it completes when it would begin to run.
    mutating func completeWhenReady() {
        switch phase {
        case .preparing(let grant, _): phase = .preparing(grant, completes: true)
        case .queued, .running, .ended: preconditionFailure("\(id) completes when it is ready, but is \(state)")
        }
    }

    /// Ends the wait for participants: the transition runs.
    mutating func run() {
        switch phase {
        case .preparing(let grant, _): phase = .running(grant)
        case .queued, .running, .ended: preconditionFailure("\(id) is \(state): only a preparing one begins to run")
        }
    }

    /// Grants a queued transition, which runs at once.
    mutating func run(with grant: Grant) {
        switch phase {
        case .queued: phase = .running(grant)
        case .preparing, .running, .ended: preconditionFailure("\(id) is \(state): only a queued one is granted")
        }
    }

    /// Sets what it locks of several names.
    mutating func lock(_ names: [ControllerID]) {
        var chosen = asked.value
        chosen.scope = .controllers(names)
        asked = Shared(chosen)
    }

    /// Gives a running transition, which has none, its operation.
    mutating func perform(_ operation: Operation, with grant: Grant) {
        switch phase {
        case .running: phase = .running(grant)
        case .queued, .preparing, .ended: preconditionFailure("\(id) is \(state): only a running one performs")
        }
        var performed = asked.value
        precondition(performed.request.operation == nil, "\(id) has an operation, and gets another one")
        performed.request.operation = operation
        performed.request = performed.request.packed
        performed.isPerformed = true
        asked = Shared(performed)
    }

    /// Changes how the unfinished transition is animated.
    mutating func change(update: AnimationUpdate, animation: Animation?) {
        var changed = asked.value
        changed.update = update
        asked = Shared(changed)
        switch phase {
        case .queued: break
        case .preparing(let grant, let completes):
            phase = .preparing(grant.animated(by: animation), completes: completes)
        case .running(let grant): phase = .running(grant.animated(by: animation))
        case .ended: preconditionFailure("\(id) has ended, and is animated otherwise")
        }
    }

    mutating func end(_ ending: Ending) {
        switch phase {
        case .queued, .preparing, .running:
            phase = .ended(ending)
            interrupted = nil
        case .ended: preconditionFailure("\(id) has already ended, and ends again as \(ending.outcome)")
        }
    }

    /// Begins the interruption of a running transition.
    mutating func interrupt(_ interruption: Interruption) {
        guard state == .running, interrupted == nil else {
            preconditionFailure("\(id) is \(state), or interrupted already")
        }
        interrupted = Shared(interruption)
    }

    /// Sets the decision about its gesture, which never changes again.
    mutating func decide(_ decided: DecidedGesture) {
        precondition(gesture == nil && !isEnded, "the gesture of \(id) is decided twice, or after its end")
        gesture = decided
    }

    /// Sets the state of a participant that the request names.
    mutating func mark(_ client: ClientName, as participation: Participant.State) {
        guard let index = participants.firstIndex(where: { $0.client == client && $0.asked == nil }) else {
            preconditionFailure("\(client) is not a participant of \(id)")
        }
        participants[index].state = participation
    }

    /// Sets the state of the participants for which a condition holds.
    mutating func mark(as participation: Participant.State, where isMeant: (Participant) -> Bool) {
        for index in participants.indices where isMeant(participants[index]) {
            participants[index].state = participation
        }
    }
}
