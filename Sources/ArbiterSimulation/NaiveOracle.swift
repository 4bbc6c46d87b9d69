internal import ArbiterCore

/// The rule of granting, as plainly as it can be said, to be held against the real queue.
///
/// *A transition is granted as soon as every earlier unfinished transition that conflicts with it has ended.*
struct NaiveOracle {
    struct Entry: Hashable {
        let id: TransitionID
        let scene: SceneName
        var isRunning = false
        var completesAtGrant = false

        func conflicts(with other: Entry) -> Bool {
            scene == other.scene
        }
    }

    /// The unfinished of all scenes, in request order.
    private(set) var line: [Entry] = []
    private(set) var isHoldingGrants = false

    /// Follows a command that changed the durable state.
    mutating func apply(_ command: Command) {
        switch command {
        case .start(let request, let id, _), .serialize(let request, let id, _, _):
            line.append(Entry(id: id, scene: request.scene))
        case .end(let id, _, let outcome):
            guard let index = line.firstIndex(where: { $0.id == id }) else { break }
            if line[index].isRunning || outcome == .cancelled {
                line.remove(at: index)
            } else {
                line[index].completesAtGrant = true
            }
        case .expire(let id, _):
            line.removeAll { $0.id == id }
        case .distrust(let holdsGrants):
            isHoldingGrants = isHoldingGrants || holdsGrants
        case .resume:
            isHoldingGrants = false
        case .await, .renew, .progress, .release, .ready, .openSession, .renewSession, .endSession, .declare, .delete,
            .leave, .attach, .detach, .drain, .decide, .markReady, .settle, .closeSession, .answer:
            break
        }
        if !isHoldingGrants { grant() }
    }

    private mutating func grant() {
        var index = 0
        while index < line.count {
            let isInTheWay = line[..<index].contains { $0.conflicts(with: line[index]) }
            if !line[index].isRunning, !isInTheWay {
                if line[index].completesAtGrant {
                    line.remove(at: index)
                    // What it stood in the way of comes later in the line, so nothing is missed.
                    continue
                }
                line[index].isRunning = true
            }
            index += 1
        }
    }

    func unfinished(in scene: SceneName) -> Int { line.count { $0.scene == scene } }
    func queued(in scene: SceneName) -> Int { line.count { $0.scene == scene && !$0.isRunning } }
    func contains(_ id: TransitionID) -> Bool { line.contains { $0.id == id } }

    /// How many scenes have something unfinished.
    var busyScenes: Int {
        line.indices.count { index in !line[..<index].contains { $0.scene == line[index].scene } }
    }

    /// Holds the machine against itself.
    func check(_ machine: ArbiterStateMachine) throws(Broken) {
        for entry in line {
            let state = machine.transition(entry.id)?.state
            guard state == (entry.isRunning ? .running : .queued) else {
                let expected = entry.isRunning ? "running" : "queued"
                throw Broken(.oracle, "\(entry.id) is to be \(expected) and is \(state?.rawValue ?? "unknown")")
            }
        }
        let unfinished = machine.scenes().reduce(0) { $0 + $1.running + $1.queued }
        guard unfinished == line.count else {
            throw Broken(.oracle, "\(line.count) are to be unfinished, and \(unfinished) are")
        }
    }
}
