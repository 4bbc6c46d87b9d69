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
    let options: TransitionOptions
    private let timeout: Duration?
    let perform: Performer
    private let identity = OpenTransition.Lock()
    private let state = Mutex(State())

    /// The transition in whose block, or in whose completion, the code is that runs now.
    @TaskLocal static var current: OpenTransition?

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

    // MARK: - What is open

    /// The transition that an operation which is asked for now belongs to, if there is one.
    func openTransition() -> OpenTransition? {
        let (started, running) = (state.withLock { $0.started }, running())
        guard let started else { return running }
        // A start that is lost has nothing to do with the block whose turn has come since.
        return started.transition.isLost ? running ?? started : started
    }

    /// The transition of the block that runs, unless this code is of another one, and so has nothing to do with it.
    private func running() -> OpenTransition? {
        guard let running = state.withLock({ $0.running }) else { return nil }
        if let current = Self.current, current.lock === identity, current !== running { return nil }
        return running
    }

    /// Asks for a transition in the order of the calls, and holds it while the body runs.
    func enqueue(
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
                    // Its gesture may have been decided otherwise.
                    if let ended = transition.endedOtherwise { throw ClientError.ended(ended) }
                    await completion(.finished(removed: transition.removed))
                } catch {
                    asked.finish()
                    await completion(.cancelled(error))
                }
            }
        }
    }
}
