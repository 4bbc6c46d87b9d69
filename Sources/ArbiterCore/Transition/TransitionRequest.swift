/// What a client asks for with `start` or `serialize`.
package struct TransitionRequest: Hashable, Sendable {
    package var scene: SceneName
    package var client: ClientName?
    /// What it locks; without it, what the scene's defaults say.
    package var scope: Scope?
    /// What it does to the hierarchy when it completes.
    package var operation: Operation? {
        get { keptOperation?.operation }
        set { keptOperation = newValue.map { KeptOperation($0) } }
    }
    /// The operation, packed or not.
    private(set) var keptOperation: KeptOperation?
    /// What has to hold when its turn comes, `Limits.expectations` at most.
    package var expectations: [Expectation]
    package var animation: AnimationRequest?
    /// How long the granted transition may go without a word from its owner, within `Limits.leaseDurations`; without
    /// it, as long as the scene's defaults say.
    package var lease: Duration?
    /// What becomes of the operation if the lease runs out.
    package var onExpiry: ExpiryAction
    /// How long the queued transition may go without a word from its owner, within `Limits.ticketDurations`.
    package var ticket: Duration
    /// The longest it will wait, within `Limits.queueDurations`; without it, as long as its owner does.
    package var queue: Duration?
    /// Whether its owner drives it.
    package var isInteractive: Bool
    /// What decides its gesture.
    package var policy: GesturePolicy
    /// Whoever must be ready before it runs, `Limits.participants` at most, no client twice.
    package var participants: [Participant]
    /// How long they have, within `Limits.readyDurations`.
    package var ready: Duration
    package var onUnready: UnreadyAction
    package var coalescing: Coalescing?
    /// The token of the session that it is bound to.
    package var session: Token?
    /// By which the same request is known again.
    package var idempotencyKey: IdempotencyKey?

    package init(
        scene: SceneName = .main,
        client: ClientName? = nil,
        scope: Scope? = nil,
        operation: Operation? = nil,
        expectations: [Expectation] = [],
        animation: AnimationRequest? = nil,
        lease: Duration? = nil,
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
        idempotencyKey: IdempotencyKey? = nil
    ) {
        self.scene = scene
        self.client = client
        self.scope = scope
        keptOperation = operation.map { KeptOperation($0) }
        self.expectations = expectations
        self.animation = animation
        self.lease = lease
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
    }
}

extension TransitionRequest {
    /// The same request in few bytes, as a transition keeps it.
    var packed: TransitionRequest {
        var request = self
        request.keptOperation = keptOperation?.packed
        return request
    }

    /// The operation as far as its scope depends on it: of what comes in, the root alone, as a view; of a stack, nothing.
    ///
    /// It costs little, also where the operation is packed.
    package var operationOutline: Operation? { keptOperation?.outline }

    /// How much its operation brings in; `nil` if it has none.
    package var arrivalCounts: ArrivalCounts? { keptOperation?.arrivalCounts }

    /// How many controllers its operation brings in.
    var controllerCount: Int { keptOperation?.arrivalCounts.controllers ?? 0 }
}

/// What becomes of the operation of a transition whose lease runs out.
package enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
    /// The hierarchy stays as it was.
    case discard
    /// The operation is applied, as if its owner had completed it.
    case complete
}
