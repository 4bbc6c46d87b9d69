/// Reads server-sent events as a browser does (https://html.spec.whatwg.org/multipage/server-sent-events.html).
package struct EventText: Sendable {
    private var rest: [UInt8] = []
    /// What has been read and not been taken.
    package private(set) var events: [ReceivedEvent] = []
    /// How many comments there were.
    package private(set) var comments = 0
    /// What was said of when to come back, in milliseconds.
    package private(set) var retry: Int?
    /// The last id that was said, which may be a cursor.
    package private(set) var lastID: String?
    private var open = ReceivedEvent(id: nil, name: "", data: "")

    package init() {}

    /// Whether everything that was received was whole.
    package var isComplete: Bool { rest.isEmpty && open.name.isEmpty && open.data.isEmpty }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        rest += bytes
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = lines.popLast().map(Array.init) ?? []
        for line in lines { take(String(decoding: line, as: UTF8.self)) }
    }

    /// Takes the events that have been read.
    package mutating func takeEvents() -> [ReceivedEvent] {
        defer { events = [] }
        return events
    }

    /// Takes the oldest of the events that have been read; `nil` if there is none.
    package mutating func takeFirstEvent() -> ReceivedEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    private mutating func take(_ line: String) {
        if line.isEmpty {
            if !open.name.isEmpty { events.append(open) }
            open = ReceivedEvent(id: nil, name: "", data: "")
        } else if line.hasPrefix(":") {
            comments += 1
        } else {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = String(parts.count > 1 ? parts[1].drop { $0 == " " } : "")
            switch parts[0] {
            case "id":
                open.id = UInt64(value)
                lastID = value
            case "event": open.name = value
            case "data": open.data += value
            case "retry": retry = Int(value)
            default: break
            }
        }
    }
}

/// One event, as a client gets it.
package struct ReceivedEvent: Hashable, Sendable {
    package fileprivate(set) var id: UInt64?
    package fileprivate(set) var name: String
    package fileprivate(set) var data: String

    package var json: JSONValue { JSONValue(Array(data.utf8)) ?? .null }
}
