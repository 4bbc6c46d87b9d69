package import ArbiterCore

/// What an event stream follows.
package enum EventTopic: Hashable, Sendable {
    case scene(SceneName)
    case allScenes

    package func _rawHashValue(seed: Int) -> Int {
        switch self {
        case .scene(let name): name._rawHashValue(seed: seed)
        case .allScenes: seed
        }
    }

    /// The number of an event in this topic; `nil` for a momentary event.
    func number(of event: SceneEvent) -> EventNumber? {
        switch self {
        case .scene: event.number
        case .allScenes: event.overall
        }
    }

    /// The id of an event with this number.
    func text(of number: EventNumber) -> String {
        switch self {
        case .scene: String(number.rawValue)
        case .allScenes: Self.cursorMark + String(number.rawValue)
        }
    }

    /// The first lines for a new reader: the id behind which it begins.
    func linesOfBeginning(at number: EventNumber) -> [UInt8] {
        Array("id: \(text(of: number))\n\n".utf8)
    }

    /// The first character of a cursor, which distinguishes it from an event number of a scene.
    private static let cursorMark = "c"

    /// Reads an event id that a client sends.
    ///
    /// - Throws: `invalid-field` if it cannot be an id from a stream of this topic.
    func number(_ text: String, field: String) throws(Problem) -> EventNumber {
        var digits = text[...]
        let complaint: String
        switch self {
        case .scene:
            complaint = "The number of an event must be a whole number from 0."
        case .allScenes:
            complaint = "The cursor must be the id of an event that the stream has sent."
            guard digits.hasPrefix(Self.cursorMark) else { throw Problem(.invalidField, complaint, field: field) }
            digits = digits.dropFirst(Self.cursorMark.count)
        }
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let number = UInt64(digits)
        else {
            throw Problem(.invalidField, complaint, field: field)
        }
        return EventNumber(rawValue: number)
    }
}
