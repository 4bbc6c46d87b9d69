/// What a client asks for with `start` or `serialize`.
package struct TransitionRequest: Hashable, Sendable {
    package var scene: SceneName
    package var client: ClientName?
    package var scope: Scope
    /// How long the granted transition may go without a word from its owner, within `Limits.leaseDurations`.
    package var lease: Duration
    /// How long the queued transition may go without a word from its owner, within `Limits.ticketDurations`.
    package var ticket: Duration
    /// The longest it will wait, within `Limits.queueDurations`; without it, as long as its owner does.
    package var queue: Duration?
    /// By which the same request is known again.
    package var idempotencyKey: IdempotencyKey?

    package init(
        scene: SceneName = .main,
        client: ClientName? = nil,
        scope: Scope = .scene,
        lease: Duration = Limits.defaultLease,
        ticket: Duration = Limits.defaultTicket,
        queue: Duration? = nil,
        idempotencyKey: IdempotencyKey? = nil
    ) {
        self.scene = scene
        self.client = client
        self.scope = scope
        self.lease = lease
        self.ticket = ticket
        self.queue = queue
        self.idempotencyKey = idempotencyKey
    }
}

/// What a transition locks.
package enum Scope: Hashable, Sendable {
    /// The whole scene.
    case scene
}
