/// What a client asks for with `start` or `serialize`.
package struct TransitionRequest: Hashable, Sendable {
    package var scene: SceneName
    package var client: ClientName?
    /// What it locks; without it, what the scene's defaults say.
    package var scope: Scope?
    /// What it does to the hierarchy when it completes.
    package var operation: Operation?
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
        idempotencyKey: IdempotencyKey? = nil
    ) {
        self.scene = scene
        self.client = client
        self.scope = scope
        self.operation = operation
        self.expectations = expectations
        self.animation = animation
        self.lease = lease
        self.onExpiry = onExpiry
        self.ticket = ticket
        self.queue = queue
        self.idempotencyKey = idempotencyKey
    }
}

/// What a transition locks.
package enum Scope: Hashable, Sendable {
    /// The whole scene.
    case scene
    /// The subtrees that its operation touches.
    case operation
    /// The subtrees under these controllers, and those that its operation touches, if it has one.
    case controllers([ControllerID])
}

/// What becomes of the operation of a transition whose lease runs out.
package enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
    /// The hierarchy stays as it was.
    case discard
    /// The operation is applied, as if its owner had completed it.
    case complete
}
