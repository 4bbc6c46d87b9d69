// Sessions, participants, gestures and coalescing.

extension SessionID: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(rawValue: try reader.read())
    }
}

extension Session: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(token)
        writer.write(client)
        writer.write(timeToLive)
        writer.write(startedAt)
        writer.write(scenes.sorted { $0.description < $1.description })
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            id: try reader.read(), token: try reader.read(), client: try reader.readOptional(),
            timeToLive: try reader.read(), startedAt: try reader.read(),
            scenes: Set(try reader.readArray(of: SceneName.self)))
    }
}

extension CoalescingKey: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(description) }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        guard let key = CoalescingKey(try reader.readText()) else { throw reader.malformed("a coalescing key") }
        self = key
    }
}

extension Coalescing: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(key)
        writer.writeWord(keep)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(key: try reader.read(), keep: try reader.readWord())
    }
}

extension Participant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(client)
        writer.write(isRequired)
        writer.writeWord(state)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(client: try reader.read(), isRequired: try reader.readBool())
        state = try reader.readWord()
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

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .fraction(threshold: try reader.read())
        case 1: self = .velocity
        default: throw reader.malformed("the policy of a gesture")
        }
    }
}

extension DecidedGesture: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.writeWord(decision)
        writer.write(fraction)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(decision: try reader.readWord(), fraction: try reader.read())
    }
}
