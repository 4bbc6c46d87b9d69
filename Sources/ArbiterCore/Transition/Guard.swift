/// A client's standing wish to be asked before controllers of a scene are removed.
///
/// It ends with its session. Its ids are those of controllers that may not exist yet, or no longer.
package struct Guard: Hashable, Sendable {
    package let id: GuardID
    package let session: SessionID
    /// The client of the session.
    package let client: ClientName
    /// At least one, each once.
    package let controllers: [ControllerID]
    /// What happens to a transition for which the client has said nothing in time.
    package let onSilence: UnreadyAction

    package init(
        id: GuardID, session: SessionID, client: ClientName, controllers: [ControllerID], onSilence: UnreadyAction
    ) {
        self.id = id
        self.session = session
        self.client = client
        self.controllers = controllers
        self.onSilence = onSilence
    }

    /// The participant that a transition gets because of it.
    package var participant: Participant {
        Participant(client: client, mayVeto: true, asked: Participant.Asked(by: id, session, onSilence))
    }
}

extension Scene {
    /// The guards that a transition has to ask before it runs: those of controllers that its operation removes.
    ///
    /// - Parameters:
    ///   - plan: what its operation changes.
    ///   - session: the session that it is bound to, which is not asked itself.
    /// - Returns: the guards in the order in which they were set.
    func guards(against plan: OperationPlan?, of session: SessionID?) -> [Guard] {
        guard !guards.isEmpty, let plan, !plan.removed.isEmpty else { return [] }
        let removed = Set(plan.removed)
        let near = guards.filter { $0.session != session && $0.controllers.contains { isBelow(removed, $0) } }
        guard !near.isEmpty else { return [] }
        // What is below may leave before. One that goes may come again with the same id, and is another one then.
        var after = storyboard.hierarchy
        let gone = Set(after.apply(plan.steps).departed)
        return near.filter { !gone.isDisjoint(with: $0.controllers) }
    }

    /// Whether there is a controller, and it is one of these or below one.
    private func isBelow(_ tops: Set<ControllerID>, _ controller: ControllerID) -> Bool {
        var next = storyboard.hierarchy[controller]
        while let known = next {
            if tops.contains(known.id) { return true }
            next = known.parent.flatMap { storyboard.hierarchy[$0] }
        }
        return false
    }

    /// The controllers that are guarded, with how often.
    var guardedCount: Int { guards.reduce(0) { $0 + $1.controllers.count } }
}

extension Guard: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(id)
        writer.write(session)
        writer.write(client)
        writer.write(controllers)
        writer.writeWord(onSilence)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        self.init(
            id: try reader.read(), session: try reader.read(), client: try reader.read(),
            controllers: try reader.readArray(), onSilence: try reader.readWord())
    }
}
