internal import ArbiterCore

/// Writes JSON (RFC 8259) into bytes, member after member.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// One object and nothing else.
    static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(members)
        return writer.bytes
    }
}

// MARK: - Members of an object

extension JSONWriter {
    mutating func member(_ name: StaticString, _ value: String) {
        begin(name)
        string(value)
    }

    mutating func member(_ name: StaticString, _ value: Int) {
        begin(name)
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        number(UInt64(value.magnitude))
    }

    mutating func member(_ name: StaticString, _ value: UInt64) {
        begin(name)
        number(value)
    }

    mutating func member(_ name: StaticString, _ value: Bool) {
        begin(name)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    mutating func member(_ name: StaticString, _ value: TransitionID) {
        begin(name)
        identifier(value)
    }

    mutating func member(_ name: StaticString, _ values: [TransitionID]) {
        array(name, values) { writer, value in writer.identifier(value) }
    }

    mutating func member(_ name: StaticString, _ value: Token) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        hexadecimal(value.high)
        hexadecimal(value.low)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Seconds, to the millisecond.
    mutating func member(_ name: StaticString, _ value: Duration) {
        begin(name)
        let milliseconds = (value.wholeNanoseconds + 500_000) / 1_000_000
        number(UInt64(milliseconds / 1000))
        guard milliseconds % 1000 != 0 else { return }
        bytes.append(UInt8(ascii: "."))
        threeDigits(milliseconds % 1000)
        while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
    }

    /// RFC 3339, in UTC, to the millisecond.
    mutating func member(_ name: StaticString, _ value: Timestamp) {
        begin(name)
        bytes.append(UInt8(ascii: "\""))
        timestamp(value)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func object(_ name: StaticString, _ members: (inout JSONWriter) -> Void) {
        begin(name)
        object(members)
    }

    mutating func array<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        begin(name)
        self.elements(elements, write)
    }

    /// A member whose name is not known beforehand, and whose value is written by the caller.
    mutating func member(named name: String, writtenBy write: (inout JSONWriter) -> Void) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
        write(&self)
        needsComma = true
    }

    private mutating func begin(_ name: StaticString) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        // Static strings live as long as the program.
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = true
    }
}

// MARK: - Values

extension JSONWriter {
    mutating func elements<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(&self, element)
        }
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    mutating func object(_ members: (inout JSONWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        members(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    mutating func string(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        guard value.utf8.contains(where: Self.needsEscape) else {
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default:
                bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// `true`, `false`, `null` or a number, as it is.
    mutating func literal(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func identifier(_ value: TransitionID) {
        bytes.append(UInt8(ascii: "\""))
        value.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func hexadecimal(_ value: UInt64) {
        for position in (0..<16).reversed() {
            bytes.append(Self.digits[Int(value >> UInt64(4 * position) & 15)])
        }
    }

    private mutating func number(_ value: UInt64) {
        if value >= 10 { number(value / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    private mutating func twoDigits(_ value: Int64) {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    private mutating func threeDigits(_ value: Int64) {
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100))
        twoDigits(value % 100)
    }

    private mutating func timestamp(_ value: Timestamp) {
        let milliseconds = value.milliseconds
        let day: Int64 = 86_400_000
        let date = CivilDate(daysSince1970: (milliseconds >= 0 ? milliseconds : milliseconds - (day - 1)) / day)
        let ofDay = milliseconds - date.daysSince1970 * day
        twoDigits(date.year / 100)
        twoDigits(date.year % 100)
        bytes.append(UInt8(ascii: "-"))
        twoDigits(date.month)
        bytes.append(UInt8(ascii: "-"))
        twoDigits(date.day)
        bytes.append(UInt8(ascii: "T"))
        twoDigits(ofDay / 3_600_000)
        bytes.append(UInt8(ascii: ":"))
        twoDigits(ofDay / 60_000 % 60)
        bytes.append(UInt8(ascii: ":"))
        twoDigits(ofDay / 1000 % 60)
        bytes.append(UInt8(ascii: "."))
        threeDigits(ofDay % 1000)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
