// perform: a running transition gets the operation that its request did not have.

extension ArbiterStateMachine {
    /// The owner gives its running transition, which has none, its operation.
    ///
    /// It is planned and checked as at a grant, with the hierarchy as it is now. An operation that changes nothing leaves
    /// the transition without one. The same operation again gets the same answer.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - token: the token of its owner.
    ///   - operation: what it does to the hierarchy when it completes; it touches only what the transition holds.
    ///   - expectations: what must hold now, at most `Limits.expectations`.
    ///   - ignoresGuards: whether it may remove what others guard.
    ///   - step: the turn.
    /// - Returns: the transition afterwards.
    /// - Throws: `unknownTransition`, `wrongToken`, `notRunning`, `alreadyEnded`, `endedWithoutOwner`, `alreadyPerformed`,
    ///   `interrupted`, `alreadyDecided`, `holdsNoHierarchy`, `outsideScope`, `guarded`, and every other reason why the operation is not possible now.
    package mutating func perform(
        _ id: TransitionID, token: Token, _ operation: Operation, expecting expectations: [Expectation] = [],
        ignoresGuards: Bool = false, in step: inout Step
    ) throws(ArbiterError) -> PerformAnswer {
        try checkRules(ignoresGuards ? .second : operation.neededRules)
        let transition = try owned(id, token: token, in: step)
        let view = view(of: transition, at: step.now)
        let plan: OperationPlan?
        switch transition.phase {
        case .queued, .preparing: throw .notRunning(view)
        case .ended(let ending): throw ending.outcome.isOwners ? .alreadyEnded(view) : .endedWithoutOwner(view)
        case .running:
            if let performed = transition.request.operation {
                guard performed == operation else { throw .alreadyPerformed(view) }
                plan = try? durable.scenes[transition.request.scene]?.storyboard.plan(
                    operation, under: transition.grant?.rules ?? durable.rules)
            } else {
                guard transition.interruption == nil else { throw .interrupted(view) }
                guard transition.gesture == nil else { throw .alreadyDecided(view) }
                guard transition.request.mode == .exclusive, !locksNames(transition) else {
                    throw .holdsNoHierarchy(id)
                }
                plan = try checkedPlan(of: operation, for: transition, expecting: expectations)
                if !ignoresGuards { try checkGuards(of: transition, performing: plan) }
                if let plan { perform(id, operation, plan, in: &step) }
            }
        }
        attend(id, at: step.now)
        return PerformAnswer(view: try self.view(of: id, at: step.now), plan: plan)
    }

    /// Whether a transition locks names in a scene that has no hierarchy.
    private func locksNames(_ transition: Transition) -> Bool {
        guard case .controllers = transition.scope else { return false }
        return durable.scenes[transition.request.scene]?.isWithoutHierarchy ?? false
    }

    /// Repeats what a record says.
    mutating func perform(_ id: TransitionID, _ operation: Operation, in step: inout Step) {
        guard let transition = durable.transitions[id], case .running = transition.phase,
            transition.request.operation == nil, transition.gesture == nil,
            let plan = try? checkedPlan(of: operation, for: transition, expecting: [])
        else { return }
        perform(id, operation, plan, in: &step)
    }

    /// What an operation of a running transition would change now.
    ///
    /// - Returns: `nil` if nothing.
    /// - Throws: every reason why it is not possible.
    private func checkedPlan(
        of operation: Operation, for transition: Transition, expecting expectations: [Expectation]
    ) throws(ArbiterError) -> OperationPlan? {
        guard let scene = durable.scenes[transition.request.scene] else {
            preconditionFailure("\(transition.id) runs in a scene that is not known")
        }
        var performed = transition.request
        performed.operation = operation
        try scene.checkedScope(of: performed, under: durable.rules)
        var checked = performed
        checked.expectations = expectations
        let plan: OperationPlan?
        switch scene.turn(of: checked, scope: transition.scope, under: durable.rules) {
        case .rejected(let rejection): throw ArbiterError(rejection)
        case .setAside(let unmet): throw .expectationFailed(unmet)
        case .noop: return nil
        case .granted(let granted): plan = granted
        }
        guard scene.storyboard.holds(transition.scope, operation) else { throw .outsideScope(transition.id) }
        try checkStorage()
        try admitBytes(of: performed, insteadOf: transition)
        return plan
    }

    /// Gives a running transition its operation: reserves ids, and tells the views.
    private mutating func perform(
        _ id: TransitionID, _ operation: Operation, _ plan: OperationPlan, in step: inout Step
    ) {
        guard let transition = durable.transitions[id], let grant = transition.grant,
            let scene = durable.scenes[transition.request.scene]
        else { preconditionFailure("\(id) performs but is not known") }
        step.keep(.perform(id, operation))
        var request = transition.request
        request.operation = operation
        let given = grant.performing(
            plan, animation: scene.animation(of: request, plan, changedBy: transition.update),
            resolved: scene.storyboard.resolved(operation, under: durable.rules), rules: durable.rules)
        var performed = transition
        performed.perform(operation, with: given)
        durable.transitions[id] = performed
        let rules = durable.rules
        durable.changeScene(request.scene) {
            $0.perform(performed, insteadOf: transition, inserting: plan.arriving, under: rules)
        }
        durable.memory.charge(performed.request.byteCount - transition.request.byteCount, to: transition.session)
        tell(.updated, performed, in: &step)
        tell(given.appearance, of: performed, in: &step)
        tellContention(in: request.scene, step: &step)
    }
}

// MARK: - update

extension ArbiterStateMachine {
    /// The owner changes how its unfinished transition is animated.
    ///
    /// - Parameters:
    ///   - id: the transition.
    ///   - token: the token of its owner.
    ///   - update: what changes.
    ///   - step: the turn.
    /// - Returns: the transition afterwards.
    /// - Throws: `unknownTransition`, `wrongToken`, `alreadyEnded`, `endedWithoutOwner`, `olderRules`, `outOfRoom`, `shareUsedUp`.
    package mutating func update(
        _ id: TransitionID, token: Token, _ update: AnimationUpdate, in step: inout Step
    ) throws(ArbiterError) -> TransitionView {
        try checkRules(.second)
        let transition = try owned(id, token: token, in: step)
        if case .ended(let ending) = transition.phase {
            let view = view(of: transition, at: step.now)
            throw ending.outcome.isOwners ? .alreadyEnded(view) : .endedWithoutOwner(view)
        }
        try checkStorage()
        try admitGrowth(of: transition, by: (update.userInfo?.count ?? 0) - (transition.update?.userInfo?.count ?? 0))
        self.update(id, update, in: &step)
        attend(id, at: step.now)
        return try view(of: id, at: step.now)
    }

    /// Repeats what a record says; nothing if it changes nothing.
    mutating func update(_ id: TransitionID, _ update: AnimationUpdate, in step: inout Step) {
        guard let transition = durable.transitions[id], !transition.isEnded,
            update.following(transition.update) != (transition.update ?? AnimationUpdate())
        else { return }
        step.keep(.update(id, update))
        let request = transition.request
        let changes = update.following(transition.update)
        // What changes nothing that is seen is not animated, whatever its owner says.
        let animation =
            request.operation == nil
            ? durable.scenes[request.scene]?.animation(of: request, nil, changedBy: changes)
            : transition.grant?.animation?.changed(by: update)
        var changed = transition
        changed.change(update: changes, animation: animation)
        durable.transitions[id] = changed
        let growth = changed.unfinishedByteCount - transition.unfinishedByteCount
        durable.changeScene(request.scene) { $0.unfinishedBytes += growth }
        durable.memory.charge(growth, to: transition.session)
        if changed.grant != nil { tell(.updated, changed, in: &step) }
    }
}
