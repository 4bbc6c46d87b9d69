internal import ArbiterCore

/// What nodes say to each other about sessions: values of one type, one after the other, as the journal has them.
enum GuestMessages {
    /// Where a node borrows a session from its home.
    static let lending = "/cluster/sessions/lend"
    /// Where a node reports what it has heard.
    static let reporting = "/cluster/sessions/report"

    static func bytes(of values: [some BinaryCodable]) -> [UInt8] {
        var writer = BinaryWriter()
        for value in values { writer.write(value) }
        return writer.bytes
    }

    /// Reads values; `nil` if they are malformed.
    static func values<Value: BinaryCodable>(_ bytes: [UInt8], of type: Value.Type = Value.self) -> [Value]? {
        var (reader, values) = (BinaryReader(bytes), [Value]())
        while !reader.isAtEnd {
            guard let value = try? Value(from: &reader) else { return nil }
            values.append(value)
        }
        return values
    }
}
