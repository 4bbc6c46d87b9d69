/// A client that a granted transition waits for before it runs.
package struct Participant: Hashable, Sendable {
    package let client: ClientName
    /// Whether the transition waits for it.
    package let isRequired: Bool
    /// Whether it may have the transition rejected while it prepares.
    package let mayVeto: Bool
    /// What it is asked as, if that is because of a guard; then only the session of the guard speaks for it.
    package let asked: Asked?
    package internal(set) var state: State

    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It has not reported that it is ready.
        case waiting
        case ready
        /// The last session of the client has ended, or the guard has; this counts as ready.
        case gone
    }

    /// The guard because of which a client is asked.
    package struct Asked: Hashable, Sendable {
        package let by: GuardID
        package let session: SessionID
        package let onSilence: UnreadyAction

        package init(by guard: GuardID, _ session: SessionID, _ onSilence: UnreadyAction) {
            by = `guard`
            self.session = session
            self.onSilence = onSilence
        }
    }

    package init(client: ClientName, isRequired: Bool = true, mayVeto: Bool = false, asked: Asked? = nil) {
        self.client = client
        self.isRequired = isRequired
        self.mayVeto = mayVeto
        self.asked = asked
        state = .waiting
    }

    /// Whether a client speaks for it in a session; nobody does for a guard that has ended.
    func isSpokenFor(by client: ClientName, in session: SessionID) -> Bool {
        asked.map { $0.session == session && !isWithdrawn } ?? (self.client == client)
    }

    /// Whether it was asked because of a guard that ended before it answered.
    var isWithdrawn: Bool { asked != nil && state == .gone }

    /// The oldest rules that know it.
    var neededRules: Rules { mayVeto ? .second : .first }

    /// Whether the transition still waits for it.
    var isMissing: Bool { isRequired && state == .waiting }
}

/// What a participant says of a transition that prepares.
package enum Readiness: Hashable, Sendable {
    case ready
    /// It must not run, because of this reason, if one is given.
    case veto(GivenReason?)
}

/// What happens to a transition whose participants are not ready in time.
package enum UnreadyAction: String, Hashable, Sendable, CaseIterable {
    /// The transition runs without them.
    case proceed
    /// The transition expires.
    case abort
}

/// Marks tickets with the same key as equivalent: one of them is enough.
package struct Coalescing: Hashable, Sendable {
    package let key: CoalescingKey
    package let keep: Keep
    package let among: Among

    package init(key: CoalescingKey, keep: Keep, among: Among = .queued) {
        self.key = key
        self.keep = keep
        self.among = among
    }

    /// Which of two tickets with the same key remains.
    package enum Keep: String, Hashable, Sendable, CaseIterable {
        /// The newer one, in the place of the older one.
        case latest
        /// The older one.
        case first
    }

    /// What a new ticket is coalesced with.
    package enum Among: String, Hashable, Sendable, CaseIterable {
        /// What waits in the queue.
        case queued
        /// What is granted too: the older one that stays may run, and the one that is replaced may prepare.
        case unfinished
    }
}

extension [ClientName] {
    /// The same clients, each where it is first.
    var eachOnce: [ClientName] {
        var known: Set<ClientName> = []
        return filter { known.insert($0).inserted }
    }
}

extension Transition {
    /// Whether a required participant is not ready.
    var isMissingParticipants: Bool { participants.contains(where: \.isMissing) }

    /// Whether a guard is to be asked that has not answered.
    package var isMissingGuards: Bool { participants.contains { $0.asked != nil && $0.isMissing } }

    /// The clients that take part, each once.
    var participatingClients: [ClientName] {
        let clients = participants.map(\.client)
        return participants.contains { $0.asked != nil } ? clients.eachOnce : clients
    }
}
