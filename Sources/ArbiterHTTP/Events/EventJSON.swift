internal import ArbiterCore

/// Encodes server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
enum EventJSON {
    /// The name of the event with which a reader starts afresh.
    static let reset = "reset"
    /// The name of the event after the resets of all scenes: there are no other scenes.
    static let resetEnd = "reset.end"

    /// The lines of an event; a momentary event has no id, so it cannot be resumed from.
    static func encode(_ event: SceneEvent, in topic: EventTopic) -> [UInt8] {
        lines(
            id: topic.number(of: event).map(topic.text), name: event.kind.name,
            data: JSONWriter.object { $0.members(of: event) })
    }

    static func lines(id: String?, name: String, data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 64)
        bytes += beginning(id: id, name: name)
        bytes += data
        bytes += end
        return bytes
    }

    /// The lines before the data; the data has one line.
    static func beginning(id: String?, name: String) -> [UInt8] {
        Array(((id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: ").utf8)
    }

    /// The bytes after the data.
    static let end = Array("\n\n".utf8)
}

extension SceneEvent.Kind {
    /// The name of the event in a stream.
    fileprivate var name: String {
        switch self {
        case .transition(let stage, _): "transition.\(stage.rawValue)"
        case .appearance(let event, _): "controller.\(event.change.rawValue)"
        case .hierarchyChanged: "hierarchy.changed"
        case .progress: "transition.progress"
        case .sessionEnded: "session.ended"
        case .sceneDeleted: "scene.deleted"
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(of event: SceneEvent) {
        switch event.kind {
        case .transition(_, let view):
            // The transition's members include the scene. The same number must be the same event after a restart.
            summaryMembers(of: view.lasting)
        case .appearance(let appearance, let transition):
            member("scene", event.scene.description)
            member("controller", appearance.controller.description)
            member("transition", transition)
        case .progress(let transition, let progress):
            member("scene", event.scene.description)
            member("transition", transition)
            member("fraction", progress.fraction)
            if let velocity = progress.velocity { member("velocity", velocity) }
            if let sequence = progress.sequence { member("sequence", sequence) }
        case .sessionEnded(let session, let client, let ending):
            member("scene", event.scene.description)
            member("session", session.description)
            if let client { member("client", client.description) }
            member("reason", ending.rawValue)
        case .sceneDeleted:
            member("scene", event.scene.description)
        case .hierarchyChanged(let news):
            member("scene", event.scene.description)
            member("revision", news.revision.rawValue)
            if let transition = news.transition { member("transition", transition) }
            names("inserted", news.inserted)
            names("removed", news.removed)
            member("changes", news.change)
        }
        if let number = event.number { member("number", number.rawValue) }
        member("at", event.timestamp)
    }
}
