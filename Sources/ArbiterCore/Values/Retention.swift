/// The limits on ended transitions and scenes that say what is forgotten, and when.
///
/// A replay has to forget exactly what was forgotten then: an idempotency key that is known again would contradict the records
/// after it. So a journal can name them (`Record.adopt`). Where it does not, a replay takes those of its own `Limits`.
package struct Retention: Hashable, Sendable {
    /// Scenes that exist at once; beyond it the idle one that was used longest ago is forgotten.
    package var scenes: Int
    /// Ended transitions that are kept regardless of their age.
    package var count: Int
    /// How long an ended transition is kept where `maximum` allows.
    package var duration: Duration
    /// The most ended transitions that are kept; beyond it the oldest is forgotten, regardless of its age.
    package var maximum: Int
    /// The most names in all ended transitions together; beyond it the oldest transition is forgotten.
    package var weight: Int
    /// The most bytes of all ended transitions together; beyond it the oldest transition is forgotten.
    package var bytes: Int
}

extension Limits {
    /// Those of the limits that decide what is forgotten.
    package var retention: Retention {
        Retention(
            scenes: scenes, count: retainedCount, duration: retainedDuration, maximum: retainedMaximum,
            weight: retainedWeight, bytes: retainedBytes)
    }
}

extension Retention: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        for number in [scenes, count, maximum, weight, bytes] { writer.write(UInt64(clamping: number)) }
        writer.write(duration)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        var numbers: [Int] = []
        for _ in 0..<5 {
            guard let number = Int(exactly: try reader.read(UInt64.self)) else { throw reader.malformed("a limit") }
            numbers.append(number)
        }
        (scenes, count, maximum, weight, bytes) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        duration = try reader.read()
    }
}
