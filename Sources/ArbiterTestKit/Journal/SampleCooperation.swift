package import ArbiterCore

/// Sessions, participants, gestures and coalescing, with values of every kind.
package enum SampleCooperation {
    package static let client = name("détail")

    package static let gestures = GestureDecision.allCases.flatMap { decision in
        [0, 0.1 + 0.2, 1].map { DecidedGesture(decision: decision, fraction: $0) }
    }

    static let openings: [Record] = [
        .openSession(
            client: nil, timeToLive: Limits.sessionDurations.lowerBound, id: SessionID(rawValue: 0),
            token: Token(high: 0, low: .max)),
        .openSession(
            client: client, timeToLive: Limits.sessionDurations.upperBound, id: SessionID(rawValue: .max),
            token: Token(high: .max, low: 0)),
        .openSession(
            client: client, timeToLive: Limits.sessionDurations.upperBound, id: SessionID(rawValue: 1),
            token: Token(high: 1, low: 1), by: Caller(principal: principal)),
        .openSession(
            client: client, timeToLive: Limits.sessionDurations.upperBound, id: SessionID(rawValue: 2),
            token: Token(high: 2, low: 2),
            by: Caller(principal: principal, scenes: .matching([ScenePattern(unchecked: "kiosk-*")]))),
        .openSession(
            client: client, timeToLive: Limits.sessionDurations.upperBound, id: SessionID(rawValue: 3),
            token: Token(high: 3, low: 3), by: Caller(principal: nil, scenes: .matching([]))),
    ]

    static let principal = PrincipalName(unchecked: "token:küche")

    static let closings: [Record] = SessionEnding.allCases.map { .endSession(SessionID(rawValue: .max), $0) }

    static let updates = [
        AnimationUpdate(),
        AnimationUpdate(
            duration: Limits.animationDurations.upperBound, curve: .linear,
            completionSpeed: Limits.completionSpeeds.upperBound, userInfo: Array("{}".utf8)),
    ]

    static let guards: [Guard] = UnreadyAction.allCases.map { onSilence in
        Guard(
            id: GuardID(rawValue: 1), session: SessionID(rawValue: .max), client: client,
            controllers: [SampleHierarchies.id("a"), SampleHierarchies.id("b")], onSilence: onSilence)
    }

    package static let requests: [TransitionRequest] = [
        TransitionRequest(
            isInteractive: true, policy: .velocity,
            participants: [
                Participant(client: client), Participant(client: name("b"), isRequired: false, mayVeto: true),
            ],
            ready: Limits.readyDurations.upperBound, onUnready: .abort, coalescing: coalescing("selection", .latest),
            session: Token(high: 1, low: 2)),
        TransitionRequest(
            policy: .fraction(threshold: 0.25), ready: .zero, coalescing: coalescing("ü", .first)),
        TransitionRequest(
            principal: principal,
            trace: TraceParent(unchecked: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")),
        TransitionRequest(priority: Priority(1_000), interrupts: true, interruptibility: .never),
        TransitionRequest(expectations: [.controller(SampleHierarchies.id("a"), is: .top, isNegated: true)]),
        TransitionRequest(expectations: [.revision(Revision(rawValue: 7))], queue: .seconds(1), unmet: .wait),
        TransitionRequest(ignoresGuards: true),
        TransitionRequest(note: Note(unchecked: "the display is being cleaned")),
        TransitionRequest(
            coalescing: Coalescing(key: coalescing("k", .first).key, keep: .first, among: .unfinished)),
        TransitionRequest(
            interruptibility: .allowed(
                Consent(by: .equal, grace: Limits.graceDurations.upperBound, outcome: .completed))),
    ]

    package static func name(_ text: String) -> ClientName {
        guard let name = ClientName(text) else { preconditionFailure("\(text) is no client's name") }
        return name
    }

    package static func coalescing(_ text: String, _ keep: Coalescing.Keep) -> Coalescing {
        guard let key = CoalescingKey(text) else { preconditionFailure("\(text) is no key") }
        return Coalescing(key: key, keep: keep)
    }
}
