internal import ArbiterCore

/// The events that all owners of a shard have published, also those that they replayed.
struct EventBook {
    private struct Told: Hashable {
        let scene: SceneName
        let kind: String
    }

    /// Where an owner's events have come to.
    private struct Place: Hashable {
        let node: Int
        let tenure: Int64
        let scene: SceneName
    }

    private var told: [SceneName: [UInt64: Told]] = [:]
    private var last: [Place: UInt64] = [:]
    private(set) var count = 0

    /// Notes that an owner's streams of these scenes begin anew.
    mutating func forget(from node: Int, in tenure: Int64, where isIncluded: (SceneName) -> Bool) {
        last = last.filter { place, _ in place.node != node || place.tenure != tenure || !isIncluded(place.scene) }
    }

    /// Checks that an event has one number and one content, from every node that tells it, and that no number is missing.
    mutating func note(_ event: SceneEvent, by node: Int, in tenure: Int64) throws(Broken) {
        guard let number = event.number?.rawValue else { return }
        count += 1
        let entry = Told(scene: event.scene, kind: event.kind.text)
        if let other = told[event.scene]?[number], other != entry {
            throw Broken(
                .event, "event \(number) of \(event.scene) is \(entry.kind) for node \(node), and was \(other.kind)")
        }
        told[event.scene, default: [:]][number] = entry
        let place = Place(node: node, tenure: tenure, scene: event.scene)
        if let before = last[place], number != before + 1 {
            throw Broken(.event, "node \(node) tells event \(number) of \(event.scene) after \(before)")
        }
        last[place] = number
    }
}

extension SceneEvent.Kind {
    /// What owners have to agree on, without what a replay does not know.
    fileprivate var text: String {
        switch self {
        case .transition(let stage, let view):
            "\(view.transition.id) \(stage) \(view.transition.grant?.fence.rawValue ?? 0) \(view.outcome.map { "\($0)" } ?? "")"
        case .progress: "progress"
        case .sessionEnded(let id, _, let ending): "session \(id) \(ending)"
        case .appearance(let event, let id): "\(event) of \(id)"
        case .hierarchyChanged(let update): "revision \(update.revision)"
        case .sceneDeleted: "deleted"
        }
    }
}
