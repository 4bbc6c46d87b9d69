internal import Synchronization

/// The lock of a scene in the words of TransitionLock for iOS: one transition of this process at a time, begun in one place and
/// completed in another.
///
/// ```swift
/// if try await lock.startTransition() {
///     lock.performSegue("mySegue", sender: "list") { _ in lock.endTransition() }
/// }
/// lock.serializeTransition {
///     lock.dismiss("menu") { _ in lock.transitionComplete() }
/// }
/// ```
///
/// An operation that is asked for while a transition of `startTransition()`, or a block, has this lock belongs to that
/// transition, which gets one operation; a second one is cancelled with `already-performed`. Otherwise an operation waits for a
/// transition of its own. Every block and every completion runs where the code that passes it runs, for example on the main
/// actor; every completion is called exactly once.
public final class TransitionLock: Sendable {
    /// How a transition, or the operation of one, came out.
    public enum Completion: Sendable {
        /// It was performed. `removed` are the controllers that were popped or dismissed, in that order.
        case finished(removed: [String])
        /// It was not performed, or was lost meanwhile; its operation is not applied.
        case cancelled(any Error)

        /// Whether it was performed.
        public var isFinished: Bool { if case .finished = self { true } else { false } }
    }

    /// Performs a granted transition, for example draws its animation, and returns when that is over.
    ///
    /// It is not called for an operation that would change nothing; the completion is called with `finished` at once:
    ///
    /// ```swift
    /// lock.pop("nav") { completion in … }  // at the root: nothing is performed, and the completion is finished
    /// ```
    public typealias Performer = @Sendable (HeldTransition) async throws -> Void

    /// What runs while the lock is held.
    public typealias Block = @Sendable @isolated(any) () -> Void

    /// What is told how a transition came out.
    public typealias Handler = @Sendable @isolated(any) (Completion) -> Void

    private let scene: ArbiterScene
    private let options: TransitionOptions
    private let timeout: Duration?
    private let perform: Performer
    private let identity = Identity()
    private let state = Mutex(State())

    /// The transition in whose block, or in whose completion, the code is that runs now.
    @TaskLocal private static var current: OpenTransition?

    private struct State {
        /// The transition that `startTransition` began.
        var started: OpenTransition?
        /// The transition of the block that runs.
        var running: OpenTransition?
        /// The last request, until it has its place in the queue: they are asked in the order of the calls.
        var last: Task<Void, Never>?
        /// The last end that nobody waits for.
        var ending: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - scene: what is locked.
    ///   - options: what is asked of every transition, for example its lease, its scope or `expect`, apart from the operation.
    ///   - timeout: how long a turn may take to come; for ever unless set.
    ///   - perform: what is done while a transition with an operation is held; unless given, its duration passes.
    public init(
        _ scene: ArbiterScene, options: TransitionOptions = TransitionOptions(), timeout: Duration? = nil,
        @_inheritActorContext perform: @escaping Performer = { try await Task.sleep(for: $0.duration) }
    ) {
        self.scene = scene
        var options = options
        options.operation = nil
        // Who asks does not wait for the turn.
        options.waitsForSelf = true
        self.options = options
        self.timeout = timeout
        self.perform = perform
    }

    // MARK: - Try

    /// Tries to begin a transition.
    ///
    /// - Returns: whether it has begun; if not, another one is in the way, and the event is to be dropped.
    /// - Throws: `ClientError`; `CancellationError`.
    public func startTransition() async throws -> Bool {
        await state.withLock { $0.ending }?.value
        guard state.withLock({ $0.started == nil }), let transition = try await scene.start(options) else {
            return false
        }
        let isFirst = state.withLock { state in
            guard state.started == nil else { return false }
            state.started = OpenTransition(transition, of: identity)
            return true
        }
        // Two calls at once cannot both be granted, unless the lock was lost in between.
        if !isFirst { try await transition.cancel() }
        return isFirst
    }

    /// Ends the transition that `startTransition()` began; nothing if there is none.
    ///
    /// - Throws: `ClientError.ended` if it was lost; `unreachable`; `CancellationError`.
    public func endTransition() async throws {
        guard let started = takeStarted() else { return }
        // It ends also if this task is cancelled.
        try await Task { try await started.end() }.value
    }

    /// The same, without waiting for it; the next `startTransition()` does.
    public func endTransition() {
        guard let started = takeStarted() else { return }
        state.withLock { state in
            let last = state.ending
            state.ending = Task {
                await last?.value
                try? await started.end()
            }
        }
    }

    private func takeStarted() -> OpenTransition? {
        let started = state.withLock { state in
            defer { state.started = nil }
            return state.started
        }
        started?.complete()
        return started
    }

    // MARK: - Serialize

    /// Runs a block when it is its turn, strictly first come, first served; the lock is held until `transitionComplete()`.
    ///
    /// - Parameters:
    ///   - block: runs when the lock is held.
    ///   - completion: called when the lock is free again, or if the turn never comes.
    public func serializeTransition(
        @_inheritActorContext _ block: @escaping Block, @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        enqueue(options, completion) { [self] transition in
            let open = OpenTransition(transition, of: identity)
            state.withLock { $0.running = open }
            await Self.$current.withValue(open) { await block() }
            // A transition that is lost is complete, whatever the block still does.
            let watch = Task {
                await transition.untilLost()
                open.complete()
            }
            await open.untilComplete()
            watch.cancel()
            state.withLock { if $0.running === open { $0.running = nil } }
            await open.untilPerformed()
            if let failure = open.failure { throw failure }
        }
    }

    /// A block of `serializeTransition(_:completion:)` has completed its transition.
    ///
    /// It is the block that this is called from, also in tasks and completions that it has begun. So a block that has lost its
    /// transition, and says so late, does not complete another one. What is called by no task of a block, such as a callback of
    /// a timer, completes the block that runs.
    public func transitionComplete() {
        running()?.complete()
    }

    // MARK: - Operations

    /// Performs a segue of the storyboard.
    ///
    /// - Parameters:
    ///   - identifier: the segue.
    ///   - sender: its source.
    ///   - destination: what comes in instead of what the storyboard says.
    ///   - animated: whether it is drawn.
    ///   - expecting: what must hold when it is performed, as `expect` of the wire; so for all operations.
    ///   - completion: called when it has been performed; the lock is still held, if it belongs to a transition that was begun
    ///     before.
    public func performSegue(
        _ identifier: String, sender: String, to destination: ControllerNode? = nil, animated: Bool = true,
        expecting: JSONValue? = nil, @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.segue(identifier, from: sender, to: destination), animated, expecting, completion)
    }

    /// Pushes a controller onto a navigation.
    public func push(
        _ controller: ControllerNode, onto navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.push(controller, onto: navigation), animated, expecting, completion)
    }

    /// Pops the top of a navigation.
    public func pop(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.pop(navigation), animated, expecting, completion)
    }

    /// Pops until a controller is at the top of a navigation.
    public func popTo(
        _ controller: String, of navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.popTo(controller, of: navigation), animated, expecting, completion)
    }

    /// Pops until the root is at the top of a navigation.
    public func popToRoot(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.popToRoot(navigation), animated, expecting, completion)
    }

    /// Presents a controller, modally.
    public func present(
        _ controller: ControllerNode, by presenter: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.present(controller, by: presenter), animated, expecting, completion)
    }

    /// Dismisses what a controller presents, or the layer that it is in.
    public func dismiss(
        _ controller: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.dismiss(controller), animated, expecting, completion)
    }

    /// Selects a tab by its controller.
    public func select(
        _ controller: String, of tabs: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.select(controller, of: tabs), animated, expecting, completion)
    }

    private func ask(
        _ operation: TransitionOperation, _ isAnimated: Bool, _ expectations: JSONValue?,
        _ completion: @escaping Handler
    ) {
        if let open = openTransition(),
            let performed = open.perform(operation, expectations, isAnimated, by: perform)
        {
            Task { await finish(performed, in: open, completion) }
            return
        }
        var options = options
        options.operation = operation
        if let expectations { options.further["expect"] = .array(options.expectations + expectations.listed) }
        if !isAnimated { options.duration = .zero }
        enqueue(options, completion) { [perform] transition in
            if !transition.isNoop { try await perform(transition) }
        }
    }

    /// The transition that an operation which is asked for now belongs to, if there is one.
    private func openTransition() -> OpenTransition? { state.withLock { $0.started } ?? running() }

    /// The transition of the block that runs, unless this code is of another one, and so has nothing to do with it.
    private func running() -> OpenTransition? {
        guard let running = state.withLock({ $0.running }) else { return nil }
        if let current = Self.current, current.lock === identity, current !== running { return nil }
        return running
    }

    /// Calls the completion of an operation of a transition that was begun without one.
    private func finish(
        _ performed: Task<[String], any Error>, in open: OpenTransition, _ completion: Handler
    ) async {
        let result: Completion
        switch await performed.result {
        case .success(let removed): result = .finished(removed: removed)
        case .failure(let error): result = .cancelled(error)
        }
        await Self.$current.withValue(open) { await completion(result) }
    }

    /// Asks for a transition in the order of the calls, and holds it while the body runs.
    private func enqueue(
        _ options: TransitionOptions, _ completion: @escaping Handler, _ body: @escaping Performer
    ) {
        let (hasAsked, asked) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            let last = state.last
            state.last = Task { for await _ in hasAsked {} }
            Task { [scene, timeout] in
                await last?.value
                do {
                    let transition = try await scene.serialize(options, timeout: timeout, asked: { asked.finish() })
                    try await scene.hold(transition, body)
                    await completion(.finished(removed: transition.removed))
                } catch {
                    asked.finish()
                    await completion(.cancelled(error))
                }
            }
        }
    }
}

/// A lock, for its transitions, which do not refer to it: one that is dropped gives back what it holds.
private final class Identity: Sendable {}

/// A transition that was begun without an operation, and may be given one.
private final class OpenTransition: Sendable {
    let transition: HeldTransition
    let lock: Identity
    private let completed = SingleResult<Void>()
    private let state = Mutex(State())

    private struct State {
        var isOpen = true
        /// The operation that was asked last.
        var last: Task<[String], any Error>?
        /// Whether it has its operation.
        var isPerformed = false
        /// Why its operation was not performed to the end, or may be unknown to the daemon, so that it is not to be applied.
        var failure: (any Error)?
    }

    init(_ transition: HeldTransition, of lock: Identity) {
        self.transition = transition
        self.lock = lock
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Performs an operation as its own.
    ///
    /// - Parameters:
    ///   - operation: the operation.
    ///   - expectations: what must hold.
    ///   - isAnimated: whether it is drawn.
    ///   - performer: draws it.
    /// - Returns: what the operation removes; `nil` if it does not belong to this transition, because that is complete.
    func perform(
        _ operation: TransitionOperation, _ expectations: JSONValue?, _ isAnimated: Bool,
        by performer: @escaping TransitionLock.Performer
    ) -> Task<[String], any Error>? {
        state.withLock { state in
            // What is asked of one that is lost fails as it does.
            guard state.isOpen || transition.isLost else { return nil }
            let last = state.last
            let performed = Task {
                // One after the other, in the order of the calls.
                _ = await last?.result
                return try await perform(operation, expectations, isAnimated, performer)
            }
            state.last = performed
            return performed
        }
    }

    private func perform(
        _ operation: TransitionOperation, _ expectations: JSONValue?, _ isAnimated: Bool,
        _ performer: TransitionLock.Performer
    ) async throws -> [String] {
        guard !state.withLock({ $0.isPerformed }) else { throw ClientError.alreadyPerformed }
        do {
            let performed = try await transition.perform(operation, expecting: expectations, isAnimated: isAnimated)
            if performed["noop"] == true { return [] }
            state.withLock { $0.isPerformed = true }
            try await performer(transition)
            if let lost = transition.ending { throw ClientError.ended(lost) }
            return performed.removed
        } catch ClientError.refused(let refusal) where !state.withLock({ $0.isPerformed }) {
            throw ClientError.refused(refusal)
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    /// It gets no operation any more, and its block is over.
    func complete() {
        state.withLock { $0.isOpen = false }
        completed.finish(.success(()))
    }

    func untilComplete() async { _ = try? await completed.value() }

    /// Returns when what it was asked has been performed.
    func untilPerformed() async { _ = await state.withLock { $0.last }?.result }

    /// Ends it when what it was asked has been performed.
    func end() async throws {
        await untilPerformed()
        if failure == nil {
            try await transition.complete()
        } else {
            try await transition.cancel()
        }
    }
}

extension ClientError {
    /// What the daemon says of another operation; it takes the same one for a repetition.
    fileprivate static var alreadyPerformed: ClientError {
        .refused(
            Refusal(
                status: 409,
                [
                    "code": "already-performed", "title": "The transition has another operation already",
                    "detail": "A transition has one operation: ask for another transition.",
                ]))
    }
}

extension TransitionOptions {
    /// What must hold, as a list.
    fileprivate var expectations: [JSONValue] { further["expect"]?.listed ?? [] }
}

extension JSONValue {
    /// Its elements, if it is a list; otherwise itself.
    fileprivate var listed: [JSONValue] { array ?? [self] }
}
