/// An id or a position in an order, represented by a number.
package protocol Numbered: Hashable, Comparable, Sendable, BinaryCodable {
    var rawValue: UInt64 { get }

    init(rawValue: UInt64)
}

extension Numbered {
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Mixes the bits of the number, which is much faster than SipHash.
    ///
    /// Clients choose none of these numbers, so they cannot make them collide.
    package func _rawHashValue(seed: Int) -> Int {
        Int(truncatingIfNeeded: rawValue).mixed(with: seed)
    }

    package func encode(to writer: inout BinaryWriter) { writer.write(rawValue) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(rawValue: try reader.read())
    }
}

extension Int {
    /// A hash of a number that no client can choose.
    package func mixed(with seed: Int) -> Int {
        let mixed = UInt64(bitPattern: Int64(self ^ seed)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: mixed ^ mixed >> 32)
    }
}

/// A number that clients see, written as a letter, a hyphen and 13 digits of Crockford's base 32.
package protocol WrittenID: Numbered, CustomStringConvertible {
    /// The letter, in ASCII.
    static var letter: UInt8 { get }
}

extension WrittenID {
    /// - Returns: `nil` if the text is not written exactly as `description` writes it.
    package init?(_ text: String) {
        var bytes = text.utf8.makeIterator()
        guard bytes.next() == Self.letter, bytes.next() == UInt8(ascii: "-") else { return nil }
        var value: UInt64 = 0
        for position in 0..<Base32.digitCount {
            guard let byte = bytes.next(), let digit = Base32.values[Int(byte)] else { return nil }
            // Thirteen digits hold 65 bits, one more than a `UInt64`.
            guard position > 0 || digit < 16 else { return nil }
            value = value << 5 | UInt64(digit)
        }
        guard bytes.next() == nil else { return nil }
        self.init(rawValue: value)
    }

    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of `description`, without creating a string.
    package func append(to text: inout [UInt8]) {
        text.append(Self.letter)
        text.append(UInt8(ascii: "-"))
        for position in (0..<Base32.digitCount).reversed() {
            text.append(Base32.digits[Int(rawValue >> UInt64(5 * position) & 31)])
        }
    }
}

/// Crockford's base 32, in lower case.
private enum Base32 {
    /// The digits of a 64-bit number.
    static let digitCount = 13
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// The value of each byte that is a digit; `nil` for other bytes.
    static let values = (UInt8.min...UInt8.max).map { byte in digits.firstIndex(of: byte).map(UInt8.init) }
}

/// The identity of a transition: `t-7f3k9v0m2c5xq`.
package struct TransitionID: WrittenID {
    package static var letter: UInt8 { UInt8(ascii: "t") }
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The identity of a session: `s-7f3k9v0m2c5xq`.
package struct SessionID: WrittenID {
    package static var letter: UInt8 { UInt8(ascii: "s") }
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The identity of a guard: `g-7f3k9v0m2c5xq`.
package struct GuardID: WrittenID {
    package static var letter: UInt8 { UInt8(ascii: "g") }
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A number given at the grant, greater than every one before, so that a resource can refuse an overtaken holder.
package struct Fence: Numbered {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An event's number in its scene; each event has the next number.
///
/// A scene that is created again continues after every number that was ever used, so that no number means two events.
package struct EventNumber: Numbered {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Counts the changes of a scene's hierarchy.
package struct Revision: Numbered {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A transition's place in request order, counted over all scenes from 1.
package struct RequestOrder: Numbered {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The number of a parked await; the engine never uses a number twice.
package struct WaiterID: Numbered {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
