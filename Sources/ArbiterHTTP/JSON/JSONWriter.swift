internal import ArbiterCore

/// Writes JSON (RFC 8259) into bytes, member by member.
struct JSONWriter {
    var bytes: [UInt8] = []
    /// Whether the next member or element needs a comma before it.
    var needsComma = false

    init(capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// A single object.
    static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(members)
        return writer.bytes
    }

    /// A single object on a line of its own, for people at a terminal.
    static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(members)
        writer.endLine()
        return writer.bytes
    }

    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
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
        number(value)
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
        bytes.append(addingCapacity: 34) { span in
            span.append(UInt8(ascii: "\""))
            span.append(hexadecimal: value.high)
            span.append(hexadecimal: value.low)
            span.append(UInt8(ascii: "\""))
        }
    }

    /// Seconds, to the millisecond.
    mutating func member(_ name: StaticString, _ value: Duration) {
        begin(name)
        decimal((value.wholeNanoseconds + 500_000) / 1_000_000, per: 1000)
    }

    /// Writes seconds to the nanosecond.
    mutating func member(_ name: StaticString, exactly value: Duration) {
        begin(name)
        decimal(value.wholeNanoseconds, per: 1_000_000_000)
    }

    /// Writes the shortest text that is read as the same number; the value must be finite.
    mutating func member(_ name: StaticString, _ value: Double) {
        begin(name)
        number(value)
    }

    /// Writes bytes that are valid JSON already.
    mutating func member(_ name: StaticString, raw value: [UInt8]) {
        begin(name)
        bytes += value
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

    /// A member whose name is not a constant, and whose value the caller writes.
    mutating func member(named name: String, writtenBy write: (inout JSONWriter) -> Void) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
        write(&self)
        needsComma = true
    }

    mutating func null() {
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes what precedes the value of a member: a comma, if needed, and the name.
    mutating func begin(_ name: StaticString) {
        // Appended in one call, because every member of every answer is written here.
        bytes.append(addingCapacity: name.utf8CodeUnitCount + 4) { span in
            if needsComma { span.append(UInt8(ascii: ",")) }
            span.append(UInt8(ascii: "\""))
            span.append(name)
            span.append(UInt8(ascii: "\""))
            span.append(UInt8(ascii: ":"))
        }
        needsComma = true
    }
}

extension Response {
    /// A JSON object.
    static func json(_ status: Int, _ members: (inout JSONWriter) -> Void) -> Response {
        Response(status, .json, body: JSONWriter.line(members))
    }
}
