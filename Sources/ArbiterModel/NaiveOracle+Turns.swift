package import ArbiterCore

// Grants and ends of transitions.

extension NaiveOracle {
    /// Gives every transition of a scene its turn that no earlier or granted one conflicts with.
    package mutating func grant(in scene: SceneName) {
        while !isHoldingGrants, let (index, locked) = firstFree(in: scene) { takeTurn(index, locked) }
    }

    /// Grants what is free, and expects the events of those that are waited for now.
    package mutating func settle(_ scene: SceneName) {
        grant(in: scene)
        tellContention(in: scene)
    }

    /// Expects an event for each granted transition that another one waits for, unless that was told before.
    mutating func tellContention(in scene: SceneName) {
        for index in line.indices where line[index].scene == scene && line[index].isGranted && !line[index].isContended
        {
            guard !waiting(for: line[index].id).isEmpty else { continue }
            line[index].isContended = true
            tell(.transition(.contended, line[index].id), in: scene)
        }
    }

    /// The queued transitions that wait for a granted one.
    package func waiting(for id: TransitionID) -> [TransitionID] {
        guard let holder = line.firstIndex(where: { $0.id == id }), line[holder].isGranted else { return [] }
        let entry = line[holder]
        return line.indices.filter { index in
            let ticket = line[index]
            guard ticket.scene == entry.scene, !ticket.isGranted, ticket.unmet == nil else { return false }
            return conflicts(entry, ticket) || waits(ticket, for: entry)
        }
        .map { line[$0].id }
    }

    /// The first ticket of a scene whose turn has come, and what it would lock.
    private func firstFree(in name: SceneName) -> (index: Int, locked: [ControllerID]?)? {
        let own = line.indices.filter { line[$0].scene == name && stands(line[$0]) }
        for (rank, index) in own.enumerated() where !line[index].isGranted && line[index].unmet == nil {
            let isFree = { (locked: [ControllerID]?) in
                !own.indices.contains { other in
                    let isHolder = line[own[other]].isGranted
                    guard other < rank || isHolder else { return false }
                    if overtakesGrants, isHolder, line[own[other]].priority < line[index].priority { return false }
                    if waits(line[index], for: line[own[other]]) { return true }
                    let looked = isHolder || !overlooksMoves ? locked : watched(line[index])
                    return conflicts(line[own[other]], looked, isShared: line[index].isShared)
                }
            }
            if let locked = alternatives(of: line[index]).first(where: isFree) { return (index, locked) }
        }
        return nil
    }

    /// What a ticket can lock: each of several names, if it is to get any of them.
    func alternatives(of ticket: Entry) -> [[ControllerID]?] {
        if case .anyOf(let names) = ticket.scope { return names.map { [$0] } }
        return [locked(ticket)]
    }

    /// Whether nothing granted or earlier is in the way of a ticket.
    func isFree(_ index: Int) -> Bool {
        let ticket = line[index]
        return !line.indices.contains { other in
            guard line[other].scene == ticket.scene, other != index, other < index || line[other].isGranted else {
                return false
            }
            return conflicts(line[other], ticket) || waits(ticket, for: line[other])
        }
    }

    // MARK: - The planted fault `overlooksMoves`

    /// The lineages of the controllers that an entry locks and that no earlier or granted entry conflicts with.
    func clearWays(of entry: Entry, at index: Int) -> Set<[ControllerID]> {
        let scene = scene(entry.scene)
        let others = line.enumerated().filter { $0 < index || $1.isGranted }.map(\.element)
        let clear = (locked(entry) ?? []).filter { controller in
            !others.contains {
                $0.scene == entry.scene && conflicts($0, [controller], isShared: entry.isShared)
            }
        }
        return Set(clear.map(scene.tree.lineage))
    }

    /// The controllers of an entry that the faulty rule still compares with earlier waiting entries.
    ///
    /// It skips those that were clear at the request and have the same lineage now.
    private func watched(_ entry: Entry) -> [ControllerID]? {
        let tree = scene(entry.scene).tree
        return locked(entry)?.filter { !entry.clear.contains(tree.lineage(of: $0)) }
    }

    /// What happens to a transition when its turn comes.
    package enum Turn {
        case granted(NaiveChange?)
        case noop
        case rejected(NaiveEnding.Outcome)
        case setAside(ArbiterCore.Expectation)
    }

    /// What happens if the turn of a request comes with the current tree.
    package func turn(of request: TransitionRequest, _ scope: Scope) -> Turn {
        let scene = scene(request.scene)
        switch scope {
        case .scene, .operation: break
        case .controllers(let named):
            if !scene.tree.nodes.isEmpty, let gone = named.first(where: { scene.tree.nodes[$0] == nil }) {
                return .rejected(.scopeGone(gone))
            }
        case .anyOf(let names): if !scene.tree.nodes.isEmpty { return .rejected(.scopeGone(names[0])) }
        }
        if let unmet = unmet(of: request) { return .setAside(unmet) }
        let failed = request.expectations.filter { !scene.holds($0) }
        if let failure = failed.first {
            let lost = failed.first {
                if case .revision(let revision) = $0 { revision.rawValue < scene.revision } else { false }
            }
            return .rejected(.expectationFailed(request.unmet == .wait ? lost ?? failure : failure))
        }
        if request.unmet == .wait, !scene.knowsTypes(of: request) {
            return .rejected(.invalidOperation(.unknownTransitionType))
        }
        guard let operation = request.operation else { return .granted(nil) }
        let reserved = reserved(in: request.scene)
        switch scene.outcome(of: operation, reserved: reserved) {
        case .refused(let code, _): return .rejected(.invalidOperation(code))
        case .nothing: return .noop
        case .done(let change): return .granted(change)
        }
    }

    private mutating func takeTurn(_ index: Int, _ locked: [ControllerID]?) {
        let entry = line[index]
        switch turn(of: entry.request, entry.scope) {
        case .rejected(let outcome): close(entry.id, as: outcome)
        case .setAside(let unmet): setAside(index, because: unmet)
        case .noop: close(entry.id, as: .completed)
        case .granted(let change):
            granted.append(entry.id)
            grants += 1
            line[index].grantNumber = grants
            line[index].type = type(of: entry, change)
            line[index].state = .preparing
            if case .anyOf = entry.scope, let name = locked?.first { line[index].choose(name) }
            for member in entry.members.indices where entry.members[member].state == .gone {
                // It may have a new session.
                let isBack = sessions.values.contains { $0.client == entry.members[member].client }
                if isBack { line[index].members[member].state = .waiting }
            }
            let asked = entry.request.ignoresGuards ? [] : asked(about: change, by: entry)
            line[index].members += asked
            let waits = entry.hasRememberedEnd ? !asked.isEmpty : line[index].members.contains(where: \.isMissing)
            if waits { tell(.transition(.preparing, entry.id), in: entry.scene) } else { begin(index) }
        }
    }

    /// Runs a granted transition, and ends it if its owner has ended it before.
    mutating func begin(_ index: Int) {
        let entry = line[index]
        run(index)
        if entry.hasRememberedEnd { close(entry.id, as: .completed) }
    }

    /// Runs a granted transition, and expects its appearance events.
    package mutating func run(_ index: Int) {
        line[index].state = .running
        let entry = line[index]
        tell(.transition(.running, entry.id), in: entry.scene)
        guard let change = change(of: entry) else { return }
        tellBeginning(of: change, by: entry)
    }

    /// The change that the operation of a granted transition makes in the current tree.
    private mutating func change(of entry: Entry) -> NaiveChange? {
        guard let operation = entry.request.operation else { return nil }
        let scene = scene(entry.scene)
        switch scene.outcome(of: operation, reserved: []) {
        case .done(let change): return change
        case .refused, .nothing:
            contradiction = "\(entry.id) was granted for what is not possible"
            return nil
        }
    }

    // MARK: - Ends

    /// Ends a transition, and grants those whose turn comes because of it.
    package mutating func finish(_ id: TransitionID, as outcome: NaiveEnding.Outcome) {
        guard let entry = self[id] else { return }
        close(id, as: outcome)
        settle(entry.scene)
    }

    /// Ends a transition, without granting others.
    package mutating func close(
        _ id: TransitionID, as outcome: NaiveEnding.Outcome, by interrupter: TransitionID? = nil
    ) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        reconsider(behind: index)
        let entry = line[index]
        departures.append((scene(entry.scene), entry))
        var ending = NaiveEnding(outcome: outcome)
        ending.interruptedBy = interrupter
        ending.isNoop = outcome == .completed && !entry.isGranted
        if entry.isGranted, let change = change(of: entry) { conclude(entry, change, &ending) }
        line.remove(at: index)
        tell(.transition(.ended, id), in: entry.scene)
        endings.append((id, ending))
        if ending.change != nil { judge(entry.scene) }
    }

    /// Applies the operation of a granted transition if its outcome carries it out, and expects the events of its end.
    private mutating func conclude(_ entry: Entry, _ change: NaiveChange, _ ending: inout NaiveEnding) {
        let applies =
            switch ending.outcome {
            case .completed: true
            case .expired(let reason):
                entry.state == .running && reason != .participants && reason != .unclaimed
                    && (entry.request.isInteractive ? entry.gesture == .finish : entry.request.onExpiry == .complete)
            case .cancelled, .scopeGone, .sceneGone, .vetoed, .expectationFailed, .invalidOperation, .superseded,
                .revoked:
                false
            }
        let (going, coming) = scene(entry.scene).tree.seen(in: change)
        if entry.state == .preparing {
            // It never ran, so its views have got no events yet.
            guard applies else { return }
            tellBeginning(of: change, by: entry)
        }
        if applies {
            var change = appliesListsInPart ? inPart(change, of: entry) : change
            if losesColumns { change.loseColumns(pushedIn: scene(entry.scene).tree) }
            var tree = change.tree
            // Each operation of a list has brought in by its own type, unless the request names one.
            let asked = change.isList ? entry.request.animation?.type : entry.type
            let known = scene(entry.scene).storyboard.transitionTypes.map(\.name)
            let type = asked.flatMap { known.contains($0) ? $0 : nil }
            if change.isAnimated, !(change.isList && type == nil) {
                for id in change.inserted { tree.nodes[id]?.type = type }
            }
            contradiction = contradiction ?? scene(entry.scene).strayed(change, from: locked(entry))
            let revision = scene(entry.scene).revision + 1
            scenes[entry.scene]?.tree = tree
            scenes[entry.scene]?.revision = revision
            ending.change = NaiveEnding.Change(
                revision: revision, inserted: change.inserted, removed: change.removed)
            tell(
                .changed(revision: revision, by: entry.id, inserted: change.inserted, removed: change.removed),
                in: entry.scene)
        }
        if !applies {
            tell(coming, .willDisappear, entry)
            tell(coming, .didDisappear, entry)
            tell(going, .willAppear, entry)
            tell(going, .didAppear, entry)
        } else if change.isCrossed {
            tell(coming, .didAppear, entry)
            tell(going, .didDisappear, entry)
        } else {
            tell(going, .didDisappear, entry)
            tell(coming, .didAppear, entry)
        }
    }

    /// The transition type of a granted transition, if there is something to animate.
    private func type(of entry: Entry, _ change: NaiveChange?) -> TransitionTypeName? {
        let request = entry.request
        guard change?.isAnimated ?? (request.animation != nil || request.isInteractive) else { return nil }
        let scene = scene(entry.scene)
        return request.animation?.type ?? change?.type(before: scene.tree) ?? scene.storyboard.defaults.type
    }

    /// What the operations of a list but the last one change; that change, if it is no list.
    private func inPart(_ change: NaiveChange, of entry: Entry) -> NaiveChange {
        guard case .list(let operations)? = entry.request.operation else { return change }
        let scene = scene(entry.scene)
        let part = scene.outcome(of: .list(operations.dropLast()), reserved: [])
        return if case .done(let part) = part { part } else { NaiveChange(tree: scene.tree) }
    }

    private mutating func tellBeginning(of change: NaiveChange, by entry: Entry) {
        let (going, coming) = scene(entry.scene).tree.seen(in: change)
        if change.comesFirst { tell(coming, .willAppear, entry) }
        tell(going, .willDisappear, entry)
        if !change.comesFirst { tell(coming, .willAppear, entry) }
    }

    private mutating func tell(_ ids: [ControllerID], _ change: AppearanceEvent.Change, _ entry: Entry) {
        for id in ids { tell(.appearance(id, change, entry.id), in: entry.scene) }
    }

    // MARK: - Requests of owners

    /// The owner ends its transition.
    package mutating func end(_ id: TransitionID, as outcome: EndOutcome) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        switch outcome {
        case .completed where line[index].hasRememberedEnd || line[index].mustWaitToComplete:
            line[index].hasRememberedEnd = true
        case .completed: finish(id, as: .completed)
        case .cancelled: finish(id, as: .cancelled)
        }
    }

    /// The gesture of a transition is decided.
    package mutating func decide(_ id: TransitionID, _ decision: GestureDecision) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        line[index].gesture = decision
        tell(.transition(.released, id), in: line[index].scene)
        if decision == .cancel, !line[index].isGranted { finish(id, as: .cancelled) }
    }

    /// The owner gives its running transition an operation.
    package mutating func perform(_ id: TransitionID, _ operation: Operation) {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return }
        line[index].performed = operation
        let entry = line[index]
        guard let change = change(of: entry) else { return }
        line[index].type = type(of: entry, change)
        tell(.transition(.updated, id), in: entry.scene)
        tellBeginning(of: change, by: entry)
        tellContention(in: entry.scene)
    }
}
