/// Reads server-sent events as a browser does (https://html.spec.whatwg.org/multipage/server-sent-events.html).
package struct EventText: Sendable {
    private var rest: [UInt8] = []
    /// The events that have been read and not taken.
    package private(set) var events: [ReceivedEvent] = []
    /// The number of comments so far.
    package private(set) var comments = 0
    /// The last retry time, in milliseconds.
    package private(set) var retry: Int?
    /// The last id, which may be a cursor.
    package private(set) var lastID: String?
    private var open = ReceivedEvent(id: nil, name: "", data: "")

    package init() {}

    /// Whether the text ends at the end of an event.
    package var isComplete: Bool { rest.isEmpty && open.name.isEmpty && open.data.isEmpty }

    package mutating func append(_ bytes: some Sequence<UInt8>) {
        rest += bytes
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = lines.popLast().map(Array.init) ?? []
        for line in lines { take(String(decoding: line, as: UTF8.self)) }
    }

    /// Takes all events that have been read.
    package mutating func takeEvents() -> [ReceivedEvent] {
        defer { events = [] }
        return events
    }

    /// Takes the oldest event that has been read; `nil` if there is none.
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

/// An event as a client receives it.
package struct ReceivedEvent: Hashable, Sendable {
    package fileprivate(set) var id: UInt64?
    package fileprivate(set) var name: String
    package fileprivate(set) var data: String

    package var json: JSONValue { JSONValue(Array(data.utf8)) ?? .null }
}
