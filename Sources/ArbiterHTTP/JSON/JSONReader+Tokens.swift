// Reads the tokens whose type is known from their first byte.

extension JSONReader {
    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }

    mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    /// A string, from its opening to its closing quote.
    mutating func text() throws(Problem) -> String {
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
        // ASCII is always valid UTF-8, and nearly all strings are ASCII.
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

    /// The UTF-8 bytes that an escape stands for, without its backslash.
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

    /// The nearest `Double` to a number; infinite if it is out of range.
    mutating func number() throws(Problem) -> Double {
        let start = index
        try skipNumber()
        // Most numbers are small integers, which are exact.
        if index - start <= 15, bytes[start..<index].allSatisfy(\.isDigit) {
            return Double(bytes[start..<index].reduce(0) { $0 * 10 + Int($1 & 15) })
        }
        guard let number = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw malformed("not a number")
        }
        return number
    }

    mutating func skipNumber() throws(Problem) {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
    }

    /// Reads `true`, `false` or `null`, and returns its first byte.
    mutating func literal() throws(Problem) -> UInt8 {
        for literal in ["true", "false", "null"] as [StaticString] {
            let count = literal.utf8CodeUnitCount
            // Static strings live as long as the program.
            let text = unsafe UnsafeBufferPointer(start: literal.utf8Start, count: count)
            guard let first = unsafe text.first, unsafe bytes[index...].starts(with: text) else { continue }
            index += count
            return first
        }
        throw malformed("a value is expected")
    }

    private mutating func digits() throws(Problem) {
        guard peek?.isDigit == true else { throw malformed("a digit is expected") }
        while peek?.isDigit == true { index += 1 }
    }
}

extension UInt8 {
    /// 0 to 9.
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
