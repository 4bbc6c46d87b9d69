/// How urgent a transition is, from -1000 to 1000: a higher priority comes first.
package struct Priority: Hashable, Comparable, Sendable {
    private let stored: Int16

    package var value: Int { Int(stored) }

    /// - Returns: `nil` if the value is not within `Limits.priorities`.
    package init?(_ value: Int) {
        guard Limits.priorities.contains(value) else { return nil }
        stored = Int16(value)
    }

    fileprivate init(unchecked value: Int) { stored = Int16(truncatingIfNeeded: value) }

    /// That of a request without one, unless its scene has another default.
    package static let standard = Priority(unchecked: 0)

    package static func < (left: Priority, right: Priority) -> Bool { left.stored < right.stored }
}

extension Priority: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(Int64(stored)) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        guard let priority = Int(exactly: try reader.readInt64()).flatMap(Priority.init) else {
            throw reader.malformed("a priority")
        }
        self = priority
    }
}

/// A place in the line of a scene: a higher priority comes first, and among equals the earlier request.
///
/// It is one number, the order of a request of the standard priority, and less for a higher priority.
package struct LinePlace: Numbered {
    package let rawValue: UInt64

    /// The bits below the priority; no arbiter counts so many requests.
    private static let orderBits = 52

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ order: RequestOrder, _ priority: Priority = .standard) {
        let signed = Int64(bitPattern: order.rawValue) &- Int64(priority.value) << Self.orderBits
        rawValue = UInt64(bitPattern: signed)
    }

    /// The place before all others.
    static let start = LinePlace(rawValue: UInt64(bitPattern: .min))

    /// The place behind all others.
    static let end = LinePlace(rawValue: UInt64(bitPattern: .max))

    /// A place before all others of a priority.
    static func beforeAll(of priority: Priority) -> LinePlace { LinePlace(RequestOrder(rawValue: 0), priority) }

    /// The place behind all others of a priority.
    static func behindAll(of priority: Priority) -> LinePlace {
        LinePlace(RequestOrder(rawValue: 1 << UInt64(orderBits) - 1), priority)
    }

    /// The highest order that a place can have.
    static let lastOrder = RequestOrder(rawValue: 1 << UInt64(orderBits) - 2)

    /// The order of the request, or of the ticket whose place it took.
    package var order: RequestOrder { RequestOrder(rawValue: rawValue & (1 << UInt64(Self.orderBits) - 1)) }

    package var priority: Priority { Priority(unchecked: -Int(signed >> Self.orderBits)) }

    private var signed: Int64 { Int64(bitPattern: rawValue) }

    package static func < (left: LinePlace, right: LinePlace) -> Bool { left.signed < right.signed }
}
