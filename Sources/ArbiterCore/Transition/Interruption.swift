/// Under what conditions a granted transition is ended for another one, and how.
package struct Consent: Hashable, Sendable {
    package let by: Interrupters
    /// How long it goes on once its interruption has begun, within `Limits.graceDurations`.
    package let grace: Duration
    /// How it ends, unless its gesture was decided.
    package let outcome: EndOutcome

    package init(
        by: Interrupters, grace: Duration = Limits.defaultGrace, outcome: EndOutcome = .cancelled
    ) {
        self.by = by
        self.grace = grace
        self.outcome = outcome
    }

    /// Which tickets may interrupt it.
    package enum Interrupters: String, Hashable, Sendable, CaseIterable {
        /// Those of a higher priority.
        case higher
        /// Also those of its own priority that were asked for after its grant.
        case equal
    }
}

/// What a request, or a scene for its requests, says about being interrupted.
package enum Interruptibility: Hashable, Sendable {
    case never
    case allowed(Consent)

    package var consent: Consent? {
        switch self {
        case .never: nil
        case .allowed(let consent): consent
        }
    }
}

/// The interruption of a running transition, which ends when the grace is over.
package struct Interruption: Hashable, Sendable {
    /// The ticket that it ends for.
    package let by: TransitionID
    /// The client of that ticket.
    package let client: ClientName?
    /// How long it goes on.
    package let grace: Duration
}

extension Transition {
    /// Whether another one, asked for when `fence` was the last one given, may interrupt it.
    ///
    /// Its owner has said its last word of one whose end is remembered, and would not hear of it.
    func consents(to priority: Priority, askedAt fence: Fence) -> Bool {
        guard let grant, let consent, !hasRememberedEnd else { return false }
        if self.priority < priority { return true }
        return consent.by == .equal && self.priority == priority && grant.fence <= fence
    }

    /// How it ends if it is interrupted.
    var outcomeOfInterruption: EndOutcome {
        guard state == .running else { return .cancelled }
        switch gesture?.decision {
        case .finish: return .completed
        case .cancel: return .cancelled
        case nil: return consent?.outcome ?? .cancelled
        }
    }
}

// MARK: - Encoding

extension Consent: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.writeWord(by)
        writer.write(grace)
        writer.write(outcome)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(by: try reader.readWord(), grace: try reader.read(), outcome: try reader.read())
    }
}

extension Interruptibility: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(consent) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let consent: Consent? = try reader.readOptional()
        self = consent.map { .allowed($0) } ?? .never
    }
}

extension Interruption: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(by)
        writer.write(client)
        writer.write(grace)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(by: try reader.read(), client: try reader.readOptional(), grace: try reader.read())
    }
}
