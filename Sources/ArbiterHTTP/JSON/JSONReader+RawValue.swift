extension JSONReader {
    /// Reads any value, including `null`, and returns it as it was sent, without the white space between its tokens.
    ///
    /// Numbers may have any size and members may be repeated, because only clients interpret the value.
    ///
    /// - Throws: `invalid-field` if it has too many bytes or levels; `malformed-json` if it is not valid JSON.
    mutating func rawValue(
        _ field: String, upTo limit: Int, nestedUpTo depth: Int = 64
    ) throws(Problem) -> [UInt8] {
        var raw: [UInt8] = []
        // The closing brackets of the open objects and arrays, the innermost last.
        var ends: [UInt8] = []
        repeat {
            if ends.last == UInt8(ascii: "}") { try rawName(to: &raw) }
            let start = index
            let type = valueType
            switch type {
            case .string: _ = try text()
            case .number: try skipNumber()
            case .boolean, .null: _ = try literal()
            case .object, .array: index += 1
            case nil: throw malformed("a value is expected")
            }
            raw += bytes[start..<index]
            if type == .object || type == .array {
                guard ends.count < depth else { throw invalid(field, "may be nested \(depth) levels deep at most") }
                ends.append(type == .object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                skipSpace()
                guard peek == ends.last else { continue }
            }
            try rawEnds(&ends, to: &raw)
            guard raw.count <= limit else {
                throw invalid(field, "may have \(limit) bytes at most, without the space between them")
            }
        } while !ends.isEmpty
        return raw
    }

    /// A member's name and its colon.
    private mutating func rawName(to raw: inout [UInt8]) throws(Problem) {
        guard peek == UInt8(ascii: "\"") else { throw malformed("a member's name is expected") }
        let start = index
        _ = try text()
        raw += bytes[start..<index]
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw malformed("a colon is expected") }
        raw.append(UInt8(ascii: ":"))
        skipSpace()
    }

    /// Reads what follows a value: closing brackets, and then a comma unless the whole value is complete.
    private mutating func rawEnds(_ ends: inout [UInt8], to raw: inout [UInt8]) throws(Problem) {
        while let end = ends.last {
            skipSpace()
            if take(end) {
                raw.append(end)
                ends.removeLast()
                continue
            }
            guard take(UInt8(ascii: ",")) else {
                throw malformed(
                    "a comma or the end of the \(end == UInt8(ascii: "}") ? "object" : "array") is expected")
            }
            raw.append(UInt8(ascii: ","))
            skipSpace()
            return
        }
    }
}
