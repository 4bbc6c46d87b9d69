internal import ArbiterCore

// The fields of requests about gestures, participants and coalescing.

extension TransitionRequest {
    /// Reads a field about the gesture, the participants or coalescing; other fields are unknown.
    ///
    /// - Throws: a problem that names the field.
    mutating func readCooperation(_ field: String, _ value: inout JSONReader) throws(Problem) {
        switch field {
        case "interactive": isInteractive = try value.boolean(field)
        case "policy": policy = try value.policy(field)
        case "participants": participants = try value.participants(field)
        case "readySeconds": ready = try value.seconds(field, in: Limits.readyDurations)
        case "onUnready": onUnready = try value.word(field)
        case "coalesce": coalescing = try value.coalescing(field)
        case "mode": mode = try value.word(field)
        case "note": note = try Note(try value.string(field), field: field)
        case "ignoreGuards": ignoresGuards = try value.boolean(field)
        case "interruptible": interruptibility = try value.interruptibility(field)
        default: throw Problem.unknown(field)
        }
    }
}

extension TransitionRequest {
    /// - Throws: `invalid-field` if it has something that a shared one, or one that is to get any of several names, cannot have.
    func checkMode(operationField: String?) throws(Problem) {
        let isAny = if case .anyOf? = scope { true } else { false }
        let isShared = mode == .shared
        guard isAny || isShared else { return }
        let unfit: [(field: String, isGiven: Bool)] = [
            (operationField ?? "operation", operation != nil),
            ("interactive", isShared && isInteractive),
            ("participants", isShared && !participants.isEmpty),
            ("whenBusy", isAny && interrupts),
            ("coalesce", isAny && coalescing != nil),
            ("mode", isAny && isShared),
        ]
        guard let first = unfit.first(where: \.isGiven) else { return }
        let what = isAny ? "where \"scope\" is \"anyOf\"" : "where \"mode\" is \"shared\""
        throw .invalid(first.field, "cannot be given \(what)")
    }
}

extension JSONReader {
    fileprivate mutating func policy(_ field: String) throws(Problem) -> GesturePolicy {
        var kind: GesturePolicyKind?
        var threshold: Double?
        try object(field) { member, reader throws(Problem) in
            switch member {
            case "by": kind = try reader.word(member)
            case "threshold": threshold = try reader.double(member, in: 0...1)
            default: throw reader.unknown(member)
            }
        }
        switch kind {
        case nil: throw Problem.missing("policy.by")
        case .fraction:
            return threshold.map { .fraction(threshold: $0) } ?? .standard
        case .velocity:
            guard threshold == nil else {
                throw .invalid("policy.threshold", "can be given only where \"policy.by\" is \"fraction\"")
            }
            return .velocity
        }
    }

    /// A list of participants, each an object or just the name of its client.
    fileprivate mutating func participants(_ field: String) throws(Problem) -> [Participant] {
        var participants: [Participant] = []
        try array(field, upTo: Limits.participants) { element, reader throws(Problem) in
            let participant = try reader.participant(element)
            guard !participants.contains(where: { $0.client == participant.client }) else {
                throw reader.invalid(element, "names a client that is named before")
            }
            participants.append(participant)
        }
        return participants
    }

    private mutating func participant(_ field: String) throws(Problem) -> Participant {
        guard valueType != .string else { return Participant(client: try client(field)) }
        var client: ClientName?
        var isRequired = true
        var mayVeto = false
        try object(field) { member, reader throws(Problem) in
            switch member {
            case "client": client = try reader.client(member)
            case "required": isRequired = try reader.boolean(member)
            case "mayVeto": mayVeto = try reader.boolean(member)
            default: throw reader.unknown(member)
            }
        }
        guard let client else { throw Problem.missing(name(of: field) + ".client") }
        return Participant(client: client, isRequired: isRequired, mayVeto: mayVeto)
    }

    private mutating func client(_ field: String) throws(Problem) -> ClientName {
        try ClientName(try string(field), field: name(of: field))
    }

    fileprivate mutating func coalescing(_ field: String) throws(Problem) -> Coalescing {
        var key: CoalescingKey?
        var keep = Coalescing.Keep.latest
        var among = Coalescing.Among.queued
        try object(field) { member, reader throws(Problem) in
            switch member {
            case "key":
                key = try reader.name(member)
            case "keep": keep = try reader.word(member)
            case "among": among = try reader.word(member)
            default: throw reader.unknown(member)
            }
        }
        guard let key else { throw Problem.missing("coalesce.key") }
        return Coalescing(key: key, keep: keep, among: among)
    }
}
