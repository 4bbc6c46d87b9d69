/// One arbitrated interface, with its queue and its hierarchy.
struct Scene: Sendable {
    /// The unfinished transitions.
    var queue = ScopeQueue()
    /// The places of the queued transitions, for their positions.
    var tickets = RequestLine()
    /// The order of its newest transition.
    var lastOrder: RequestOrder
    /// The queued transitions that wait outside the line.
    var aside = Aside()
    /// How many queued transitions wait for their conditions if need be.
    var statesAwaited = 0
    /// What is declared about it, with the current hierarchy.
    var storyboard = Storyboard.empty
    var numbers: Numbers
    /// Ids reserved by granted operations, which no other operation may insert, even with a disjoint scope.
    var reserved: Set<ControllerID> = []
    /// The estimated size of its unfinished transitions.
    var unfinishedBytes = 0
    /// How many controllers the operations of its unfinished transitions will insert.
    var comingControllers = 0
    /// Whether a client has declared it.
    var isDeclared = false
    /// Who is asked before which controllers are removed, in the order in which they were set.
    var guards: [Guard] = []
    /// How often its storyboard was changed by a patch since it was declared.
    var patches: UInt64 = 0
    /// The version of its storyboard; `nil` if nobody has declared one.
    var version: StoryboardVersion? {
        isDeclared ? StoryboardVersion(revision: numbers.revision, patches: patches) : nil
    }
    /// Whether there is something to remember; then it is not forgotten to make room.
    var hasStoryboard: Bool { isDeclared || !storyboard.hierarchy.isEmpty }

    init(lastOrder: RequestOrder, numbers: Numbers) {
        self.lastOrder = lastOrder
        self.numbers = numbers
    }

    /// Numbers that never go back.
    struct Numbers: Hashable, Sendable {
        /// The revision of the hierarchy.
        var revision = Revision(rawValue: 0)
        /// The number of the newest event.
        var event = EventNumber(rawValue: 0)

        /// Skips the numbers that may have been sent with records that the journal lost.
        mutating func skip() {
            revision = Revision(rawValue: revision.rawValue + Limits.revisionJump)
            event = EventNumber(rawValue: event.rawValue + Limits.eventJump)
        }
    }
}

extension Scene {
    /// Adds a new transition, at its place in the line.
    mutating func enter(_ transition: Transition) {
        lastOrder = transition.order
        enterQueued(transition)
    }

    /// Adds a queued transition.
    mutating func enterQueued(_ transition: Transition) {
        count(transition)
        if transition.awaitsState { statesAwaited += 1 }
        guard !transition.isSetAside else { return aside.insert(transition, in: storyboard.hierarchy) }
        standInLine(transition)
        tickets.insert(transition.place)
    }

    private mutating func count(_ transition: Transition) {
        unfinishedBytes += transition.unfinishedByteCount
        comingControllers += transition.request.controllerCount
    }

    /// Adds a transition to the queue, without a ticket.
    mutating func standInLine(_ transition: Transition) {
        let operation = transition.request.operationOutline
        var claim = storyboard.claim(of: transition.request, scope: transition.scope)
        // One that is granted waits for nothing any more.
        if !transition.isQueued { claim.arrivals.named = [] }
        queue.append(
            transition.place, id: transition.id, claim, names: storyboard.names(of: transition.scope, operation),
            interrupts: transition.request.interrupts, yields: transition.consent != nil)
    }

    /// Adds a granted transition to the queue, as it was before it was stored.
    ///
    /// - Returns: whether nothing before it is in its way.
    mutating func restore(_ transition: Transition) -> Bool {
        count(transition)
        standInLine(transition)
        guard let grant = transition.grant, queue.grantNext(under: grant.rules) == transition.id else { return false }
        if transition.interruption != nil {
            guard transition.consent != nil else { return false }
            queue.noteInterruption(of: transition.place)
        }
        queue.note(
            transition.place, naming: storyboard.arrivals(of: transition.request, scope: transition.scope).named)
        return true
    }

    /// Removes a transition that ends from the queue, or from what is set aside; its ticket is removed separately.
    mutating func leave(_ transition: Transition) {
        unfinishedBytes -= transition.unfinishedByteCount
        comingControllers -= transition.request.controllerCount
        if !aside.remove(transition) { queue.remove(transition.place) }
    }

    /// Replaces a granted transition by the same one with its operation, which will insert these controllers.
    mutating func perform(
        _ performed: Transition, insteadOf transition: Transition, inserting arriving: [ControllerID],
        under rules: Rules
    ) {
        unfinishedBytes += performed.request.byteCount - transition.request.byteCount
        comingControllers += performed.request.controllerCount
        reserved.formUnion(arriving)
        queue.give(
            performed.place, storyboard.arrivals(of: performed.request, scope: performed.scope), under: rules)
    }

    /// Stores a waiting transition anew, because the segue that it performs is defined now.
    mutating func fileAnew(_ transition: Transition) {
        queue.rename(
            transition.place, names: storyboard.names(of: transition.scope, transition.request.operationOutline),
            arrivals: storyboard.arrivals(of: transition.request, scope: transition.scope))
        refile(transition)
    }

    /// Applies the plan of an operation, which gives the hierarchy its next revision.
    ///
    /// - Returns: the change, what it touches, and the waiting transitions that have to be refiled because of it.
    mutating func carryOut(_ plan: OperationPlan, introducedBy type: TransitionTypeName?) -> CarriedOut {
        // It is that of the grant; by now it may be declared no more.
        let type = type.flatMap { storyboard.transitionType($0) }?.name
        let edits = plan.isAnimated && !(plan.isNet && type == nil) ? plan.introducing(by: type) : plan.steps
        let touched = storyboard.hierarchy.touched(by: edits)
        // A copy of it makes the next line copy the tree.
        let before = plan.isNet ? storyboard.hierarchy : nil
        let change = storyboard.hierarchy.apply(edits)
        numbers.revision = Revision(rawValue: numbers.revision.rawValue + 1)
        let displaced = queue.waiting(on: change.arrived + change.departed + change.moved)
        return CarriedOut(
            change: Transition.Change(revision: numbers.revision, inserted: plan.inserted, removed: plan.removed),
            told: before.map { NetChange(from: $0, to: storyboard.hierarchy, by: change).told(touching: touched) }
                ?? .edited(edits),
            touched: touched, displaced: displaced)
    }

    /// What an operation has changed.
    struct CarriedOut {
        let change: Transition.Change
        /// The change, as followers are told.
        let told: HierarchyUpdate.Change
        let touched: TouchedControllers
        /// The waiting transitions whose paths may have changed, to be refiled.
        let displaced: [TransitionID]
    }

    /// Stores a waiting transition under the current paths of its scope.
    mutating func refile(_ transition: Transition) {
        queue.refile(
            transition.place, scope: storyboard.paths(of: transition.scope, transition.request.operationOutline))
    }
}

// MARK: - The result of a turn

/// What happens to a transition when its turn comes.
enum Turn {
    /// It is granted, with the plan of its operation if it has one.
    case granted(OperationPlan?)
    /// It completes at once: its operation would change nothing.
    case noop
    /// It ends: it is not possible.
    case rejected(Rejection)
    /// It waits outside the line until its conditions hold.
    case setAside(FailedExpectation)
}

extension Scene {
    /// What happens if the turn of a request comes with the current hierarchy; under these rules it would be granted.
    func turn(of request: TransitionRequest, scope: Scope, under rules: Rules) -> Turn {
        if let gone = goneName(of: scope, under: rules) { return .rejected(.scopeGone(gone)) }
        if let failure = storyboard.failure(of: request, at: numbers.revision) {
            let waits = request.unmet == .wait && !failure.isFinal(at: numbers.revision)
            return waits ? .setAside(failure) : .rejected(.expectationFailed(failure))
        }
        if request.unmet == .wait, let unknown = unknownTransitionType(of: request) {
            return .rejected(
                .invalidOperation(
                    OperationRefusal(
                        code: .unknownTransitionType, detail: "There is no transition type '\(unknown)'.")))
        }
        return request.operation.map { turn(of: $0, under: rules) } ?? .granted(nil)
    }

    /// A name of a scope that it cannot lock now; `nil` if there is none.
    private func goneName(of scope: Scope, under rules: Rules) -> ControllerID? {
        switch scope {
        case .scene, .operation: nil
        case .controllers(let named):
            isWithoutHierarchy && rules > .first ? nil : named.first { storyboard.hierarchy[$0] == nil }
        case .anyOf(let names): isWithoutHierarchy ? nil : names.first
        }
    }

    /// Whether scopes name what they like, because there are no controllers.
    var isWithoutHierarchy: Bool { storyboard.hierarchy.isEmpty }

    /// What happens if the turn of an operation comes with the current hierarchy.
    private func turn(of operation: Operation, under rules: Rules) -> Turn {
        do throws(OperationRefusal) {
            return try storyboard.plan(operation, reserving: reserved, under: rules).map { .granted($0) } ?? .noop
        } catch {
            return .rejected(.invalidOperation(error))
        }
    }

    /// A transition type that a request names, and that the scene does not have: it was declared anew since.
    private func unknownTransitionType(of request: TransitionRequest) -> TransitionTypeName? {
        let arriving = (request.operation?.arrivals ?? []).flatMap(\.introTransitionTypes)
        return ([request.animation?.type].compactMap(\.self) + arriving).first { storyboard.transitionType($0) == nil }
    }

    /// The resolved animation; each value is that of the request, its transition type or the scene's defaults.
    ///
    /// If the request names no type, the type is that of the controller that is inserted, removed or selected, or else the default.
    ///
    /// - Returns: `nil` if there is nothing to animate.
    func animation(
        of request: TransitionRequest, _ plan: OperationPlan?, changedBy update: AnimationUpdate?
    ) -> Animation? {
        let isAsked = request.animation != nil || request.isInteractive || update != nil
        guard plan?.isAnimated ?? isAsked else { return nil }
        let asked = request.animation ?? AnimationRequest()
        let type = asked.type ?? (plan.map(\.type) ?? storyboard.defaults.type)
        let known = type.flatMap { storyboard.transitionType($0) }
        let isReversed = asked.isReversed ?? plan?.isBackward ?? false
        return Animation(
            type: type,
            duration: update?.duration ?? asked.duration ?? known?.duration ?? storyboard.defaults.duration,
            curve: update?.curve ?? asked.curve ?? known?.curve ?? storyboard.defaults.curve,
            completionSpeed: update?.completionSpeed ?? asked.completionSpeed ?? 1,
            userInfo: update?.userInfo ?? asked.userInfo,
            isReversed: isReversed,
            direction: asked.direction ?? (isReversed ? .backward : .forward)
        )
    }

    /// The priority of a request: its own, or the scene's default as far as its principal may have it.
    func resolvedPriority(of request: TransitionRequest) -> Priority {
        if let priority = request.priority { return priority }
        return min(storyboard.defaults.priority, request.highestPriority ?? storyboard.defaults.priority)
    }

    /// The consent of a request to be interrupted: its own, or the scene's default.
    func resolvedConsent(of request: TransitionRequest) -> Consent? {
        request.interruptibility.map(\.consent) ?? storyboard.defaults.consent
    }

    /// The place behind all that is before a new request in the line.
    func lastPlace(for request: TransitionRequest) -> LinePlace { .behindAll(of: resolvedPriority(of: request)) }

    /// The scope of a request: its own, or the scene's default, which is the whole scene if there is no operation.
    func resolvedScope(of request: TransitionRequest) -> Scope {
        if let scope = request.scope { return scope }
        switch storyboard.defaults.scope {
        case .scene: return .scene
        case .operation: return request.operation == nil ? .scene : .operation
        }
    }
}
