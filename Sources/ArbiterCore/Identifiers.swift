/// The name of one arbitrated interface: `[A-Za-z0-9._-]{1,64}`, but neither `.` nor `..`.
///
/// Those two mean something else in a path, where clients take them out.
package struct SceneName: Hashable, Sendable, CustomStringConvertible {
    package static let main = SceneName(unchecked: "main")

    package let description: String

    /// - Returns: `nil` if the text is not a scene name.
    package init?(_ text: String) {
        guard text.isIdentifier(upTo: Limits.sceneNameBytes, allowing: { $0.isNameByte }), text != ".", text != ".."
        else { return nil }
        description = text
    }

    private init(unchecked text: String) {
        description = text
    }
}

/// The name of a node of a scene's hierarchy: `[A-Za-z0-9._:-]{1,128}`.
package struct ControllerID: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is not a controller id.
    package init?(_ text: String) {
        let colon = UInt8(ascii: ":")
        guard text.isIdentifier(upTo: Limits.controllerIDBytes, allowing: { $0.isNameByte || $0 == colon }) else {
            return nil
        }
        description = text
    }
}

/// The name a process gives itself, for people to read: 1 to 128 bytes without control characters.
///
/// It proves nothing.
package struct ClientName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds a control character.
    package init?(_ text: String) {
        guard text.isPlain(upTo: Limits.clientNameBytes) else { return nil }
        description = text
    }
}

/// Why an administrator revoked a transition, for people to read: 1 to 256 bytes without control characters.
package struct RevocationReason: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds a control character.
    package init?(_ text: String) {
        guard text.isPlain(upTo: Limits.revocationReasonBytes) else { return nil }
        description = text
    }
}

/// The name of a kind of animation: 1 to 128 bytes without control characters.
package struct TransitionTypeName: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds a control character.
    package init?(_ text: String) {
        guard text.isPlain(upTo: Limits.transitionTypeBytes) else { return nil }
        description = text
    }
}

/// The name of a segue, unique among those of its source: 1 to 128 bytes without control characters.
package struct SegueIdentifier: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds a control character.
    package init?(_ text: String) {
        guard text.isPlain(upTo: Limits.segueIdentifierBytes) else { return nil }
        description = text
    }
}

/// What a client knows a request by when it asks again: 1 to 255 visible ASCII characters.
///
/// Whoever knows it gets the token again.
package struct IdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds anything but visible ASCII.
    package init?(_ text: String) {
        guard text.isIdentifier(upTo: Limits.idempotencyKeyBytes, allowing: { 0x21...0x7e ~= $0 }) else { return nil }
        description = text
    }
}

/// The identity of a transition, written `t-` and 13 digits of Crockford's base 32.
package struct TransitionID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// - Returns: `nil` if the text is not written exactly as `description` writes it.
    package init?(_ text: String) {
        var bytes = text.utf8.makeIterator()
        guard bytes.next() == UInt8(ascii: "t"), bytes.next() == UInt8(ascii: "-") else { return nil }
        var value: UInt64 = 0
        for position in 0..<Self.digitCount {
            guard let byte = bytes.next(), let digit = Self.values[Int(byte)] else { return nil }
            // Thirteen digits hold 65 bits, one more than there are.
            guard position > 0 || digit < 16 else { return nil }
            value = value << 5 | UInt64(digit)
        }
        guard bytes.next() == nil else { return nil }
        rawValue = value
    }

    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes the id as `description` does, without a string in between.
    package func append(to text: inout [UInt8]) {
        text.append(UInt8(ascii: "t"))
        text.append(UInt8(ascii: "-"))
        for position in (0..<Self.digitCount).reversed() {
            text.append(Self.digits[Int(rawValue >> UInt64(5 * position) & 31)])
        }
    }

    private static let digitCount = 13
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    /// The value of each byte that is a digit.
    private static let values = (UInt8.min...UInt8.max).map { byte in digits.firstIndex(of: byte).map(UInt8.init) }
}

/// The identity of a session, written `s-` and 13 digits of Crockford's base 32.
package struct SessionID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package var description: String { "s-" + TransitionID(rawValue: rawValue).description.dropFirst(2) }

    package static func < (left: SessionID, right: SessionID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What transitions that want the same are known by: 1 to 128 bytes without control characters.
package struct CoalescingKey: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` if the text is empty, too long or holds a control character.
    package init?(_ text: String) {
        guard text.isPlain(upTo: Limits.coalescingKeyBytes) else { return nil }
        description = text
    }
}

/// 128 random bits that only the requester of a transition or session gets; whoever has them may act on it.
///
/// Written as 32 hex digits.
///
/// It describes itself as nothing, so that no log and no crash report gives it away.
package struct Token: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package var description: String { "token" }
    package var debugDescription: String { description }

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether both are the same, in a time that tells nothing of where they differ.
    package func matches(_ other: Token) -> Bool {
        (high ^ other.high) | (low ^ other.low) == 0
    }
}

/// A number given at grant, greater than every one given before: a resource can refuse a holder that was overtaken.
package struct Fence: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: Fence, right: Fence) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// An event's place among those of its scene, which grows by one.
///
/// A scene that is made begins behind every number that was ever given, so that none means two events.
package struct EventNumber: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: EventNumber, right: EventNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// How often a scene's hierarchy has changed since the scene was made.
package struct Revision: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: Revision, right: Revision) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A transition's place in request order, counted over all scenes from 1.
package struct RequestOrder: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: RequestOrder, right: RequestOrder) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// One parked await, numbered by whoever parks it, upwards, and never used twice.
package struct WaiterID: Hashable, Sendable, Comparable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (left: WaiterID, right: WaiterID) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension String {
    fileprivate func isPlain(upTo limit: Int) -> Bool {
        isIdentifier(upTo: limit) { _ in true }
            && unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    fileprivate func isIdentifier(upTo limit: Int, allowing isAllowed: (UInt8) -> Bool) -> Bool {
        let bytes = utf8
        return !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy(isAllowed)
    }
}

extension UInt8 {
    /// `[A-Za-z0-9._-]`.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
