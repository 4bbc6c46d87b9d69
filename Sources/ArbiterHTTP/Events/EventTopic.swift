package import ArbiterCore

/// What a stream of events follows.
package enum EventTopic: Hashable, Sendable {
    case scene(SceneName)
    case allScenes

    /// The number of an event in a stream of this topic; `nil` for what is momentary.
    func number(of event: SceneEvent) -> EventNumber? {
        switch self {
        case .scene: event.number
        case .allScenes: event.overall
        }
    }

    /// A number as it is written behind `id:`.
    func text(of number: EventNumber) -> String {
        switch self {
        case .scene: String(number.rawValue)
        case .allScenes: Self.cursorMark + String(number.rawValue)
        }
    }

    /// What tells a new reader where it begins; a scene's own number says so in many ways already.
    func linesOfBeginning(at number: EventNumber) -> [UInt8] {
        switch self {
        case .scene: []
        case .allScenes: Array("id: \(text(of: number))\n\n".utf8)
        }
    }

    /// What a cursor begins with, so that it is not taken for the number of an event in its scene.
    private static let cursorMark = "c"

    /// Reads what was behind `id:`.
    ///
    /// - Throws: `invalid-field` if a stream of this topic never said that.
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
