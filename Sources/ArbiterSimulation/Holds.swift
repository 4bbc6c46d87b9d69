internal import ArbiterCore

/// Who believes to hold what: not what the machine thinks, but what the owners have been told.
///
/// An owner believes to hold its scope from the answer that says so until it sends its end, until what was left of its
/// lease when it last heard of it is over, or until the session is over that it bound its transition to. It goes by its
/// own clock, which does not stand still when the arbiter's does.
struct Holds {
    private struct Hold {
        let id: TransitionID
        let scene: SceneName
        /// The controllers whose subtrees it holds; `nil` for the whole scene.
        let locked: [ControllerID]?
        var until: Instant
        /// How often the machine had died when the owner was told.
        var machineDeaths: Int
    }

    private var holds: [Hold] = []
    private var relinquished: Set<TransitionID> = []

    /// An owner was told that it holds.
    mutating func claim(
        _ view: TransitionView, _ locked: [ControllerID]?, in scene: NaiveScene, heardAt heard: Instant, now: Instant,
        isRevived: Bool, machineDeaths: Int
    ) throws(Broken) {
        let id = view.transition.id
        guard let remaining = view.leaseRemaining, !relinquished.contains(id) else { return }
        let name = view.transition.request.scene
        let until = heard.advanced(by: remaining)
        holds.removeAll { $0.until <= now }
        guard until > now else { return }
        // Where the journal has lost an end, the owner of then can be told for a while that it holds again: only the
        // fence tells the two apart.
        for other in holds where other.scene == name && other.id != id && scene.conflict(other.locked, locked) {
            if isRevived && other.machineDeaths < machineDeaths { continue }
            throw Broken(.exclusion, "\(id) and \(other.id) are both told to hold the same of \(name)")
        }
        if let index = holds.firstIndex(where: { $0.id == id }) {
            holds[index].until = max(holds[index].until, until)
            holds[index].machineDeaths = machineDeaths
        } else {
            holds.append(Hold(id: id, scene: name, locked: locked, until: until, machineDeaths: machineDeaths))
        }
    }

    /// The owner has sent its end, which may arrive or not, or it knows otherwise that it holds no more.
    mutating func relinquish(_ id: TransitionID) {
        relinquished.insert(id)
        holds.removeAll { $0.id == id }
    }

    /// Whether its owner believes to hold it.
    func isHeld(_ id: TransitionID, at now: Instant) -> Bool {
        holds.contains { $0.id == id && $0.until > now }
    }

    /// A transition is granted: nobody may believe to hold what conflicts with it.
    func checkGrant(
        of id: TransitionID, _ locked: [ControllerID]?, in scene: NaiveScene, named name: SceneName, at now: Instant
    ) throws(Broken) {
        for other in holds where other.scene == name && other.id != id && other.until > now {
            guard scene.conflict(other.locked, locked) else { continue }
            throw Broken(.exclusion, "\(id) is granted while \(other.id) still has its lease")
        }
    }
}
