internal import ArbiterCore

/// Reads JSON (RFC 8259) strictly, directly from the bytes of a request.
///
/// The caller asks for the values that it expects, so no unused values are built: Foundation's decoder costs as much as
/// everything else in a request.
struct JSONReader {
    let bytes: [UInt8]
    var index = 0
    /// The names of the open objects and arrays, the outermost first; the outermost object itself has no name.
    private var path: [String] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the whole text as one object.
    ///
    /// - Throws: `malformed-json` if it is not an object; `invalid-field` if a member is repeated; and what `member`
    ///   throws.
    static func readObject(
        _ bytes: [UInt8], _ member: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        var reader = JSONReader(bytes)
        reader.skipSpace()
        guard reader.take(UInt8(ascii: "{")) else { throw reader.malformed("a JSON object is expected") }
        try reader.members(member)
        reader.skipSpace()
        guard reader.index == bytes.count else { throw reader.malformed("something follows the object") }
    }

    /// Reads the whole text as a number; `nil` if it is not one.
    static func number(_ text: String) -> Double? {
        var reader = JSONReader(Array(text.utf8))
        guard let number = try? reader.number(), reader.index == reader.bytes.count else { return nil }
        return number
    }
}

// MARK: - Objects and arrays

extension JSONReader {
    /// Reads an object, member by member.
    ///
    /// - Throws: `invalid-field` if the value is not an object, or if a member is repeated; and what `member` throws.
    mutating func object(
        _ field: String, _ member: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        try openObject(field)
        try members(member)
        leave()
    }

    /// Reads an array, element by element.
    ///
    /// - Throws: `invalid-field` if the value is not an array, or if it has too many elements; and what `element`
    ///   throws.
    mutating func array(
        _ field: String, upTo limit: Int, _ element: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        try openArray(field)
        var count = 0
        while let name = try nextElement(count) {
            guard count < limit else {
                leave()
                throw invalid(field, "may have \(limit) elements at most")
            }
            try element(name, &self)
            count += 1
        }
        leave()
    }

    private mutating func members(
        _ member: (String, inout JSONReader) throws(Problem) -> Void
    ) throws(Problem) {
        var seen = MemberNames()
        while let name = try nextMember(&seen) { try member(name, &self) }
    }
}

// MARK: - Step by step

extension JSONReader {
    /// Enters an object; `leave` is called after its last member.
    mutating func openObject(_ field: String) throws(Problem) {
        guard take(UInt8(ascii: "{")) else { throw try mismatch(field, "an object") }
        path.append(field)
    }

    /// Enters an array; `leave` is called after its last element.
    mutating func openArray(_ field: String) throws(Problem) {
        guard take(UInt8(ascii: "[")) else { throw try mismatch(field, "an array") }
        path.append(field)
    }

    /// Leaves an object or array after its last member or element.
    mutating func leave() {
        path.removeLast()
    }

    /// Moves to the value of the next member.
    ///
    /// - Parameter seen: the names of the members before it.
    /// - Returns: its name; `nil` at the end of the object.
    /// - Throws: `malformed-json`; `invalid-field` if the name is repeated.
    mutating func nextMember(_ seen: inout MemberNames) throws(Problem) -> String? {
        skipSpace()
        if take(UInt8(ascii: "}")) { return nil }
        if !seen.isEmpty {
            guard take(UInt8(ascii: ",")) else { throw malformed("a comma or the end of the object is expected") }
            skipSpace()
        }
        guard peek == UInt8(ascii: "\"") else { throw malformed("a member's name is expected") }
        let name = try text()
        // The list is short, because the caller refuses the first unknown name.
        guard !seen.contains(name) else {
            let name = self.name(of: name)
            throw Problem(.invalidField, "The field \(quoted(name)) is given twice.", field: name)
        }
        seen.append(name)
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw malformed("a colon is expected") }
        skipSpace()
        return name
    }

    /// Moves to the next element.
    ///
    /// - Parameter count: the number of elements before it.
    /// - Returns: its index in brackets, for the name of a field; `nil` at the end of the array.
    /// - Throws: `malformed-json` if neither an element nor the end follows.
    mutating func nextElement(_ count: Int) throws(Problem) -> String? {
        skipSpace()
        if take(UInt8(ascii: "]")) { return nil }
        if count > 0 {
            guard take(UInt8(ascii: ",")) else { throw malformed("a comma or the end of the array is expected") }
            skipSpace()
        }
        return "[\(count)]"
    }
}

// MARK: - Problems

extension JSONReader {
    /// The full name of a field in the current object or array: `operation.controller.id`, `scope[1]`.
    func name(of field: String) -> String {
        guard var name = path.first else { return field }
        for part in path.dropFirst() + [field] {
            if part.utf8.first != UInt8(ascii: "[") { name += "." }
            name += part
        }
        return name
    }

    /// The problem of an unknown field.
    func unknown(_ field: String) -> Problem {
        Problem.unknown(name(of: field))
    }

    /// The problem of a required field that is missing.
    func missing(_ field: String) -> Problem {
        Problem.missing(name(of: field))
    }

    /// The problem of a field's value: `must be …`, `may have …`.
    func invalid(_ field: String, _ complaint: String) -> Problem {
        .invalid(name(of: field), complaint)
    }

    /// The problem of a value of the wrong type; throws `malformed-json` if no value follows.
    func mismatch(_ field: String, _ wanted: String) throws(Problem) -> Problem {
        guard valueType != nil else { throw malformed("a value is expected") }
        return invalid(field, "must be \(wanted)")
    }

    func malformed(_ reason: String) -> Problem {
        Problem(.malformedJSON, "The body is not valid JSON: \(reason) at byte \(index).")
    }
}

extension Problem {
    /// The problem of a field's value, given the full name of the field: `must be …`, `may have …`.
    static func invalid(_ name: String, _ complaint: String) -> Problem {
        Problem(.invalidField, "The field \(quoted(name)) \(complaint).", field: name)
    }
}
