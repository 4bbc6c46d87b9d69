/// One arbitrated interface.
struct Scene: Sendable {
    var queue = ScopeQueue()
    /// The queued ones among the unfinished, for their rank.
    var tickets = RequestLine()
    /// When its newest transition was asked for.
    var lastOrder: RequestOrder
    /// What is declared about it, with the hierarchy as it is now.
    var storyboard = Storyboard.empty
    var numbers: Numbers
    /// Whoever the granted operations will bring in: nobody else may, though their scopes be disjoint.
    var reserved: Set<ControllerID> = []
    /// What the unfinished take, in bytes.
    var unfinishedBytes = 0
    /// How many controllers the operations of the unfinished bring in.
    var comingControllers = 0
    /// Somebody has declared something about it, and so it is not forgotten by itself.
    var isDeclared = false

    /// What only grows.
    struct Numbers: Hashable, Sendable {
        /// Of the hierarchy.
        var revision = Revision(rawValue: 0)
        /// The newest that there is.
        var event = EventNumber(rawValue: 0)

        /// Leaves out numbers that may have been told of what nobody knows of any more.
        mutating func skip() {
            revision = Revision(rawValue: revision.rawValue + Limits.revisionJump)
            event = EventNumber(rawValue: event.rawValue + Limits.eventJump)
        }
    }
}

extension Scene {
    /// Takes in a new transition, behind all others unless it takes over an earlier place.
    mutating func enter(_ transition: Transition) {
        lastOrder = transition.order
        queueUp(transition)
        tickets.insert(transition.place)
    }

    /// Gives a transition its place among the unfinished.
    mutating func queueUp(_ transition: Transition) {
        unfinishedBytes += transition.request.byteCount
        comingControllers += transition.request.controllerCount
        let operation = transition.request.operationOutline
        queue.append(
            transition.place, id: transition.id, scope: storyboard.paths(of: transition.scope, operation),
            names: storyboard.names(of: transition.scope, operation))
    }

    /// Takes out a transition that has ended.
    mutating func leave(_ transition: Transition) {
        unfinishedBytes -= transition.request.byteCount
        comingControllers -= transition.request.controllerCount
        queue.remove(transition.place)
    }

    /// Does what an operation came to.
    ///
    /// - Returns: what it did, and whoever waits and has to be filed anew.
    mutating func carryOut(
        _ plan: OperationPlan, introducedBy type: TransitionTypeName?
    ) -> (change: Transition.Change, displaced: [TransitionID]) {
        let change = storyboard.apply(plan)
        for controller in plan.inserted { storyboard.hierarchy.introduce(controller, by: type) }
        numbers.revision = Revision(rawValue: numbers.revision.rawValue + 1)
        let displaced = queue.waiting(on: change.arrived + change.departed)
        return (
            Transition.Change(revision: numbers.revision, inserted: plan.inserted, removed: plan.removed), displaced
        )
    }

    /// Files a waiting transition anew, where its scope stands now.
    mutating func refile(_ transition: Transition) {
        queue.refile(
            transition.place, scope: storyboard.paths(of: transition.scope, transition.request.operationOutline))
    }
}

// MARK: - What a request comes to

/// What becomes of a transition whose turn has come.
enum Turn {
    case granted(OperationPlan?)
    /// Its operation would do nothing.
    case noop
    case rejected(Rejection)
}

extension Scene {
    /// What a transition that asks for this comes to in the hierarchy as it is.
    func turn(of request: TransitionRequest, scope: Scope) -> Turn {
        if case .controllers(let named) = scope, let gone = named.first(where: { storyboard.hierarchy[$0] == nil }) {
            return .rejected(.scopeGone(gone))
        }
        for expectation in request.expectations {
            if let failure = storyboard.failure(of: expectation, at: numbers.revision) {
                return .rejected(.expectationFailed(failure))
            }
        }
        return request.operation.map { turn(of: $0) } ?? .granted(nil)
    }

    /// What an operation comes to in the hierarchy as it is.
    func turn(of operation: Operation) -> Turn {
        do throws(OperationRefusal) {
            return try storyboard.plan(operation, reserving: reserved).map { .granted($0) } ?? .noop
        } catch {
            return .rejected(.invalidOperation(error))
        }
    }

    /// The animation of what is planned: by the request, else by its type, else by the scene's defaults.
    ///
    /// Where the request names no type, it is that of whoever comes or goes.
    ///
    /// - Returns: `nil` where there is nothing to animate.
    func animation(of request: TransitionRequest, _ plan: OperationPlan?) -> Animation? {
        guard plan != nil || request.animation != nil || request.isInteractive else { return nil }
        let asked = request.animation ?? AnimationRequest()
        let type = asked.type ?? plan.flatMap { introduction(of: $0) }
        let known = type.flatMap { storyboard.transitionType($0) }
        let isReversed = asked.isReversed ?? plan?.isBackward ?? false
        return Animation(
            type: type,
            duration: asked.duration ?? known?.duration ?? storyboard.defaults.duration,
            curve: asked.curve ?? known?.curve ?? storyboard.defaults.curve,
            completionSpeed: asked.completionSpeed ?? 1,
            userInfo: asked.userInfo,
            isReversed: isReversed,
            direction: asked.direction ?? (isReversed ? .backward : .forward)
        )
    }

    /// The type of transition of whoever comes, as it says itself; whoever goes does so the way it came.
    private func introduction(of plan: OperationPlan) -> TransitionTypeName? {
        guard let leaving = plan.leaving else { return plan.typeOfArrival }
        return storyboard.hierarchy[leaving]?.introTransitionType
    }

    /// What is locked where a request is silent: nothing narrower than the scene without an operation to go by.
    func resolvedScope(of request: TransitionRequest) -> Scope {
        if let scope = request.scope { return scope }
        switch storyboard.defaults.scope {
        case .scene: return .scene
        case .operation: return request.operation == nil ? .scene : .operation
        }
    }
}
