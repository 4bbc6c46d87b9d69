/// What a client requests with `start` or `serialize`.
///
/// It is copied often, so what few requests have is kept apart.
package struct TransitionRequest: Hashable, Sendable {
    package var scene: SceneName
    package var client: ClientName?
    /// What it locks; without it, the scene's default scope.
    package var scope: Scope?
    /// How urgent it is; without it, the scene's default priority.
    package var priority: Priority?
    /// The highest priority that its principal may have: a default above it is lowered to it.
    package var highestPriority: Priority?
    /// How long the granted transition may go without a request of its owner, within `Limits.leaseDurations`; without
    /// it, the scene's default lease.
    package var lease: Duration?
    /// How long the queued transition may go without a request of its owner, within `Limits.ticketDurations`.
    package var ticket: Duration
    /// The longest time in the queue, within `Limits.queueDurations`; without it, there is no such limit.
    package var queue: Duration?
    /// The token of the session that it is bound to.
    package var session: Token?
    /// Identifies repetitions of the same request.
    package var idempotencyKey: IdempotencyKey?
    /// What the client has been authenticated as.
    package var principal: PrincipalName?
    /// The trace that the request belongs to.
    package var trace: TraceParent?
    /// What it asks for beyond a lock; `nil` if it is nothing.
    private var shared: Shared<Details>?

    /// What a request may ask for beyond a lock.
    struct Details: Hashable, Sendable {
        var operation: KeptOperation?
        var expectations: [Expectation] = []
        var animation: AnimationRequest?
        var maxHold: Duration?
        var onExpiry = ExpiryAction.discard
        var isInteractive = false
        var policy = GesturePolicy.standard
        var participants: [Participant] = []
        var ready = Limits.defaultReady
        var onUnready = UnreadyAction.proceed
        var coalescing: Coalescing?
        var interrupts = false
        var interruptibility: Interruptibility?
        var unmet = UnmetAction.reject
        var ignoresGuards = false
        var note: Note?
        var mode = TransitionMode.exclusive

        static let none = Details()

        /// The oldest rules that know all of it.
        var neededRules: Rules {
            guard !interrupts, interruptibility == nil, unmet == .reject, !ignoresGuards,
                coalescing?.among != .unfinished, note == nil, mode == .exclusive
            else { return .second }
            return max(
                operation?.neededRules ?? .first, expectations.lazy.map(\.neededRules).max() ?? .first,
                participants.lazy.map(\.neededRules).max() ?? .first)
        }
    }

    /// A request for the main scene that asks for nothing but a lock.
    package static let plain = TransitionRequest()

    var details: Details {
        get { shared?.value ?? .none }
        set { shared = newValue == .none ? nil : Shared(newValue) }
    }

    /// Whether it asks for nothing beyond a lock.
    var lacksDetails: Bool { shared == nil }

    package init(
        scene: SceneName = .main,
        client: ClientName? = nil,
        scope: Scope? = nil,
        priority: Priority? = nil,
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
        interrupts: Bool = false,
        interruptibility: Interruptibility? = nil,
        unmet: UnmetAction = .reject,
        ignoresGuards: Bool = false,
        note: Note? = nil,
        mode: TransitionMode = .exclusive,
        session: Token? = nil,
        idempotencyKey: IdempotencyKey? = nil,
        principal: PrincipalName? = nil,
        trace: TraceParent? = nil
    ) {
        self.init(
            scene: scene, client: client, scope: scope, priority: priority, lease: lease, ticket: ticket, queue: queue,
            session: session, idempotencyKey: idempotencyKey, principal: principal, trace: trace,
            details: Details(
                operation: operation.map { KeptOperation($0) }, expectations: expectations, animation: animation,
                maxHold: maxHold, onExpiry: onExpiry, isInteractive: isInteractive, policy: policy,
                participants: participants, ready: ready, onUnready: onUnready, coalescing: coalescing,
                interrupts: interrupts, interruptibility: interruptibility, unmet: unmet,
                ignoresGuards: ignoresGuards, note: note, mode: mode))
    }

    /// A request for a lock, with what it asks for beyond that.
    init(
        scene: SceneName, client: ClientName?, scope: Scope?, priority: Priority? = nil, lease: Duration?,
        ticket: Duration, queue: Duration?, session: Token?, idempotencyKey: IdempotencyKey?,
        principal: PrincipalName?, trace: TraceParent?, details: Details?
    ) {
        self.scene = scene
        self.client = client
        self.scope = scope
        self.priority = priority
        self.lease = lease
        self.ticket = ticket
        self.queue = queue
        self.session = session
        self.idempotencyKey = idempotencyKey
        self.principal = principal
        self.trace = trace
        if let details { self.details = details }
    }
}

extension TransitionRequest {
    /// What it does to the hierarchy when it completes.
    package var operation: Operation? {
        get { shared?.value.operation?.operation }
        set { details.operation = newValue.map { KeptOperation($0) } }
    }
    /// The operation in its stored form, packed or not.
    package var keptOperation: KeptOperation? { shared?.value.operation }
    /// What must hold at the grant, at most `Limits.expectations`.
    package var expectations: [Expectation] {
        get { shared?.value.expectations ?? [] }
        set { details.expectations = newValue }
    }
    package var animation: AnimationRequest? {
        get { shared?.value.animation }
        set { details.animation = newValue }
    }
    /// The longest time after its grant, within `Limits.holdDurations`; without it, there is no such limit.
    package var maxHold: Duration? {
        get { shared?.value.maxHold }
        set { details.maxHold = newValue }
    }
    /// What happens to the operation if the transition expires while it runs; where there is a gesture, its decision counts.
    package var onExpiry: ExpiryAction {
        get { shared?.value.onExpiry ?? .discard }
        set { details.onExpiry = newValue }
    }
    /// Whether a gesture of its owner drives it.
    package var isInteractive: Bool {
        get { shared?.value.isInteractive ?? false }
        set { details.isInteractive = newValue }
    }
    /// What decides its gesture if the release does not.
    package var policy: GesturePolicy {
        get { shared?.value.policy ?? .standard }
        set { details.policy = newValue }
    }
    /// The clients that must be ready before it runs, at most `Limits.participants`, each client once.
    package var participants: [Participant] {
        get { shared?.value.participants ?? [] }
        set { details.participants = newValue }
    }
    /// How long participants have to become ready after the grant, within `Limits.readyDurations`.
    package var ready: Duration {
        get { shared?.value.ready ?? Limits.defaultReady }
        set { details.ready = newValue }
    }
    package var onUnready: UnreadyAction {
        get { shared?.value.onUnready ?? .proceed }
        set { details.onUnready = newValue }
    }
    package var coalescing: Coalescing? {
        get { shared?.value.coalescing }
        set { details.coalescing = newValue }
    }
    /// Whether it interrupts what is in its way and consents, instead of waiting for it.
    package var interrupts: Bool {
        get { shared?.value.interrupts ?? false }
        set { details.interrupts = newValue }
    }
    /// Whether it may be interrupted itself; without it, the scene's default counts.
    package var interruptibility: Interruptibility? {
        get { shared?.value.interruptibility }
        set { details.interruptibility = newValue }
    }
    /// What happens at its turn if an expectation fails; it waits only with a limit on its time in the queue.
    package var unmet: UnmetAction {
        get { shared?.value.unmet ?? .reject }
        set { details.unmet = newValue }
    }
    /// Whether it removes controllers without asking those who guard them.
    package var ignoresGuards: Bool {
        get { shared?.value.ignoresGuards ?? false }
        set { details.ignoresGuards = newValue }
    }
    /// Whether it conflicts with shared ones too; a shared one has neither an operation nor a gesture nor participants.
    package var mode: TransitionMode {
        get { shared?.value.mode ?? .exclusive }
        set { details.mode = newValue }
    }
    /// Why it is held, for people.
    package var note: Note? {
        get { shared?.value.note }
        set { details.note = newValue }
    }
}

extension TransitionRequest {
    /// The same request with its operation packed, as a transition stores it.
    var packed: TransitionRequest {
        guard let operation = keptOperation else { return self }
        var request = self
        request.details.operation = operation.packed
        return request
    }

    /// The oldest rules that know all of it.
    var neededRules: Rules {
        if case .anyOf? = scope { return .second }
        return priority == nil && highestPriority == nil ? shared?.value.neededRules ?? .first : .second
    }

    /// Whether it only locks the scene: there is nothing to plan, to check at the grant, or to animate.
    ///
    /// A request without a scope and an operation locks the whole scene, whatever the scene's defaults are.
    var isPlain: Bool {
        guard (scope ?? .scene) == .scene else { return false }
        guard let details = shared?.value else { return true }
        return details.operation == nil && details.expectations.isEmpty && details.animation == nil
            && !details.isInteractive
    }

    /// The operation with what its scope depends on, available without unpacking.
    ///
    /// Of a packed operation, an inserted hierarchy is only its root, as a view, and a `setStack` has no controllers. A list is whole.
    package var operationOutline: Operation? { keptOperation?.outline }

    /// How many controllers its operation inserts.
    var controllerCount: Int { keptOperation?.arrivalCounts.controllers ?? 0 }
}

/// What happens to a queued transition whose turn comes while one of its expectations does not hold.
package enum UnmetAction: String, Hashable, Sendable, CaseIterable {
    case reject
    /// It is set aside until they hold.
    case wait
}

/// What happens to the operation of a running transition that expires, and has no gesture.
package enum ExpiryAction: String, Hashable, Sendable, CaseIterable {
    /// The hierarchy does not change.
    case discard
    /// The operation is applied, as if the owner had completed the transition.
    case complete
}
