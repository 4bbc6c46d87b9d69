/// 128 random bits that only the requester of a transition or session gets; they are the right to act on it.
///
/// Written as 32 hex digits.
///
/// `description` does not contain the bits, so that no log and no crash report reveals them.
package struct Token: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package var description: String { "token" }
    package var debugDescription: String { description }

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether both tokens are equal, in a time that does not reveal where they differ.
    package func matches(_ other: Token) -> Bool {
        (high ^ other.high) | (low ^ other.low) == 0
    }
}

extension Token: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(high)
        writer.write(low)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(high: try reader.read(), low: try reader.read())
    }
}
