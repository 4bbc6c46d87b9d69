package import ArbiterCore

/// What a reader is told who has to begin anew: how everything is now that its stream follows.
package struct EventSnapshot: Hashable, Sendable {
    /// Of the last event that led there.
    package let number: EventNumber
    /// The events that tell it, as they are sent.
    let lines: [UInt8]

    /// A scene whole.
    ///
    /// - Parameters:
    ///   - number: of the last event that the scene has gone through.
    ///   - json: the scene as a JSON object, in one line.
    package init(number: EventNumber, json: [UInt8]) {
        self.number = number
        lines = EventJSON.lines(id: String(number.rawValue), name: EventJSON.reset, data: json)
    }

    /// Every scene by its counts.
    ///
    /// - Parameters:
    ///   - number: of the last event of all scenes.
    ///   - scenes: each scene as a JSON object, in one line.
    init(number: EventNumber, scenes: [[UInt8]]) {
        self.number = number
        // Only the last event has an id: a reader that is cut off before begins anew again.
        lines =
            scenes.flatMap { EventJSON.lines(id: nil, name: EventJSON.reset, data: $0) }
            + EventJSON.lines(
                id: EventTopic.allScenes.text(of: number), name: EventJSON.resetEnd,
                data: JSONWriter.object { $0.member("scenes", scenes.count) })
    }
}
