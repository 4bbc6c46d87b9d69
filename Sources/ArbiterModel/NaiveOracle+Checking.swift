package import ArbiterCore

// The comparison of the oracle with the state machine.

extension NaiveOracle {
    /// Discards the grants, ends and events of the last record.
    package mutating func forgetStep() {
        granted.removeAll(keepingCapacity: true)
        endings.removeAll(keepingCapacity: true)
        departures.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
    }

    /// - Throws: `Broken` if the machine's state differs from the oracle's.
    package func check(_ machine: ArbiterStateMachine) throws(Broken) {
        for entry in line {
            guard let transition = machine.transition(entry.id), transition.state == entry.state else {
                let state = machine.transition(entry.id)?.state.rawValue ?? "unknown"
                throw Broken(.oracle, "\(entry.id) is to be \(entry.state.rawValue) and is \(state)")
            }
            try check(transition, entry)
            let waiting = try? machine.view(of: entry.id, at: Instant(nanoseconds: 0)).waiting
            let expected = entry.isGranted ? min(100, self.waiting(for: entry.id).count) : nil
            guard waiting == expected else {
                throw Broken(
                    .oracle, "\(String(describing: waiting)) wait for \(entry.id), not \(String(describing: expected))")
            }
        }
        let scenes = machine.scenes()
        let unfinished = scenes.reduce(0) { $0 + $1.running + $1.queued }
        guard unfinished == line.count else {
            throw Broken(.oracle, "\(line.count) are to be unfinished, and \(unfinished) are")
        }
        guard scenes.count == self.scenes.count else {
            throw Broken(.oracle, "\(scenes.map(\.name)) are known, not \(self.scenes.keys)")
        }
        for scene in scenes {
            guard let known = self.scenes[scene.name], known.events == scene.lastEvent.rawValue else {
                throw Broken(.event, "the last event of \(scene.name) is \(scene.lastEvent)")
            }
            let guards = machine.guards(of: scene.name)
            guard known.guards == guards else {
                throw Broken(.participants, "\(scene.name) has the guards \(guards), not \(known.guards)")
            }
        }
    }

    private func check(_ transition: Transition, _ entry: Entry) throws(Broken) {
        let members = transition.participants.map { Member($0) }
        guard members == entry.members else {
            throw Broken(.participants, "\(entry.id) has the participants \(members), not \(entry.members)")
        }
        // Checked independently of the oracle's own state, straight from the rule.
        if transition.state == .preparing,
            !transition.participants.contains(where: { $0.isRequired && $0.state == .waiting })
        {
            throw Broken(.participants, "\(entry.id) waits for nobody")
        }
        let duration = transition.grant?.animation?.duration
        guard transition.update == entry.update,
            duration == nil || entry.update?.duration == nil || duration == entry.update?.duration
        else { throw Broken(.life, "\(entry.id) is animated otherwise than its owner said") }
        guard transition.session == entry.session, transition.scope == entry.scope,
            transition.hasRememberedEnd == entry.hasRememberedEnd, transition.unmet?.expectation == entry.unmet
        else {
            throw Broken(.life, "\(entry.id) has another session, locks something else or is to end otherwise")
        }
        let interruption = transition.interruption.map {
            Interruption(by: $0.by, client: $0.client, grace: $0.grace)
        }
        guard interruption == entry.interruption, transition.consent == entry.consent else {
            throw Broken(.life, "\(entry.id) is interrupted otherwise: \(String(describing: interruption))")
        }
        if let session = transition.session, !entry.hasRememberedEnd,
            !sessions.values.contains(where: { $0.id == session })
        {
            throw Broken(.session, "\(entry.id) outlives \(session)")
        }
    }
}
