package import ArbiterCore

/// What a reader is told who has to begin anew: how everything is now that its stream follows.
package struct EventSnapshot: Sendable {
    /// Of the last event that led there.
    package let number: EventNumber
    /// The events that tell it, as they are sent.
    let events: JSONDocument

    /// A scene whole.
    ///
    /// - Parameters:
    ///   - number: of the last event that the scene has gone through.
    ///   - json: the scene as a JSON object, in one line.
    package init(number: EventNumber, json: [UInt8]) {
        self.init(number: number, object: [.brief { $0.bytes += json }])
    }

    /// A scene whole.
    ///
    /// - Parameters:
    ///   - number: of the last event that the scene has gone through.
    ///   - object: the scene as a JSON object, in one line.
    init(number: EventNumber, object: [JSONDocument.Part]) {
        self.number = number
        let id = String(number.rawValue)
        events = JSONDocument(
            [.brief { $0.bytes += EventJSON.beginning(id: id, name: EventJSON.reset) }] + object
                + [.brief { $0.bytes += EventJSON.end }])
    }

    /// Every scene by its counts.
    ///
    /// - Parameters:
    ///   - number: of the last event of all scenes.
    ///   - scenes: all scenes.
    ///   - write: writes one of them as a JSON object.
    init(
        number: EventNumber, scenes: [SceneSummary],
        _ write: @escaping @Sendable (inout JSONWriter, SceneSummary) -> Void
    ) {
        self.number = number
        // Only the last event has an id: a reader that is cut off before begins anew again.
        let last = EventJSON.lines(
            id: EventTopic.allScenes.text(of: number), name: EventJSON.resetEnd,
            data: JSONWriter.object { $0.member("scenes", scenes.count) })
        events = JSONDocument([
            .each(scenes.indices) { writer, index in
                writer.bytes += EventJSON.beginning(id: nil, name: EventJSON.reset)
                write(&writer, scenes[index])
                writer.bytes += EventJSON.end
            },
            .brief { $0.bytes += last },
        ])
    }
}
