extension TransitionRequest: BinaryCodable {
    /// Writes the fields of the lock, and then the others.
    ///
    /// Most requests leave all the others at their defaults, which costs one byte.
    package func encode(to writer: inout BinaryWriter) {
        writer.write(scene)
        writer.write(client)
        writer.write(scope)
        writer.write(lease)
        writer.write(ticket)
        writer.write(queue)
        writer.write(session)
        writer.write(idempotencyKey)
        writer.write(principal)
        writer.write(trace)
        let kept = keptFields
        writer.write(kept)
        if kept & Kept.priorities != 0 {
            writer.write(priority)
            writer.write(highestPriority)
        }
        guard !lacksDetails else { return }
        writer.write(operation)
        writer.write(expectations)
        writer.write(animation)
        writer.writeWord(onExpiry)
        writer.write(isInteractive)
        writer.write(policy)
        writer.write(participants)
        writer.write(ready)
        writer.writeWord(onUnready)
        writer.write(coalescing)
        writer.write(maxHold)
        if let note { writer.write(note) }
        guard kept & Kept.interruption != 0 else { return }
        writer.write(interrupts)
        writer.write(interruptibility)
    }

    /// Which fields are written besides those of the lock.
    private var keptFields: UInt8 {
        var kept: UInt8 = priority != nil || highestPriority != nil ? Kept.priorities : 0
        guard !lacksDetails else { return kept }
        kept |= Kept.details
        if interrupts || interruptibility != nil { kept |= Kept.interruption }
        if unmet == .wait { kept |= Kept.waitsUnmet }
        if ignoresGuards { kept |= Kept.ignoresGuards }
        if coalescing?.among == .unfinished { kept |= Kept.coalescesUnfinished }
        if note != nil { kept |= Kept.note }
        if mode == .shared { kept |= Kept.isShared }
        return kept
    }

    /// Which fields are kept besides those of the lock, as bits of a byte.
    private enum Kept {
        static let details: UInt8 = 1
        static let priorities: UInt8 = 2
        /// Only with the details.
        static let interruption: UInt8 = 4
        /// Only with the details, and without a field.
        static let waitsUnmet: UInt8 = 8
        /// Only with the details, and without a field.
        static let ignoresGuards: UInt8 = 16
        /// Only with a key, and without a field.
        static let coalescesUnfinished: UInt8 = 32
        /// Only with the details.
        static let note: UInt8 = 64
        /// Only with the details, and without a field.
        static let isShared: UInt8 = 128
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            scene: try reader.read(), client: try reader.readOptional(), scope: try reader.readOptional(),
            lease: try reader.readOptional(), ticket: try reader.read(), queue: try reader.readOptional(),
            session: try reader.readOptional(), idempotencyKey: try reader.readOptional(),
            principal: try reader.readOptional(), trace: try reader.readOptional(), details: nil)
        let kept: UInt8 = try reader.read()
        let hasInterruption = kept & Kept.interruption != 0
        let needDetails =
            Kept.interruption | Kept.waitsUnmet | Kept.ignoresGuards | Kept.coalescesUnfinished
            | Kept.note | Kept.isShared
        guard kept & needDetails == 0 || kept & Kept.details != 0
        else { throw reader.malformed("which fields a request has") }
        if kept & Kept.priorities != 0 {
            priority = try reader.readOptional()
            highestPriority = try reader.readOptional()
        }
        guard kept & Kept.details != 0 else { return }
        var details = Details()
        let operation: Operation? = try reader.readOptional()
        details.operation = operation.map { KeptOperation($0) }
        details.expectations = try reader.readArray()
        details.animation = try reader.readOptional()
        details.onExpiry = try reader.readWord()
        details.isInteractive = try reader.readBool()
        details.policy = try reader.read()
        details.participants = try reader.readArray()
        details.ready = try reader.read()
        details.onUnready = try reader.readWord()
        let coalescing: Coalescing? = try reader.readOptional()
        details.coalescing = coalescing
        if kept & Kept.coalescesUnfinished != 0 {
            guard let coalescing else { throw reader.malformed("coalescing without a key") }
            details.coalescing = Coalescing(key: coalescing.key, keep: coalescing.keep, among: .unfinished)
        }
        details.maxHold = try reader.readOptional()
        if kept & Kept.note != 0 { details.note = try reader.read() as Note }
        if hasInterruption {
            details.interrupts = try reader.readBool()
            details.interruptibility = try reader.readOptional()
        }
        if kept & Kept.waitsUnmet != 0 { details.unmet = .wait }
        details.ignoresGuards = kept & Kept.ignoresGuards != 0
        if kept & Kept.isShared != 0 { details.mode = .shared }
        self.details = details
    }
}

extension Participant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(client)
        writer.write(
            UInt8(
                (isRequired ? Flag.isRequired : 0) | (mayVeto ? Flag.mayVeto : 0) | (asked == nil ? 0 : Flag.isAsked)))
        writer.writeWord(state)
        guard let asked else { return }
        writer.write(asked.by)
        writer.write(asked.session)
        writer.writeWord(asked.onSilence)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        let client: ClientName = try reader.read()
        let flags = try reader.read(UInt8.self)
        guard flags < Flag.isAsked << 1 else { throw reader.malformed("a participant") }
        let state: State = try reader.readWord()
        self.init(
            client: client, isRequired: flags & Flag.isRequired != 0, mayVeto: flags & Flag.mayVeto != 0,
            asked: flags & Flag.isAsked == 0
                ? nil : Asked(by: try reader.read(), try reader.read(), try reader.readWord()))
        self.state = state
    }

    private enum Flag {
        static let isRequired: UInt8 = 1
        static let mayVeto: UInt8 = 2
        static let isAsked: UInt8 = 4
    }
}

extension Coalescing: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(key)
        writer.writeWord(keep)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(key: try reader.read(), keep: try reader.readWord())
    }
}

extension GesturePolicy: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .fraction(let threshold):
            writer.write(UInt8(0))
            writer.write(threshold)
        case .velocity:
            writer.write(UInt8(1))
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .fraction(threshold: try reader.read())
        case 1: self = .velocity
        default: throw reader.malformed("the policy of a gesture")
        }
    }
}
