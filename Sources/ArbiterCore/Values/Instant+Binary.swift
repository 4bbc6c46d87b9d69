extension Instant: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(nanoseconds) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(nanoseconds: try reader.readInt64(in: Limits.storedInstants, "an instant"))
    }
}

extension Timestamp: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(milliseconds) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(milliseconds: try reader.readInt64(in: Limits.storedTimestamps, "a time"))
    }
}

extension Moment: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(instant)
        writer.write(timestamp)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(instant: try reader.read(), timestamp: try reader.read())
    }
}

/// In nanoseconds.
extension Duration: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(wholeNanoseconds) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(wholeNanoseconds: try reader.readInt64(in: Limits.storedDurations, "a duration"))
    }
}
