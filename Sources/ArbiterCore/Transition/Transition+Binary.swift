extension Transition: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(token)
        writer.write(order)
        writer.write(place)
        writer.write(isSerialized)
        writer.write(
            (isPerformed ? Kept.performed : 0) | (consent != nil ? Kept.consent : 0)
                | (fenceWhenAsked != nil ? Kept.fence : 0) | (interruption != nil ? Kept.interruption : 0)
                | (update != nil ? Kept.update : 0))
        if let consent { writer.write(consent) }
        if let fenceWhenAsked { writer.write(fenceWhenAsked) }
        if let interruption { writer.write(interruption) }
        if let update { writer.write(update) }
        writer.write(request)
        writer.write(scope)
        writer.write(lease)
        writer.write(requestedAt)
        writer.write(requestedRevision)
        writer.write(session)
        writer.write(participants)
        writer.write(gesture)
        writer.write(phase)
    }

    /// Which facts hold, or which fields follow, as bits of a byte.
    private enum Kept {
        static let performed: UInt8 = 1
        static let consent: UInt8 = 2
        static let fence: UInt8 = 4
        static let interruption: UInt8 = 8
        static let update: UInt8 = 16
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let (id, token): (TransitionID, Token) = (try reader.read(), try reader.read())
        let (order, place): (RequestOrder, LinePlace) = (try reader.read(), try reader.read())
        let isSerialized = try reader.readBool()
        let kept: UInt8 = try reader.read()
        guard kept < Kept.update << 1 else { throw reader.malformed("which fields a transition has") }
        let consent: Consent? = kept & Kept.consent != 0 ? try reader.read() : nil
        let fence: Fence? = kept & Kept.fence != 0 ? try reader.read() : nil
        let interruption: Interruption? = kept & Kept.interruption != 0 ? try reader.read() : nil
        let update: AnimationUpdate? = kept & Kept.update != 0 ? try reader.read() : nil
        self.init(
            id: id, token: token, order: order, place: place, isSerialized: isSerialized, request: try reader.read(),
            scope: try reader.read(), lease: try reader.read(), requestedAt: try reader.read(),
            requestedRevision: try reader.read(), session: try reader.readOptional(), consent: consent,
            fenceWhenAsked: fence, participants: try reader.readArray(), gesture: try reader.readOptional(),
            phase: try reader.read(), isPerformed: kept & Kept.performed != 0, interruption: interruption,
            update: update)
        guard interruption == nil || state == .running else { throw reader.malformed("an interruption") }
    }
}

/// Which facts of a queued transition hold, or which fields follow, as bits of a byte.
private enum QueuedKept {
    static let completes: UInt8 = 1
    static let unmet: UInt8 = 2
}

/// Which facts of an end hold, or which fields follow, as bits of a byte.
private enum EndingKept {
    static let noop: UInt8 = 1
    static let interrupter: UInt8 = 2
}

extension Transition.Phase: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .queued(let queued):
            writer.write(UInt8(0))
            writer.write(
                (queued.completesAtGrant ? QueuedKept.completes : 0) | (queued.unmet == nil ? 0 : QueuedKept.unmet))
            if let unmet = queued.unmet { writer.write(unmet) }
        case .running(let grant):
            writer.write(UInt8(1))
            writer.write(grant)
        case .preparing(let grant, let completes):
            writer.write(UInt8(completes ? 4 : 3))
            writer.write(grant)
        case .ended(let ending):
            writer.write(UInt8(2))
            writer.write(ending.outcome)
            writer.write(ending.grant)
            writer.write(ending.endedAt)
            writer.write(ending.change)
            writer.write(
                (ending.isNoop ? EndingKept.noop : 0) | (ending.interruptedBy == nil ? 0 : EndingKept.interrupter))
            if let interrupter = ending.interruptedBy { writer.write(interrupter) }
            writer.write(ending.appearance)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0:
            let kept: UInt8 = try reader.read()
            guard kept <= QueuedKept.completes | QueuedKept.unmet else { throw reader.malformed("a queued phase") }
            self = .queued(
                Transition.Queued(
                    completesAtGrant: kept & QueuedKept.completes != 0,
                    unmet: kept & QueuedKept.unmet != 0 ? try reader.read() : nil))
        case 1:
            self = .running(try reader.read())
        case 2:
            let (outcome, grant): (TransitionOutcome, Transition.Grant?) = (
                try reader.read(), try reader.readOptional()
            )
            let (endedAt, change): (Moment, Transition.Change?) = (try reader.read(), try reader.readOptional())
            let kept: UInt8 = try reader.read()
            guard kept <= EndingKept.noop | EndingKept.interrupter else { throw reader.malformed("an end") }
            self = .ended(
                Transition.Ending(
                    outcome: outcome, grant: grant, endedAt: endedAt, change: change,
                    isNoop: kept & EndingKept.noop != 0,
                    interruptedBy: kept & EndingKept.interrupter != 0 ? try reader.read() : nil,
                    appearance: try reader.readArray()))
        case let code where code == 3 || code == 4:
            self = .preparing(try reader.read(), completes: code == 4)
        default:
            throw reader.malformed("a phase")
        }
    }
}

extension Transition.Change: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(revision)
        writer.write(inserted)
        writer.write(removed)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(revision: try reader.read(), inserted: try reader.readArray(), removed: try reader.readArray())
    }
}

extension TransitionOutcome: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .completed: writer.write(UInt8(0))
        case .cancelled: writer.write(UInt8(1))
        case .expired(let reason):
            writer.write(UInt8(2))
            writer.write(reason)
        case .rejected(let rejection):
            writer.write(UInt8(3))
            writer.write(rejection)
        case .superseded(let other):
            writer.write(UInt8(4))
            writer.write(other)
        case .revoked(let revocation):
            writer.write(UInt8(5))
            writer.write(revocation)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .completed
        case 1: self = .cancelled
        case 2: self = .expired(try reader.read())
        case 3: self = .rejected(try reader.read())
        case 4: self = .superseded(by: try reader.read())
        case 5: self = .revoked(try reader.read())
        default: throw reader.malformed("an outcome")
        }
    }
}

extension Rejection: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .expectationFailed(let failure):
            writer.write(UInt8(0))
            writer.write(failure)
        case .invalidOperation(let refusal):
            writer.write(UInt8(refusal.index == nil ? 1 : 4))
            writer.writeWord(refusal.code)
            writer.write(refusal.detail)
            if let index = refusal.index { writer.write(UInt8(clamping: index)) }
        case .scopeGone(let controller):
            writer.write(UInt8(2))
            writer.write(controller)
        case .sceneGone: writer.write(UInt8(3))
        case .vetoed(let client, let reason):
            writer.write(UInt8(5))
            writer.write(client)
            writer.write(reason)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0:
            self = .expectationFailed(try reader.read())
        case 1:
            self = .invalidOperation(OperationRefusal(code: try reader.readWord(), detail: try reader.readText()))
        case 2: self = .scopeGone(try reader.read())
        case 3: self = .sceneGone
        case 4:
            self = .invalidOperation(
                OperationRefusal(
                    code: try reader.readWord(), detail: try reader.readText(),
                    index: Int(try reader.read(UInt8.self))))
        case 5: self = .vetoed(by: try reader.read(), try reader.readOptional())
        default: throw reader.malformed("a rejection")
        }
    }
}

extension FailedExpectation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(expectation)
        writer.write(actual)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(expectation: try reader.read(), actual: try reader.readText())
    }
}

extension ExpiryReason: BinaryCodable {
    private var code: UInt8 {
        switch self {
        case .lease: 0
        case .abandoned: 1
        case .unclaimed: 2
        case .queueTimeout: 3
        case .sessionLost: 4
        case .participants: 5
        case .hold: 6
        }
    }

    package func encode(to writer: inout BinaryWriter) { writer.write(code) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let code: UInt8 = try reader.read()
        guard let reason = Self.allCases.first(where: { $0.code == code }) else {
            throw reader.malformed("a reason to expire")
        }
        self = reason
    }
}

extension EndOutcome: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(self == .cancelled) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self = try reader.readBool() ? .cancelled : .completed
    }
}

extension DecidedGesture: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.writeWord(decision)
        writer.write(fraction)
        writer.write(completionSpeed)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            decision: try reader.readWord(), fraction: try reader.read(),
            completionSpeed: try reader.readOptional())
    }
}
