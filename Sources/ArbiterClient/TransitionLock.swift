internal import Synchronization

/// The lock of a scene in the words of TransitionLock for iOS: one transition of this process at a time, begun in one place and
/// completed in another.
///
/// ```swift
/// let lock = TransitionLock(arbiter.scene("main"))
/// lock.serializeTransition {
///     showMenu { lock.transitionComplete() }
/// }
/// lock.push("editor", onto: "nav") { completion in … }
/// ```
///
/// Every completion is called exactly once.
public final class TransitionLock: Sendable {
    /// How a transition came out.
    public enum Completion: Sendable {
        /// It was performed, and its operation is applied.
        case finished
        /// It was not performed, or was lost meanwhile; its operation is not applied.
        case cancelled(any Error)

        /// Whether it was performed.
        public var isFinished: Bool { if case .finished = self { true } else { false } }
    }

    /// Performs a granted transition, for example draws its animation, and returns when that is over.
    ///
    /// It is not called for an operation that would change nothing, since no lock is held then; the completion is called with
    /// `finished` at once:
    ///
    /// ```swift
    /// lock.pop("nav") { completion in … }  // at the root: nothing is performed, and the completion is finished
    /// ```
    public typealias Performer = @Sendable (HeldTransition) async throws -> Void

    private let scene: ArbiterScene
    private let perform: Performer
    private let state = Mutex(State())

    /// The block that the code which runs now was begun by.
    @TaskLocal private static var block: SingleResult<Void>?

    private struct State {
        /// The transition that `startTransition` began.
        var started: HeldTransition?
        /// Is finished when the block that runs has said that it is complete.
        var running: SingleResult<Void>?
        /// The last request, until it has its place in the queue: they are asked in the order of the calls.
        var last: Task<Void, Never>?
    }

    /// - Parameters:
    ///   - scene: what is locked.
    ///   - perform: what is done while a transition with an operation is held; unless given, its duration passes.
    public init(
        _ scene: ArbiterScene, perform: @escaping Performer = { try await Task.sleep(for: $0.duration) }
    ) {
        self.scene = scene
        self.perform = perform
    }

    // MARK: - Try

    /// Tries to begin a transition.
    ///
    /// - Returns: whether it has begun; if not, another one is in the way, and the event is to be dropped.
    /// - Throws: `ClientError`; `CancellationError`.
    public func startTransition() async throws -> Bool {
        guard state.withLock({ $0.started == nil }), let transition = try await scene.start() else { return false }
        let isFirst = state.withLock { state in
            guard state.started == nil else { return false }
            state.started = transition
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
        let transition = state.withLock { state in
            defer { state.started = nil }
            return state.started
        }
        try await transition?.complete()
    }

    // MARK: - Serialize

    /// Runs a block when it is its turn, strictly first come, first served; the lock is held until `transitionComplete()`.
    ///
    /// - Parameters:
    ///   - block: runs when the lock is held.
    ///   - completion: called when the lock is free again, or if the turn never comes.
    public func serializeTransition(
        _ block: @escaping @Sendable () -> Void, completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(TransitionOptions(), completion) { [self] transition in
            let running = SingleResult<Void>()
            state.withLock { $0.running = running }
            Self.$block.withValue(running) { block() }
            // A transition that is lost is complete, whatever the block still does.
            let watch = Task {
                await transition.untilLost()
                running.finish(.success(()))
            }
            try await running.value()
            watch.cancel()
        }
    }

    /// A block of `serializeTransition(_:completion:)` has completed its transition.
    ///
    /// It is the block that this is called from, also in tasks that it has begun, or else the one that runs. So a block that
    /// has lost its transition, and says so late, does not complete another one.
    public func transitionComplete() {
        if let block = Self.block { return block.finish(.success(())) }
        state.withLock { state in
            defer { state.running = nil }
            return state.running
        }?.finish(.success(()))
    }

    // MARK: - Operations

    /// Performs a segue of the storyboard.
    public func performSegue(
        _ identifier: String, sender: String, completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(TransitionOptions(.segue(identifier, from: sender)), completion, perform)
    }

    /// Pushes a controller onto a navigation.
    public func push(
        _ controller: ControllerNode, onto navigation: String, animated: Bool = true,
        completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.push(controller, onto: navigation), animated, completion)
    }

    /// Pops the top of a navigation.
    public func pop(
        _ navigation: String, animated: Bool = true, completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.pop(navigation), animated, completion)
    }

    /// Pops until a controller is at the top of a navigation.
    public func popTo(
        _ controller: String, of navigation: String, animated: Bool = true,
        completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.popTo(controller, of: navigation), animated, completion)
    }

    /// Pops until the root is at the top of a navigation.
    public func popToRoot(
        _ navigation: String, animated: Bool = true, completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.popToRoot(navigation), animated, completion)
    }

    /// Presents a controller, modally.
    public func present(
        _ controller: ControllerNode, by presenter: String, animated: Bool = true,
        completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.present(controller, by: presenter), animated, completion)
    }

    /// Dismisses what a controller presents, or the layer that it is in.
    public func dismiss(
        _ controller: String, animated: Bool = true, completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.dismiss(controller), animated, completion)
    }

    /// Selects a tab by its controller.
    public func select(
        _ controller: String, of tabs: String, animated: Bool = true,
        completion: @escaping @Sendable (Completion) -> Void = { _ in }
    ) {
        enqueue(.select(controller, of: tabs), animated, completion)
    }

    private func enqueue(
        _ operation: TransitionOperation, _ isAnimated: Bool, _ completion: @escaping @Sendable (Completion) -> Void
    ) {
        var options = TransitionOptions(operation)
        if !isAnimated { options.duration = .zero }
        enqueue(options, completion, perform)
    }

    private func enqueue(
        _ options: TransitionOptions, _ completion: @escaping @Sendable (Completion) -> Void,
        _ perform: @escaping Performer
    ) {
        var options = options
        // Who calls it does not wait for it.
        options.waitsForSelf = true
        let (hasAsked, asked) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            let last = state.last
            state.last = Task { for await _ in hasAsked {} }
            Task { [scene, options] in
                await last?.value
                do {
                    let transition = try await scene.serialize(options, asked: { asked.finish() })
                    try await scene.hold(transition) { transition in
                        if !transition.isNoop { try await perform(transition) }
                    }
                    completion(.finished)
                } catch {
                    asked.finish()
                    completion(.cancelled(error))
                }
            }
        }
    }
}
