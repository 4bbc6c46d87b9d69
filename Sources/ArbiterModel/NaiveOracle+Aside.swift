package import ArbiterCore

// Tickets that are set aside: they are in the line for their places only, and keep nobody waiting.

extension NaiveOracle {
    /// Whether an entry counts for the others: it is not set aside.
    package func stands(_ entry: Entry) -> Bool { entry.unmet == nil || asideBlocks }

    /// How many tickets of a scene are in the line.
    package func standing(in scene: SceneName) -> Int {
        line.count { $0.scene == scene && !$0.isGranted && $0.unmet == nil }
    }

    /// How many unfinished transitions of a scene hinder a declaration.
    package func hindering(in scene: SceneName) -> Int { line.count { $0.scene == scene && $0.unmet == nil } }

    /// The condition because of which a request is set aside now; `nil` if all hold, or if one can never hold.
    package func unmet(of request: TransitionRequest) -> ArbiterCore.Expectation? {
        let scene = scene(request.scene)
        let failed = request.expectations.filter { !scene.holds($0) }
        let isLost = failed.contains { failure in
            if case .revision(let expected) = failure { expected.rawValue < scene.revision } else { false }
        }
        return request.unmet == .wait && !isLost ? failed.first : nil
    }

    mutating func setAside(_ index: Int, because unmet: ArbiterCore.Expectation) {
        reconsider(behind: index)
        line[index].unmet = unmet
        if line[index].id != asker { tell(.transition(.updated, line[index].id), in: line[index].scene) }
    }

    /// Judges all tickets of a scene that are set aside, after a change.
    mutating func judge(_ name: SceneName) {
        // Once there are controllers, nobody gets one of several names.
        if !scene(name).tree.nodes.isEmpty {
            let choosers = line.filter { entry in
                if case .anyOf = entry.scope { entry.scene == name } else { false }
            }
            for entry in choosers.filter({ $0.unmet == nil }) + choosers.filter({ $0.unmet != nil }) {
                if case .anyOf(let names) = entry.scope { close(entry.id, as: .scopeGone(names[0])) }
            }
        }
        for index in line.indices where line[index].scene == name && line[index].unmet != nil {
            line[index].unmet = unmet(of: line[index].request)
            guard line[index].unmet == nil else { continue }
            tell(.transition(.updated, line[index].id), in: name)
            if line[index].request.interrupts { reconsidered.insert(line[index].id) }
        }
    }
}
