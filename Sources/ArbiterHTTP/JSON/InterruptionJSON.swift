internal import ArbiterCore

// Interruptions: who consents to be ended for another one, and what becomes of that.

/// What a `serialize` does if others are in its way.
enum WhenBusy: String, Hashable, Sendable, CaseIterable {
    case wait
    case interrupt
}

extension JSONReader {
    /// Reads whether something may be interrupted: `false`, or the terms of its consent.
    ///
    /// - Throws: `invalid-field`, `missing-field`, `unknown-field`.
    mutating func interruptibility(_ field: String) throws(Problem) -> Interruptibility {
        switch valueType {
        case .boolean:
            guard try !boolean(field) else { throw invalid(field, "must be false, or an object that says \"by\" whom") }
            return .never
        case .object: return .allowed(try consent(field))
        default: throw try mismatch(field, "an object or false")
        }
    }

    private mutating func consent(_ field: String) throws(Problem) -> Consent {
        var by: Consent.Interrupters?
        var grace = Limits.defaultGrace
        var outcome = EndOutcome.cancelled
        try openObject(field)
        var seen = MemberNames()
        while let member = try nextMember(&seen) {
            switch member {
            case "by": by = try word(member)
            case "graceSeconds": grace = try seconds(member, in: Limits.graceDurations)
            case "as": outcome = try word(member)
            default: throw unknown(member)
            }
        }
        guard let by else { throw missing("by") }
        leave()
        return Consent(by: by, grace: grace, outcome: outcome)
    }
}

extension JSONWriter {
    /// The consent of a request, or that of a scene's defaults.
    mutating func member(_ name: StaticString, _ interruptibility: Interruptibility) {
        guard let consent = interruptibility.consent else { return member(name, false) }
        object(name) { writer in
            writer.member("by", consent.by.rawValue)
            writer.member("graceSeconds", exactly: consent.grace)
            writer.member("as", consent.outcome.rawValue)
        }
    }

    /// Whether a transition may be interrupted, and the interruption that has begun.
    mutating func interruptionMembers(of view: TransitionView) {
        let transition = view.transition
        guard !transition.isEnded else { return }
        if let consent = transition.consent { member("interruptible", .allowed(consent)) }
        guard let interruption = transition.interruption else { return }
        object("interruption") { writer in
            writer.member("by", interruption.by)
            if let client = interruption.client { writer.member("client", client.description) }
            writer.member("graceRemaining", view.remaining.grace ?? interruption.grace)
        }
    }
}
