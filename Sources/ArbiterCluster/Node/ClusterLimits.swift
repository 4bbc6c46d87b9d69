package import ArbiterCore

/// The limits by which the shards of a cluster admit, and by which they forget, for all shards together; in JSON.
package struct ClusterLimits: Codable, Hashable, Sendable {
    /// By the names of their settings, or names like them; without those for which there is no limit.
    private let values: [String: Int]

    /// Those of the limits of a node that all nodes have to have alike.
    package init(_ limits: Limits) {
        let given = Name.allCases.compactMap { name in limits[name].map { (name.rawValue, $0) } }
        values = Dictionary(given) { first, _ in first }
    }

    package init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: Int].self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    /// The limits of a node, with these in place of its own; `nil` if another version has written them.
    package func applied(to limits: Limits) -> Limits? {
        guard values.keys.allSatisfy({ Name(rawValue: $0) != nil }) else { return nil }
        var applied = limits
        for name in Name.allCases {
            guard values[name.rawValue] != nil || name.isOptional else { return nil }
            applied[name] = values[name.rawValue]
        }
        return applied
    }

    /// The names of those that differ, each with its values here and there, in words.
    func differences(from other: ClusterLimits) -> [String] {
        Set(values.keys).union(other.values.keys).sorted().filter { values[$0] != other.values[$0] }.map { name in
            "\(name) \(values[name].map(String.init) ?? "unlimited"), not "
                + (other.values[name].map(String.init) ?? "unlimited")
        }
    }

    fileprivate enum Name: String, CaseIterable {
        case memory = "max-memory"
        case transitions = "max-transitions"
        case queued = "max-queued"
        case sessions = "max-sessions"
        case transitionsPerPrincipal = "max-transitions-per-principal"
        case sessionsPerPrincipal = "max-sessions-per-principal"
        // Without a setting; another version may have others.
        case scenes
        case ended
        case endedSeconds = "ended-seconds"
        case endedMaximum = "ended-maximum"
        case endedNames = "ended-names"
        case endedBytes = "ended-bytes"

        /// Whether there may be no limit.
        var isOptional: Bool {
            switch self {
            case .memory, .transitionsPerPrincipal, .sessionsPerPrincipal: true
            case .transitions, .queued, .sessions, .scenes, .ended, .endedSeconds, .endedMaximum, .endedNames,
                .endedBytes:
                false
            }
        }
    }
}

extension Limits {
    fileprivate subscript(name: ClusterLimits.Name) -> Int? {
        get {
            switch name {
            case .memory: memory
            case .transitions: unfinished
            case .queued: queuedPerScene
            case .sessions: sessions
            case .transitionsPerPrincipal: unfinishedPerPrincipal
            case .sessionsPerPrincipal: sessionsPerPrincipal
            case .scenes: scenes
            case .ended: retainedCount
            case .endedSeconds: Int(retainedDuration.components.seconds)
            case .endedMaximum: retainedMaximum
            case .endedNames: retainedWeight
            case .endedBytes: retainedBytes
            }
        }
        set {
            switch name {
            case .memory: memory = newValue
            case .transitions: unfinished = newValue ?? unfinished
            case .queued: queuedPerScene = newValue ?? queuedPerScene
            case .sessions: sessions = newValue ?? sessions
            case .transitionsPerPrincipal: unfinishedPerPrincipal = newValue
            case .sessionsPerPrincipal: sessionsPerPrincipal = newValue
            case .scenes: scenes = newValue ?? scenes
            case .ended: retainedCount = newValue ?? retainedCount
            case .endedSeconds: retainedDuration = newValue.map { .seconds($0) } ?? retainedDuration
            case .endedMaximum: retainedMaximum = newValue ?? retainedMaximum
            case .endedNames: retainedWeight = newValue ?? retainedWeight
            case .endedBytes: retainedBytes = newValue ?? retainedBytes
            }
        }
    }
}
