// Storyboards: what is declared about a scene.

extension ArbiterStateMachine {
    /// A client declares a scene's hierarchy, segues, transition types and defaults.
    ///
    /// - Returns: the new version of the storyboard.
    /// - Throws: `versionMismatch`, `alreadyDeclared`, `busy`, `tooManyScenes`, `lacksStorage`, `outOfRoom`,
    ///   `shareUsedUp`, `recordTooLarge`, `leaseTooLong`, `olderRules`.
    package mutating func declare(
        _ name: SceneName, _ storyboard: Storyboard, if precondition: Precondition, in step: inout Step
    ) throws(ArbiterError) -> StoryboardVersion {
        try precondition.check(durable.scenes[name], named: name)
        try checkIsFree(name, at: step.now)
        try checkRules(storyboard.neededRules)
        try checkStorage()
        try admitScene(name)
        try admit(storyboard.defaults.lease, isDefault: true)
        try admitBytes(of: storyboard, in: name)
        let record = Record.declare(name, storyboard)
        try admitBytes(of: record)
        step.keep(record)
        make(name, at: durable.lastOrder, in: &step)
        let next = Revision(rawValue: (durable.scenes[name]?.numbers.revision.rawValue ?? 0) + 1)
        durable.changeScene(name) { scene in
            scene.numbers.revision = next
            scene.storyboard = storyboard
            scene.isDeclared = true
            scene.patches = 0
        }
        beginIdling(name, at: step.now)
        scheduleQuietParts(of: name)
        publish(
            .hierarchyChanged(HierarchyUpdate(revision: next, change: .replaced(storyboard.hierarchy))), in: name, &step
        )
        judge(.all, in: name, step: &step)
        settle(name, step: &step)
        prune(at: step.now)
        return StoryboardVersion(revision: next)
    }

    /// A client changes a scene's segues, transition types or defaults, also while transitions are unfinished.
    ///
    /// What an unfinished transition names remains as it is. Queued segues that the change defines are filed anew.
    ///
    /// - Returns: the version of the storyboard, a new one unless nothing has changed.
    /// - Throws: `unknownScene`, `undeclared`, `versionMismatch`, `alreadyDeclared`, `inUse`, `invalidStoryboard`,
    ///   `lacksStorage`, `outOfRoom`, `shareUsedUp`, `recordTooLarge`, `leaseTooLong`, `olderRules`.
    package mutating func patch(
        _ name: SceneName, _ patch: StoryboardPatch, if precondition: Precondition, in step: inout Step
    ) throws(ArbiterError) -> StoryboardVersion {
        let (old, version) = try storyboard(of: name)
        try precondition.check(durable.scenes[name], named: name)
        var patch = patch
        // Not kept, so that earlier rules know the record.
        if patch.defaults.priority == old.defaults.priority { patch.defaults.priority = nil }
        if patch.defaults.interruptibility?.consent == old.defaults.consent { patch.defaults.interruptibility = nil }
        if patch.defaults.type == .some(old.defaults.type) { patch.defaults.type = nil }
        let new: Storyboard
        do throws(StoryboardFault) {
            new = try old.changed(by: patch)
        } catch {
            throw .invalidStoryboard(error)
        }
        guard new != old else { return version }
        try checkNotInUse(patch, of: old, in: name, at: step.now)
        try checkRules(patch.neededRules)
        try checkStorage()
        if new.defaults.lease != old.defaults.lease { try admit(new.defaults.lease, isDefault: true) }
        try admitGrowth(from: old, to: new, in: name)
        let record = Record.patch(name, patch)
        try admitBytes(of: record)
        step.keep(record)
        durable.changeScene(name) { scene in
            scene.storyboard = new
            scene.patches += 1
        }
        for waiting in waitingForSegues(definedBy: patch, in: name) { durable.scenes[name]?.fileAnew(waiting) }
        scheduleQuietParts(of: name)
        settle(name, step: &step)
        prune(at: step.now)
        return StoryboardVersion(revision: version.revision, patches: version.patches + 1)
    }

    /// Checks that the journal takes a record of this size.
    ///
    /// - Throws: `recordTooLarge`.
    private func admitBytes(of record: Record) throws(ArbiterError) {
        guard let limit = limits.recordBytes else { return }
        var writer = BinaryWriter()
        writer.write(record)
        guard writer.bytes.count <= limit else { throw .recordTooLarge(bytes: writer.bytes.count, limit: limit) }
    }

    /// - Throws: `inUse` if an unfinished transition names what the change replaces or removes.
    private func checkNotInUse(
        _ patch: StoryboardPatch, of storyboard: Storyboard, in name: SceneName, at now: Instant
    ) throws(ArbiterError) {
        let segues = Dictionary(uniqueKeysWithValues: storyboard.segues(lostBy: patch).map { ($0.key, $0) })
        let types = Set(storyboard.transitionTypes(lostBy: patch).map(\.name))
        guard !segues.isEmpty || !types.isEmpty else { return }
        for transition in unfinished(in: name) {
            if let segue = transition.request.segueKeys.lazy.compactMap({ segues[$0] }).first {
                throw .inUse(.segue(segue.identifier, source: segue.source), by: busy([transition.id], at: now))
            }
            guard !types.isEmpty else { continue }
            if let type = storyboard.transitionTypes(namedBy: transition.request).first(where: types.contains) {
                throw .inUse(.transitionType(type), by: busy([transition.id], at: now))
            }
        }
    }

    /// The queued transitions whose segues the change adds, in the order of their places.
    private func waitingForSegues(definedBy patch: StoryboardPatch, in name: SceneName) -> [Transition] {
        let added = Set(patch.segues.compactMap { if case .set(let segue) = $0 { segue.key } else { nil } })
        guard !added.isEmpty else { return [] }
        return unfinished(in: name).filter { transition in
            transition.isQueued && transition.unmet == nil
                && transition.request.segueKeys.contains(where: added.contains)
        }
    }

    private func unfinished(in name: SceneName) -> [Transition] {
        ((durable.scenes[name]?.queue.unfinished ?? []) + (durable.scenes[name]?.aside.inOrder ?? []))
            .compactMap { durable.transitions[$0] }
    }

    /// A client deletes a scene and everything declared about it.
    ///
    /// - Throws: `unknownScene`, `versionMismatch`, `alreadyDeclared`, `busy`.
    package mutating func delete(
        _ name: SceneName, if precondition: Precondition, in step: inout Step
    ) throws(ArbiterError) {
        guard durable.scenes.contains(name) else { throw .unknownScene(name) }
        try precondition.check(durable.scenes[name], named: name)
        try checkIsFree(name, at: step.now)
        step.keep(.delete(name))
        for id in durable.scenes[name]?.aside.inOrder ?? [] { end(id, as: .rejected(.sceneGone), in: &step) }
        beginIdling(name, at: step.now)
        forget(name, in: &step)
        prune(at: step.now)
    }

    /// - Throws: `busy` if the scene has an unfinished transition that is not set aside.
    private func checkIsFree(_ name: SceneName, at now: Instant) throws(ArbiterError) {
        guard let queue = durable.scenes[name]?.queue, !queue.isEmpty else { return }
        throw .busy(busy(queue.blockers(of: Claim(paths: [[]]), at: .end, limit: Limits.blockersShown), at: now))
    }
}

extension Storyboard {
    /// The transition types that a request names, and those that name what its operation inserts.
    fileprivate func transitionTypes(namedBy request: TransitionRequest) -> Set<TransitionTypeName> {
        var names = Set([request.animation?.type].compactMap(\.self))
        guard let operation = request.operation else { return names }
        var arrivals = operation.arrivals
        for case .segue(let source, let identifier, nil) in operation.parts {
            if let segue = segue(identifier, from: source) { arrivals.append(segue.destination) }
        }
        for arrival in arrivals { names.formUnion(arrival.introTransitionTypes) }
        return names
    }
}

extension TransitionRequest {
    /// The source and the identifier of each segue that it performs.
    fileprivate var segueKeys: [Segue.Key] {
        (operationOutline?.parts ?? []).compactMap { operation in
            guard case .segue(let source, let identifier, _) = operation else { return nil }
            return Segue.Key(source: source, identifier: identifier)
        }
    }
}
