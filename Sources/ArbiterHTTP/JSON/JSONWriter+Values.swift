internal import ArbiterCore

// Writes values, each after the name of a member or into an array.

extension JSONWriter {
    mutating func elements<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        beginArray()
        for element in elements {
            beginElement()
            write(&self, element)
        }
        endArray()
    }

    mutating func object(_ members: (inout JSONWriter) -> Void) {
        beginObject()
        members(&self)
        endObject()
    }

    mutating func beginObject() {
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    mutating func beginArray() {
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Writes the comma before an element, if one is needed.
    mutating func beginElement() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    mutating func string(_ value: String) {
        let text = value.utf8.span
        guard text.indices.contains(where: { Self.needsEscape(text[$0]) }) else {
            bytes.append(addingCapacity: text.count + 2) { span in
                span.append(UInt8(ascii: "\""))
                for index in text.indices { span.append(text[index]) }
                span.append(UInt8(ascii: "\""))
            }
            return
        }
        bytes.append(UInt8(ascii: "\""))
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

    /// Writes `true`, `false`, `null` or a number literally.
    mutating func literal(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func identifier(_ value: TransitionID) {
        bytes.append(UInt8(ascii: "\""))
        value.append(to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func number(_ value: Int) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        number(UInt64(value.magnitude))
    }

    mutating func number(_ value: UInt64) {
        if value >= 10 { number(value / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Writes the shortest text that is read as the same number.
    mutating func number(_ value: Double) {
        precondition(value.isFinite, "JSON has no \(value)")
        if value.magnitude < 0x1p53, let integer = Int(exactly: value) {
            number(integer)
        } else {
            // All other descriptions by the standard library are valid JSON: 0.1, 5e-324, 1.8e+19.
            bytes.append(contentsOf: value.description.utf8)
        }
    }

    /// Writes a decimal fraction, given as a count of parts and the number of parts in one.
    mutating func decimal(_ parts: Int64, per one: UInt64) {
        if parts < 0 { bytes.append(UInt8(ascii: "-")) }
        number(UInt64(parts.magnitude / one))
        var rest = parts.magnitude % one
        guard rest != 0 else { return }
        bytes.append(UInt8(ascii: "."))
        var place = one / 10
        while rest > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / place))
            rest %= place
            place /= 10
        }
    }

    /// RFC 3339, in UTC, to the millisecond.
    mutating func timestamp(_ value: Timestamp) {
        let milliseconds = value.milliseconds
        let day: Int64 = 86_400_000
        let date = CivilDate(daysSince1970: (milliseconds >= 0 ? milliseconds : milliseconds - (day - 1)) / day)
        let ofDay = milliseconds - date.daysSince1970 * day
        bytes.append(addingCapacity: 24) { span in
            span.append(twoDigits: date.year / 100)
            span.append(twoDigits: date.year % 100)
            span.append(UInt8(ascii: "-"))
            span.append(twoDigits: date.month)
            span.append(UInt8(ascii: "-"))
            span.append(twoDigits: date.day)
            span.append(UInt8(ascii: "T"))
            span.append(twoDigits: ofDay / 3_600_000)
            span.append(UInt8(ascii: ":"))
            span.append(twoDigits: ofDay / 60_000 % 60)
            span.append(UInt8(ascii: ":"))
            span.append(twoDigits: ofDay / 1000 % 60)
            span.append(UInt8(ascii: "."))
            span.append(digit: ofDay % 1000 / 100)
            span.append(twoDigits: ofDay % 100)
            span.append(UInt8(ascii: "Z"))
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

extension OutputSpan<UInt8> {
    mutating func append(_ text: StaticString) {
        // Static strings live as long as the program.
        let source = unsafe UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            precondition(buffer.count - count >= source.count, "there is no room for \(text)")
            unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                .copyMemory(from: source)
            count += source.count
        }
    }

    /// Appends the last decimal digit of a number.
    fileprivate mutating func append(digit value: Int64) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    fileprivate mutating func append(twoDigits value: Int64) {
        append(digit: value / 10)
        append(digit: value)
    }

    /// Appends sixteen digits.
    mutating func append(hexadecimal value: UInt64) {
        for position in (0..<16).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * position) & 15)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
        }
    }
}
