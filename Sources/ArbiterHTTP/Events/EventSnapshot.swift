package import ArbiterCore

/// The current state of everything that a stream follows, for a reader that gets a reset.
package struct EventSnapshot: Sendable {
    /// The number of the last event that the state includes.
    package let number: EventNumber
    /// The events that describe the state, encoded as they are read.
    let events: JSONDocument
    /// Its estimated size.
    var byteCount: Int { events.byteCount }

    /// The state of a whole scene.
    ///
    /// - Parameters:
    ///   - number: the number of the last event that the state includes.
    ///   - byteCount: the estimated size of the scene.
    ///   - object: the scene as a JSON object, on one line.
    init(number: EventNumber, byteCount: Int, object: [JSONDocument.Part]) {
        self.number = number
        let id = String(number.rawValue)
        events = JSONDocument(
            [.brief { $0.bytes += EventJSON.beginning(id: id, name: EventJSON.reset) }] + object
                + [.brief { $0.bytes += EventJSON.end }], keeping: byteCount)
    }

    /// All scenes of a shard with their counts.
    ///
    /// - Parameters:
    ///   - shard: the shard.
    ///   - number: the number of the last event of all scenes that the state includes.
    ///   - scenes: all scenes.
    ///   - write: writes a scene as a JSON object.
    init(
        of shard: Shard, number: EventNumber, scenes: [SceneSummary],
        _ write: @escaping @Sendable (inout JSONWriter, SceneSummary) -> Void
    ) {
        self.number = number
        let byteCount = scenes.reduce(Limits.bytesPerScene) { $0 + $1.byteCount }
        // Only the last event has an id, so a reader that loses its connection earlier gets another reset.
        let last = EventJSON.lines(
            id: EventTopic.shard(shard).text(of: number), name: EventJSON.resetEnd,
            data: JSONWriter.object { $0.member("scenes", scenes.count) })
        events = JSONDocument(
            [
                .each(scenes.indices) { writer, index in
                    writer.bytes += EventJSON.beginning(id: nil, name: EventJSON.reset)
                    write(&writer, scenes[index])
                    writer.bytes += EventJSON.end
                },
                .brief { $0.bytes += last },
            ], keeping: byteCount)
    }
}
