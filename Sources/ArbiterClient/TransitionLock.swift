internal import Foundation
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
        /// It was not performed, or was lost meanwhile; the error says why. Its operation is not applied, unless the daemon was not
        /// heard of after the end, or `onExpiry` has said so.
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
    let draw: Performer
    private let identity = OpenTransition.Lock()
    private let state = Mutex(State())

    /// The transition in whose block, or in whose completion, the code is that runs now.
    @TaskLocal static var current: OpenTransition?

    private struct State {
        /// The transition that `startTransition` began.
        var started: OpenTransition?
        /// The transition of the block that runs.
        var running: OpenTransition?
        /// The last request, finished when it has its place in the queue, or fails: they are asked in the order of the calls.
        var last: SingleResult<Void>?
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
        @_inheritActorContext perform: @escaping Performer = { await $0.passDuration() }
    ) {
        self.scene = scene
        var options = options
        options.operation = nil
        // Who asks does not wait for the turn.
        options.waitsForSelf = true
        self.options = options
        self.timeout = timeout
        draw = perform
    }

    // MARK: - Try

    /// Tries to begin a transition.
    ///
    /// - Returns: whether it has begun; if not, another one is in the way, or the last one has not been ended, and the event is to be
    ///   dropped.
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
    ///
    /// A line on standard error says what goes wrong.
    public func endTransition() {
        guard let started = takeStarted() else { return }
        state.withLock { state in
            let last = state.ending
            state.ending = Task {
                await last?.value
                do {
                    try await started.end()
                } catch {
                    let text = "arbiter: the end of \(started.transition.id) says: \(error)\n"
                    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
                }
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

    /// Runs a block when it is its turn, first come, first served among equal priorities; the lock is held until `transitionComplete()`.
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
                open.lose()
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
    /// It is the block that this is called from, also in tasks that it has begun, and in completions of this lock. So a block that has
    /// lost its transition, and says so late, does not complete another one. What is called by no task of a block, such as a callback
    /// of a timer or of a dispatch queue, completes the block that runs.
    public func transitionComplete() {
        running()?.complete()
    }

    // MARK: - What is open

    /// The transition that an operation which is asked for now belongs to, if there is one.
    func openTransition() -> OpenTransition? {
        let (started, running) = (state.withLock { $0.started }, running())
        guard let started, running?.transition.isLost != true else { return running }
        // Two do not hold the lock: the one that was granted before has lost it, although that may not have been heard yet.
        return (running?.transition.fence ?? 0) > (started.transition.fence ?? 0) ? running : started
    }

    /// The transition of the block that runs, or of the one that this code is of, if that is lost; `nil` in any other block.
    private func running() -> OpenTransition? {
        let running = state.withLock { $0.running }
        guard let current = Self.current, current.lock === identity, current !== running else { return running }
        return current.isOpen && current.transition.isLost ? current : nil
    }

    /// Asks for a transition in the order of the calls, and holds it while the body runs.
    func enqueue(
        _ options: TransitionOptions, _ completion: @escaping Handler, _ body: @escaping Performer
    ) {
        let asked = SingleResult<Void>()
        let last = state.withLock { state in
            defer { state.last = asked }
            return state.last
        }
        let isBehind = last?.isFinished == false
        Task { [scene, timeout, identity] in
            // What follows the turn has nothing to do with the block whose turn is next.
            var over: OpenTransition?
            let result: Completion
            do {
                // What waits behind one that could not reach the daemon has been in vain for as long.
                if isBehind { try await last?.value() }
                let transition = try await scene.serialize(
                    options, timeout: timeout, asked: { asked.finish(.success(())) })
                over = OpenTransition(transition, of: identity)
                over?.complete()
                try await scene.hold(transition, body)
                // Its gesture may have been decided otherwise.
                if let ended = transition.endedOtherwise { throw ClientError.ended(ended) }
                result = .finished(removed: transition.removed)
            } catch {
                asked.finish(error.isUnreachable ? .failure(error) : .success(()))
                result = .cancelled(error)
            }
            await Self.$current.withValue(over ?? Self.current) { await completion(result) }
        }
    }
}

extension Error {
    /// Whether the daemon could not be reached.
    fileprivate var isUnreachable: Bool { if case .unreachable? = self as? ClientError { true } else { false } }
}
