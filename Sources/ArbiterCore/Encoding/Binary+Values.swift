// The small values, in the order of their files.

extension Instant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(nanoseconds) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(nanoseconds: try reader.readInt64())
    }
}

extension Timestamp: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(milliseconds) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(milliseconds: try reader.readInt64())
    }
}

extension Moment: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(instant)
        writer.write(timestamp)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(instant: try reader.read(), timestamp: try reader.read())
    }
}

/// In nanoseconds.
extension Duration: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(wholeNanoseconds) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self = .nanoseconds(try reader.readInt64())
    }
}

extension SceneName: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        guard let name = SceneName(try reader.readText()) else { throw reader.malformed("the name of a scene") }
        self = name
    }
}

extension ClientName: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        guard let name = ClientName(try reader.readText()) else { throw reader.malformed("the name of a client") }
        self = name
    }
}

extension RevocationReason: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        guard let reason = RevocationReason(try reader.readText()) else {
            throw reader.malformed("the reason of a revocation")
        }
        self = reason
    }
}

extension IdempotencyKey: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        guard let key = IdempotencyKey(try reader.readText()) else { throw reader.malformed("an idempotency key") }
        self = key
    }
}

extension TransitionID: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(rawValue: try reader.read())
    }
}

extension Token: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(high)
        writer.write(low)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(high: try reader.read(), low: try reader.read())
    }
}

extension Fence: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(rawValue: try reader.read())
    }
}

extension RequestOrder: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(rawValue: try reader.read())
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
        }
    }

    package func encode(to writer: inout BinaryWriter) { writer.write(code) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        let code: UInt8 = try reader.read()
        guard let reason = Self.allCases.first(where: { $0.code == code }) else {
            throw reader.malformed("a reason to expire")
        }
        self = reason
    }
}

extension EndOutcome: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(self == .cancelled) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self = try reader.readBool() ? .cancelled : .completed
    }
}

extension Scope: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .scene: writer.write(UInt8(0))
        case .operation: writer.write(UInt8(1))
        case .controllers(let controllers):
            writer.write(UInt8(2))
            writer.write(controllers)
        }
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .scene
        case 1: self = .operation
        case 2: self = .controllers(try reader.readArray())
        default: throw reader.malformed("a scope")
        }
    }
}

extension TransitionRequest: BinaryCodable {
    /// The lock first; of what goes beyond it, most requests say nothing, and that is one byte.
    package func encode(to writer: inout BinaryWriter) {
        writer.write(scene)
        writer.write(client)
        writer.write(scope)
        writer.write(lease)
        writer.write(ticket)
        writer.write(queue)
        writer.write(session)
        writer.write(idempotencyKey)
        let plain = TransitionRequest(
            scene: scene, client: client, scope: scope, lease: lease, ticket: ticket, queue: queue, session: session,
            idempotencyKey: idempotencyKey)
        writer.write(self != plain)
        guard self != plain else { return }
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
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            scene: try reader.read(), client: try reader.readOptional(), scope: try reader.readOptional(),
            lease: try reader.readOptional(), ticket: try reader.read(), queue: try reader.readOptional(),
            session: try reader.readOptional(), idempotencyKey: try reader.readOptional())
        guard try reader.readBool() else { return }
        operation = try reader.readOptional()
        expectations = try reader.readArray()
        animation = try reader.readOptional()
        onExpiry = try reader.readWord()
        isInteractive = try reader.readBool()
        policy = try reader.read()
        participants = try reader.readArray()
        ready = try reader.read()
        onUnready = try reader.readWord()
        coalescing = try reader.readOptional()
    }
}
