/// A value that can be written as bytes and read back, the same on every machine.
///
/// Integers are little-endian and of fixed width; a text is its length in bytes, then UTF-8; an optional is a byte, 0
/// or 1, then the value; an enumeration is a byte for the case, then its associated values. The encoding of a type
/// never changes: another encoding needs a new form of the journal.
package protocol BinaryCodable {
    func encode(to writer: inout BinaryWriter)

    /// Reads the value back.
    ///
    /// - Throws: `BinaryDecodingError` if the bytes are not such a value.
    init(from reader: inout BinaryReader) throws(BinaryDecodingError)
}

/// Bytes that cannot be decoded.
package struct BinaryDecodingError: Error, Hashable, Sendable {
    /// What was being read.
    package let subject: String
    /// The position of the fault, in bytes from the beginning.
    package let offset: Int
    /// Whether the bytes may be sound, of a version that is not known here.
    package let isUnknownVersion: Bool
}

/// Appends encoded values to a byte array.
package struct BinaryWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// Takes a piece of what is written, which begins at an offset, and says whether to go on.
    package typealias Sink = @Sendable (_ piece: [UInt8], _ offset: Int) -> Bool

    /// What takes the pieces, if the writer does not keep what is written.
    private let sink: Sink?
    /// The bytes that have been passed on.
    private var passedOn = 0
    private var goesOn = true

    /// The bytes that a writer with a sink holds at once, at least.
    private static let passedOnAtOnce = 1 << 20

    /// - Parameter capacity: the bytes for which memory is reserved.
    package init(capacity: Int = 0) {
        sink = nil
        bytes.reserveCapacity(capacity)
    }

    /// A writer that passes on what is written, piece by piece, instead of keeping it.
    init(to sink: @escaping Sink) {
        self.sink = sink
    }

    /// Passes on the rest.
    ///
    /// - Returns: how many bytes were written; `nil` if a piece was not taken.
    consuming func finish() -> Int? {
        passPieceOn()
        return goesOn ? passedOn : nil
    }

    /// Passes on what has gathered, if that is much.
    mutating func passOnIfMuch() {
        if sink != nil, bytes.count >= Self.passedOnAtOnce { passPieceOn() }
    }

    private mutating func passPieceOn() {
        guard let sink else { return }
        goesOn = goesOn && sink(bytes, passedOn)
        passedOn += bytes.count
        bytes.removeAll(keepingCapacity: true)
    }

    /// Forgets what was written, and keeps the memory.
    package mutating func restart() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Puts a number in the place of one that was written before.
    package mutating func replace(_ value: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }

    package mutating func write(_ value: some FixedWidthInteger & UnsignedInteger) {
        var rest = value
        for _ in 0..<MemoryLayout.size(ofValue: value) {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    package mutating func write(_ value: Int64) {
        write(UInt64(bitPattern: value))
    }

    package mutating func write(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// A text of less than 64 KiB.
    package mutating func write(_ text: String) {
        let utf8 = text.utf8
        precondition(utf8.count <= UInt16.max, "a text of \(utf8.count) bytes is too long to be kept")
        write(UInt16(utf8.count))
        bytes.append(contentsOf: utf8)
    }

    package mutating func write<Value: BinaryCodable>(_ value: Value) {
        value.encode(to: &self)
    }

    package mutating func write<Value: BinaryCodable>(_ value: Value?) {
        write(value != nil)
        if let value { write(value) }
    }

    /// One of an enumeration's words, as the word itself.
    package mutating func writeWord(_ word: some RawRepresentable<String>) {
        write(word.rawValue)
    }

    package mutating func writeWord(_ word: (some RawRepresentable<String>)?) {
        write(word != nil)
        if let word { writeWord(word) }
    }

    /// An optional byte array of fewer than 2^32 bytes: its length, then the bytes.
    package mutating func write(bytes: [UInt8]?) {
        write(bytes != nil)
        guard let bytes else { return }
        write(UInt32(bytes.count))
        self.bytes.append(contentsOf: bytes)
    }

    /// Fewer than 2^32 values: their number, then the values.
    package mutating func write<Value: BinaryCodable>(_ values: some Collection<Value>) {
        write(UInt32(values.count))
        for value in values {
            write(value)
            passOnIfMuch()
        }
    }
}

/// Decodes values from bytes, from the first to the last.
package struct BinaryReader: Sendable {
    /// Reads the next bytes from an offset on; none at the end.
    package typealias Source = @Sendable (_ offset: Int) -> [UInt8]

    private var bytes: [UInt8]
    private var offset = 0
    /// The bytes before those that are here.
    private var passed = 0
    private let source: Source?

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        source = nil
    }

    /// A reader that has only a piece of the bytes at once.
    package init(from source: @escaping Source) {
        bytes = []
        self.source = source
    }

    package var isAtEnd: Bool { offset == bytes.count && source?(passed + bytes.count).isEmpty ?? true }

    /// Whether there are so many bytes more; they are here then.
    private mutating func has(_ count: Int) -> Bool {
        bytes.count - offset >= count || fetch(count)
    }

    private mutating func fetch(_ count: Int) -> Bool {
        guard let source else { return false }
        passed += offset
        bytes.removeFirst(offset)
        offset = 0
        while bytes.count < count {
            let more = source(passed + bytes.count)
            guard !more.isEmpty else { return false }
            if bytes.isEmpty { bytes = more } else { bytes += more }
        }
        return true
    }

    /// The error for the value that was read last.
    package func malformed(_ subject: String) -> BinaryDecodingError {
        BinaryDecodingError(subject: subject, offset: passed + offset, isUnknownVersion: false)
    }

    /// The error for a version, read last, that only a newer daemon knows.
    package func unknownVersion(_ subject: String) -> BinaryDecodingError {
        BinaryDecodingError(subject: subject, offset: passed + offset, isUnknownVersion: true)
    }

    package mutating func read<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type = Value.self
    ) throws(BinaryDecodingError) -> Value {
        let size = MemoryLayout<Value>.size
        guard has(size) else { throw malformed("an integer") }
        var value: Value = 0
        for index in (0..<size).reversed() { value = value << 8 | Value(bytes[offset + index]) }
        offset += size
        return value
    }

    package mutating func readInt64() throws(BinaryDecodingError) -> Int64 {
        Int64(bitPattern: try read(UInt64.self))
    }

    /// A number that is in a range.
    package mutating func readInt64(
        in range: ClosedRange<Int64>, _ subject: String
    ) throws(BinaryDecodingError) -> Int64 {
        let value = try readInt64()
        guard range.contains(value) else { throw malformed(subject) }
        return value
    }

    package mutating func readBool() throws(BinaryDecodingError) -> Bool {
        switch try read(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw malformed("a truth value")
        }
    }

    package mutating func readText() throws(BinaryDecodingError) -> String {
        let count = Int(try read(UInt16.self))
        guard has(count),
            let text = String(validating: bytes[offset..<offset + count], as: UTF8.self)
        else { throw malformed("a text") }
        offset += count
        return text
    }

    package mutating func read<Value: BinaryCodable>(_ type: Value.Type = Value.self) throws(BinaryDecodingError)
        -> Value
    {
        try Value(from: &self)
    }

    package mutating func readOptional<Value: BinaryCodable>(
        _ type: Value.Type = Value.self
    ) throws(BinaryDecodingError) -> Value? {
        try readBool() ? try Value(from: &self) : nil
    }

    package mutating func readArray<Value: BinaryCodable>(
        of type: Value.Type = Value.self
    ) throws(BinaryDecodingError) -> [Value] {
        let count = try read(UInt32.self)
        var values: [Value] = []
        for _ in 0..<count { values.append(try Value(from: &self)) }
        return values
    }

    package mutating func readWord<Word: RawRepresentable<String>>(
        _ type: Word.Type = Word.self
    ) throws(BinaryDecodingError) -> Word {
        guard let word = Word(rawValue: try readText()) else { throw malformed("one of the words for \(Word.self)") }
        return word
    }

    package mutating func readOptionalWord<Word: RawRepresentable<String>>(
        _ type: Word.Type = Word.self
    ) throws(BinaryDecodingError) -> Word? {
        try readBool() ? try readWord() : nil
    }

    package mutating func readOptionalBytes() throws(BinaryDecodingError) -> [UInt8]? {
        guard try readBool() else { return nil }
        let count = Int(try read(UInt32.self))
        guard has(count) else { throw malformed("\(count) bytes") }
        offset += count
        return Array(bytes[offset - count..<offset])
    }
}

extension Bool: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(self) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) { self = try reader.readBool() }
}

/// As its bit pattern.
extension Double: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) { writer.write(bitPattern) }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(bitPattern: try reader.read())
    }
}
