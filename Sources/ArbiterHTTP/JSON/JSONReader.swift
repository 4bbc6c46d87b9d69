internal import ArbiterCore

/// Reads JSON (RFC 8259) strictly, straight from the bytes of a request.
///
/// The caller says what it expects, so that nothing is built that nobody asked for: Foundation's decoder costs as much
/// as all the rest of a request.
struct JSONReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the whole text as one object.
    ///
    /// - Throws: `malformed-json` if it is not one, or names a member twice; and what `member` throws.
    static func readObject(
        _ bytes: [UInt8], _ member: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        var reader = JSONReader(bytes)
        reader.skipSpace()
        try reader.object(member)
        reader.skipSpace()
        guard reader.index == bytes.count else { throw reader.malformed("something follows the object") }
    }

    /// Reads the whole text as one number, and `nil` if it is not one.
    static func number(_ text: String) -> Double? {
        var reader = JSONReader(Array(text.utf8))
        guard let number = try? reader.number(), reader.index == reader.bytes.count else { return nil }
        return number
    }

    private mutating func object(_ member: (String, inout JSONReader) throws(Problem) -> Void) throws(Problem) {
        guard take(UInt8(ascii: "{")) else { throw malformed("a JSON object is expected") }
        skipSpace()
        if take(UInt8(ascii: "}")) { return }
        var seen: [String] = []
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw malformed("a member's name is expected") }
            let name = try text()
            guard !seen.contains(name) else {
                throw Problem(.invalidField, "The field \(quoted(name)) is given twice.", field: name)
            }
            seen.append(name)
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw malformed("a colon is expected") }
            skipSpace()
            try member(name, &self)
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw malformed("a comma or the end of the object is expected") }
    }
}

// MARK: - Values

extension JSONReader {
    /// - Throws: `invalid-field` if the value is not a string.
    mutating func string(_ field: String) throws(Problem) -> String {
        guard peek == UInt8(ascii: "\"") else { throw try mismatch(field, "a string") }
        return try text()
    }

    /// Reads a number of seconds.
    ///
    /// - Throws: `invalid-field` if the value is not a number within the range.
    mutating func seconds(_ field: String, in range: ClosedRange<Duration>) throws(Problem) -> Duration {
        guard let byte = peek, byte == UInt8(ascii: "-") || byte.isDigit else { throw try mismatch(field, "a number") }
        return try Duration(seconds: try number(), field: field, in: range)
    }

    /// The complaint about a value of another type than wanted, or about what is no value at all.
    private func mismatch(_ field: String, _ wanted: String) throws(Problem) -> Problem {
        guard let byte = peek, byte.isDigit || "\"{[tfn-".utf8.contains(byte) else {
            throw malformed("a value is expected")
        }
        return Problem(.invalidField, "The field \(quoted(field)) must be \(wanted).", field: field)
    }
}

// MARK: - Tokens

extension JSONReader {
    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private func malformed(_ reason: String) -> Problem {
        Problem(.malformedJSON, "The body is not valid JSON: \(reason) at byte \(index).")
    }

    /// A string, from its opening to its closing quote.
    private mutating func text() throws(Problem) -> String {
        index += 1
        let start = index
        var seen: UInt8 = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 else { break }
            seen |= byte
            index += 1
        }
        guard peek == UInt8(ascii: "\"") else { return try escapedText(from: start) }
        let plain = bytes[start..<index]
        // Nothing can be wrong with ASCII, and hardly anything else comes.
        guard let text = seen < 0x80 ? String(decoding: plain, as: UTF8.self) : String(validating: plain, as: UTF8.self)
        else { throw malformed("invalid UTF-8 in the string that ends") }
        index += 1
        return text
    }

    private mutating func escapedText(from start: Int) throws(Problem) -> String {
        var unescaped = Array(bytes[start..<index])
        while let byte = peek {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: unescaped, as: UTF8.self) else {
                    throw malformed("invalid UTF-8 in the string that ends")
                }
                return text
            case UInt8(ascii: "\\"):
                unescaped.append(contentsOf: try escape())
            case 0..<0x20:
                throw malformed("a control character in a string must be escaped")
            default:
                unescaped.append(byte)
            }
        }
        throw malformed("the string has no end")
    }

    /// What stands behind a backslash, in UTF-8.
    private mutating func escape() throws(Problem) -> [UInt8] {
        guard let byte = peek else { throw malformed("the string has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw malformed("no such escape")
        }
    }

    private mutating func unicodeEscape() throws(Problem) -> [UInt8] {
        let first = try codeUnit()
        guard UTF16.isLeadSurrogate(first) else {
            guard let scalar = Unicode.Scalar(first) else { throw malformed("half a surrogate pair") }
            return Array(String(Character(scalar)).utf8)
        }
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw malformed("half a surrogate pair") }
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw malformed("half a surrogate pair") }
        return Array(String(decoding: [first, second], as: UTF16.self).utf8)
    }

    private mutating func codeUnit() throws(Problem) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = byte.hexadecimalValue else {
                throw malformed("four hexadecimal digits are expected")
            }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }

    private mutating func number() throws(Problem) -> Double {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw malformed("not a number")
        }
        return number
    }

    private mutating func digits() throws(Problem) {
        guard peek?.isDigit == true else { throw malformed("a digit is expected") }
        while peek?.isDigit == true { index += 1 }
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
