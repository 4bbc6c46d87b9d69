/// What a client requests with `start` or `serialize`.
package struct TransitionRequest: Hashable, Sendable {
    package var scene: SceneName
    package var client: ClientName?
    /// What it locks; without it, the scene's default scope.
    package var scope: Scope?
    /// What it does to the hierarchy when it completes.
    package var operation: Operation? {
        get { keptOperation?.operation }
        set { keptOperation = newValue.map { KeptOperation($0) } }
    }
    /// The operation in its stored form, packed or not.
    private(set) var keptOperation: KeptOperation?
    /// What must hold at the grant, at most `Limits.expectations`.
    package var expectations: [Expectation]
    package var animation: AnimationRequest?
    /// How long the granted transition may go without a request of its owner, within `Limits.leaseDurations`; without
    /// it, the scene's default lease.
    package var lease: Duration?
    /// The longest time after its grant, within `Limits.holdDurations`; without it, there is no such limit.
    package var maxHold: Duration?
    /// What happens to the operation if the transition expires while it runs; where there is a gesture, its decision counts.
    package var onExpiry: ExpiryAction
    /// How long the queued transition may go without a request of its owner, within `Limits.ticketDurations`.
    package var ticket: Duration
    /// The longest time in the queue, within `Limits.queueDurations`; without it, there is no such limit.
    package var queue: Duration?
    /// Whether a gesture of its owner drives it.
    package var isInteractive: Bool
    /// What decides its gesture if the release does not.
    package var policy: GesturePolicy
    /// The clients that must be ready before it runs, at most `Limits.participants`, each client once.
    package var participants: [Participant]
    /// How long participants have to become ready after the grant, within `Limits.readyDurations`.
    package var ready: Duration
    package var onUnready: UnreadyAction
    package var coalescing: Coalescing?
    /// The token of the session that it is bound to.
    package var session: Token?
    /// Identifies repetitions of the same request.
    package var idempotencyKey: IdempotencyKey?
    /// What the client has been authenticated as.
    package var principal: PrincipalName?
    /// The trace that the request belongs to.
    package var trace: TraceParent?

    package init(
        scene: SceneName = .main,
        client: ClientName? = nil,
        scope: Scope? = nil,
        operation: Operation? = nil,
        expectations: [Expectation] = [],
        animation: AnimationRequest? = nil,
        lease: Duration? = nil,
        maxHold: Duration? = nil,
        onExpiry: ExpiryAction = .discard,
        ticket: Duration = Limits.defaultTicket,
        queue: Duration? = nil,
        isInteractive: Bool = false,
        policy: GesturePolicy = .standard,
        participants: [Participant] = [],
        ready: Duration = Limits.defaultReady,
        onUnready: UnreadyAction = .proceed,
        coalescing: Coalescing? = nil,
        session: Token? = nil,
        idempotencyKey: IdempotencyKey? = nil,
        principal: PrincipalName? = nil,
        trace: TraceParent? = nil
    ) {
        self.scene = scene
        self.client = client
        self.scope = scope
        keptOperation = operation.map { KeptOperation($0) }
        self.expectations = expectations
        self.animation = animation
        self.lease = lease
        self.maxHold = maxHold
        self.onExpiry = onExpiry
        self.ticket = ticket
        self.queue = queue
        self.isInteractive = isInteractive
        self.policy = policy
        self.participants = participants
        self.ready = ready
        self.onUnready = onUnready
        self.coalescing = coalescing
        self.session = session
        self.idempotencyKey = idempotencyKey
        self.principal = principal
        self.trace = trace
    }
}

extension TransitionRequest {
    /// The same request with its operation packed, as a transition stores it.
    var packed: TransitionRequest {
        var request = self
        request.keptOperation = keptOperation?.packed
        return request
    }

    /// Whether it only locks the scene: there is nothing to plan, to check at the grant, or to animate.
    ///
    /// A request without a scope and an operation locks the whole scene, whatever the scene's defaults are.
    var isPlain: Bool {
        keptOperation == nil && expectations.isEmpty && animation == nil && !isInteractive
            && (scope ?? .scene) == .scene
    }

    /// The operation with what its scope depends on, available without unpacking.
    ///
    /// Of a packed operation, an inserted hierarchy is only its root, as a view, and a `setStack` has no controllers.
    package var operationOutline: Operation? { keptOperation?.outline }

    /// How much its operation inserts; `nil` if there is no operation.
    package var arrivalCounts: ArrivalCounts? { keptOperation?.arrivalCounts }

    /// How many controllers its operation inserts.
    var controllerCount: Int { keptOperation?.arrivalCounts.controllers ?? 0 }
}

/// What happens to the operation of a running transition that expires, and has no gesture.
package enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
    /// The hierarchy does not change.
    case discard
    /// The operation is applied, as if the owner had completed the transition.
    case complete
}
