internal import ArbiterCore
internal import ArbiterRelay
internal import ArbiterTransfers

/// What nodes say to each other about sessions: values of one type, one after the other, as the journal has them.
enum GuestMessages {
    /// Where a node borrows a session from its home.
    static let lending = "/cluster/sessions/lend"
    /// Where a node reports what it has heard.
    static let reporting = "/cluster/sessions/report"

    /// The field of the answer to reports that has the shards of the homes that were not there; left out if all were.
    private static let missing = "Arbiter-Missing-Shards"

    /// The field of the answer that names the homes that were not there.
    static func fields(of missing: Set<Int>) -> [HeaderField] {
        guard !missing.isEmpty else { return [] }
        return [HeaderField(Self.missing, missing.sorted().map(String.init).joined(separator: ","))]
    }

    /// The shards of the homes whose reports were not taken; `nil` if that cannot be read.
    static func missing(saidBy head: TransferHead) -> Set<Int>? {
        guard let text = head.value(of: missing) else { return [] }
        let numbers = text.split(separator: ",").map { Int($0) }
        guard !numbers.contains(nil) else { return nil }
        return Set(numbers.compactMap { $0 })
    }

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
