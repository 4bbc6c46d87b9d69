internal import ArbiterCore
internal import ArbiterModel

/// The scopes that owners believe to hold, according to the answers that they got.
///
/// An owner believes to hold its scope from the answer that says so until it sends its end, until the lease in the last
/// answer is over, or until its session has ended. It counts by its own clock, which does not stand still with the
/// arbiter's.
struct Holds {
    private struct Hold {
        let id: TransitionID
        let scene: SceneName
        /// The controllers whose subtrees it holds; `nil` for the whole scene.
        let locked: [ControllerID]?
        let isShared: Bool
        var until: Instant
        /// The number of deaths of the machine when the owner got its answer.
        var machineDeaths: Int
    }

    private var holds: [Hold] = []
    private var relinquished: Set<TransitionID> = []

    /// An owner gets an answer that says that it holds its scope.
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
        // If the journal has lost an end, its owner may be answered for a while that it holds the scope again: then
        // only the fence tells the two apart.
        let isShared = view.transition.request.mode == .shared
        for other in holds where other.scene == name && other.id != id && scene.conflict(other.locked, locked) {
            if other.isShared && isShared { continue }
            if isRevived && other.machineDeaths < machineDeaths { continue }
            throw Broken(.exclusion, "\(id) and \(other.id) are both told to hold the same of \(name)")
        }
        if let index = holds.firstIndex(where: { $0.id == id }) {
            holds[index].until = max(holds[index].until, until)
            holds[index].machineDeaths = machineDeaths
        } else {
            holds.append(
                Hold(
                    id: id, scene: name, locked: locked, isShared: isShared, until: until, machineDeaths: machineDeaths)
            )
        }
    }

    /// The owner has sent its end, which may arrive or not, or knows otherwise that its transition is over.
    mutating func relinquish(_ id: TransitionID) {
        relinquished.insert(id)
        holds.removeAll { $0.id == id }
    }

    /// Whether the owner of a transition believes to hold its scope.
    func isHeld(_ id: TransitionID, at now: Instant) -> Bool {
        holds.contains { $0.id == id && $0.until > now }
    }

    /// Checks at a grant that no owner believes to hold a scope that conflicts with it.
    func checkGrant(
        of id: TransitionID, _ locked: [ControllerID]?, isShared: Bool, in scene: NaiveScene, named name: SceneName,
        at now: Instant
    ) throws(Broken) {
        for other in holds where other.scene == name && other.id != id && other.until > now {
            guard scene.conflict(other.locked, locked), !(other.isShared && isShared) else { continue }
            throw Broken(.exclusion, "\(id) is granted while \(other.id) still has its lease")
        }
    }
}
