internal import ArbiterCore

/// What a command came to, perhaps with a fault in it.
struct Applied {
    var reply: Result<Reply, ArbiterError>
    var effects: [Effect]
    var record: Command?

    init(_ outcome: Outcome) {
        reply = outcome.reply
        effects = outcome.effects
        record = outcome.record
    }

    /// What is told to whoever follows the scenes, in order.
    var events: [SceneEvent] {
        effects.compactMap { if case .publish(let event) = $0 { event } else { nil } }
    }
}
