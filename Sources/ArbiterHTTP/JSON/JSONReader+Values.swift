internal import ArbiterCore

// Values of a given type; any other value, including `null`, is refused with the field's name.

extension JSONReader {
    /// The types of JSON values.
    enum ValueType: Hashable, Sendable {
        case string
        case number
        case boolean
        case null
        case object
        case array
    }

    /// The type of the next value, by its first byte; `nil` if no value begins with that byte.
    var valueType: ValueType? {
        guard let byte = peek else { return nil }
        switch byte {
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        default: return nil
        }
    }

    /// - Throws: `invalid-field` if the value is not a string.
    mutating func string(_ field: String) throws(Problem) -> String {
        guard peek == UInt8(ascii: "\"") else { throw try mismatch(field, "a string") }
        return try text()
    }

    /// Reads `null`, if that is the value.
    mutating func isNull() throws(Problem) -> Bool {
        guard valueType == .null else { return false }
        _ = try literal()
        return true
    }

    /// - Throws: `invalid-field` if the value is neither `true` nor `false`.
    mutating func boolean(_ field: String) throws(Problem) -> Bool {
        guard valueType == .boolean else { throw try mismatch(field, "true or false") }
        return try literal() == UInt8(ascii: "t")
    }

    /// Reads an integer, which may be written as `2`, `2.0` or `2e0`.
    ///
    /// - Throws: `invalid-field` if the value is not an integer within the range.
    mutating func integer(_ field: String, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard valueType == .number else { throw try mismatch(field, range.words) }
        let start = index
        let number = try number()
        let digits = String(decoding: bytes[start..<index], as: UTF8.self)
        // From 2^53 on, a number that is not written as an integer may have been rounded to one.
        guard let integer = Int(digits) ?? (number.magnitude < 0x1p53 ? Int(exactly: number) : nil),
            range.contains(integer)
        else { throw invalid(field, "must be \(range.words)") }
        return integer
    }

    /// - Throws: `invalid-field` if the value is not a number within the range.
    mutating func double(
        _ field: String,
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) throws(Problem) -> Double {
        guard valueType == .number else { throw try mismatch(field, "a number") }
        let number = try number()
        guard range.contains(number) else {
            throw invalid(field, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads a number of seconds.
    ///
    /// - Throws: `invalid-field` if the value is not a number within the range.
    mutating func seconds(_ field: String, in range: ClosedRange<Duration>) throws(Problem) -> Duration {
        guard valueType == .number else { throw try mismatch(field, "a number") }
        return try Duration(seconds: try number(), field: name(of: field), in: range)
    }

    /// - Throws: `invalid-field` if the value is not an integer within `Limits.priorities`.
    mutating func priority(_ field: String) throws(Problem) -> Priority {
        guard let priority = Priority(try integer(field, in: Limits.priorities)) else {
            preconditionFailure("\(Limits.priorities) are no priorities")
        }
        return priority
    }

    /// - Throws: `invalid-field` if the value is not one of the words.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ field: String, as _: Word.Type = Word.self
    ) throws(Problem) -> Word where Word.RawValue == String {
        let text = try string(field)
        guard let word = Word(rawValue: text) else { return try Word(text, field: name(of: field)) }
        return word
    }

    /// - Throws: `invalid-field` if the value is not a valid name of this kind.
    mutating func name<Name: CheckedName>(_ field: String, as _: Name.Type = Name.self) throws(Problem) -> Name {
        guard let name = Name(try string(field)) else { throw invalid(field, "must be \(Name.kind), \(Name.rule)") }
        return name
    }
}

extension ClosedRange<Int> {
    fileprivate var words: String {
        switch (lowerBound, upperBound) {
        case (.min, .max): "a whole number of 64 bits"
        case (_, .max): "a whole number, \(lowerBound) or more"
        default: "a whole number from \(lowerBound) to \(upperBound)"
        }
    }
}
