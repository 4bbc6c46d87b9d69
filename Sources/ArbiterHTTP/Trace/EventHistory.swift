internal import ArbiterCore

/// The events of a topic that are still stored, oldest first.
struct EventHistory: Sendable {
    /// Each as it is sent to readers.
    let events: [[UInt8]]
    /// The number before the oldest of them; `nil` if nothing is known of the topic.
    let floor: EventNumber?
}

extension JSONWriter {
    /// Writes an event of a stream as an object on a line of its own.
    mutating func line(ofEvent event: [UInt8]) {
        object { writer in
            // Each field has one line, and the data comes last (`EventJSON`).
            for field in event.split(separator: UInt8(ascii: "\n")) {
                guard let colon = field.firstIndex(of: UInt8(ascii: ":")) else { continue }
                let value = field[(colon + 2)...]
                switch field[..<colon] {
                case Self.id: writer.member("id", String(decoding: value, as: UTF8.self))
                case Self.event: writer.member("event", String(decoding: value, as: UTF8.self))
                default: writer.member("data", raw: Array(value))
                }
            }
        }
        endLine()
    }

    private static let id = ArraySlice("id".utf8)
    private static let event = ArraySlice("event".utf8)
}
