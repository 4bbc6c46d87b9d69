import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterClient

/// Operations of what was begun without one: the examples of the seed, and what else belongs together.
extension TransitionLockTests {
    @Test func `startTransition, and a segue whose completion says endTransition`() async throws {
        try await scene.declare([
            "root": ["id": "nav", "kind": "navigation", "children": ["list"]],
            "segues": [["identifier": "mySegue", "source": "list", "kind": "show", "destination": "editor"]],
        ])
        let lock = lock()
        #expect(try await lock.startTransition())
        let performed = await completion { completion in
            lock.performSegue("mySegue", sender: "list") {
                lock.endTransition()
                completion($0)
            }
        }
        #expect(performed.isFinished)
        // The next start waits for the end that was not awaited.
        #expect(try await lock.startTransition())
        try await lock.endTransition()
        #expect(
            try await scene.read()["hierarchy"]?["children"]?.array?.compactMap { $0["id"]?.string } == [
                "list", "editor",
            ])
    }

    @Test func `a block that dismisses, and the completion of that says transitionComplete`() async throws {
        try await scene.declare(["root": ["id": "list", "presented": ["id": "menu"]]])
        let lock = lock()
        let dismissed = Guarded<[TransitionLock.Completion]>([])
        let turn = await completion { completion in
            lock.serializeTransition {
                lock.dismiss("list") { outcome in
                    dismissed.withLock { $0.append(outcome) }
                    lock.transitionComplete()
                }
            } completion: {
                completion($0)
            }
        }
        for completion in dismissed.withLock({ $0 }) + [turn] {
            guard case .finished(let removed) = completion else {
                Issue.record("\(completion)")
                return
            }
            #expect(removed == ["menu"])
        }
        #expect(dismissed.withLock { $0.count } == 1)
        #expect(try await scene.read()["runningCount"] == 0)
    }

    /// The second example in a class of the main actor, as every view controller is.
    @MainActor private final class Menu {
        var isPresented = true
        let lock: TransitionLock

        init(_ lock: TransitionLock) { self.lock = lock }

        func dismiss(completion: @escaping () -> Void) {
            isPresented = false
            completion()
        }

        func timerFires(_ completion: @escaping @Sendable (Bool) -> Void) {
            lock.serializeTransition { [weak self] in
                MainActor.assertIsolated()
                if self?.isPresented == true {
                    self?.dismiss { self?.lock.transitionComplete() }
                } else {
                    self?.lock.transitionComplete()
                }
            } completion: { [weak self] in
                MainActor.assertIsolated()
                completion($0.isFinished && self?.isPresented == false)
            }
        }
    }

    @Test func `blocks and completions run where the code is that passes them`() async throws {
        let menu = await Menu(lock())
        let isDismissed = await withCheckedContinuation { continuation in
            Task { await menu.timerFires { continuation.resume(returning: $0) } }
        }
        #expect(isDismissed)
    }

    @Test func `a transition has one operation, and its end waits for that to be asked`() async throws {
        try await declare()
        let lock = lock()
        let first = Guarded<TransitionLock.Completion?>(nil)
        let second = Guarded<TransitionLock.Completion?>(nil)
        let turn = await completion { completion in
            lock.serializeTransition {
                lock.push("editor", onto: "nav") { completion in first.withLock { $0 = completion } }
                lock.pop("nav") { completion in second.withLock { $0 = completion } }
                lock.transitionComplete()
            } completion: {
                completion($0)
            }
        }
        #expect(turn.isFinished)
        #expect(try await scene.read()["revision"]?.number == 2)
        #expect(await completion { lock.pop("nav", completion: $0) }.isFinished, "it is a transition of its own")
        #expect(first.withLock { $0?.isFinished } == true)
        guard case .cancelled(let error)? = second.withLock({ $0 }), case .refused(let refusal)? = error as? ClientError
        else {
            Issue.record("\(String(describing: second.withLock { $0 }))")
            return
        }
        #expect(refusal.code == "already-performed")
    }

    @Test func `what is asked after the end is a transition of its own`() async throws {
        try await declare()
        let lock = lock()
        #expect(try await lock.startTransition())
        let popped = await completion { done in
            lock.push("editor", onto: "nav") { _ in
                lock.endTransition()
                lock.push("note", onto: "nav") { _ in
                    // It is begun in a completion, and yet has nothing to do with that transition.
                    Task {
                        guard try await lock.startTransition() else { return done(.cancelled(CancellationError())) }
                        lock.pop("nav") {
                            lock.endTransition()
                            done($0)
                        }
                    }
                }
            }
        }
        guard case .finished(let removed) = popped else {
            Issue.record("\(popped)")
            return
        }
        #expect(removed == ["note"])
    }

    @Test func `what is not performed to its end is not applied`() async throws {
        struct Mistake: Error {}
        try await declare()
        let lock = TransitionLock(scene, options: .patient) { _ in throw Mistake() }
        #expect(try await lock.startTransition())
        #expect(await !completion { lock.push("editor", onto: "nav", completion: $0) }.isFinished)
        try await lock.endTransition()
        let turn = await completion { completion in
            lock.serializeTransition {
                lock.push("editor", onto: "nav") { _ in lock.transitionComplete() }
            } completion: {
                completion($0)
            }
        }
        #expect(!turn.isFinished)
        #expect(try await scene.read()["revision"]?.number == 1)
    }

    @Test func `what is asked of every transition can be set`() async throws {
        try await declare()
        var options = TransitionOptions()
        options.lease = .seconds(200)
        options.scope = .controllers(["nav"])
        let lock = TransitionLock(scene, options: options, timeout: .zero) { _ in }
        #expect(try await lock.startTransition())
        let running = try await scene.read()["running"]?.array?.first
        #expect(running?["leaseSeconds"] == 200 && running?["scope"] == ["nav"])
        let other = TransitionLock(scene, options: options, timeout: .zero) { _ in }
        guard case .cancelled(ClientError.timedOut) = await completion({ other.pop("nav", completion: $0) }) else {
            Issue.record("it has waited for longer")
            return
        }
        let isAbsent: ArbiterClient.JSONValue = ["controller": "list", "is": "absent"]
        #expect(await !completion { lock.push("editor", onto: "nav", expecting: isAbsent, completion: $0) }.isFinished)
        try await lock.endTransition()
        #expect(await !completion { lock.push("editor", onto: "nav", expecting: isAbsent, completion: $0) }.isFinished)
    }

    @Test func `a lock that is dropped gives back what it has begun`() async throws {
        #expect(try await lock().startTransition())
        let scene = scene
        let next = try await scene.serialize(.patient)
        try await next.complete()
    }

    // MARK: Losses, and what draws

    @Test func `a start that is lost takes nothing from the block whose turn comes`() async throws {
        try await declare()
        let lock = lock()
        #expect(try await lock.startTransition())
        let running = try await scene.read()["running"]?.array?.first?["id"]
        _ = try await arbiter.ask(
            WireRequest("POST", "/transitions/revoke", ["id": running ?? .null, "reason": "a test"]))
        let pushed = await completion { done in
            lock.serializeTransition {
                lock.push("editor", onto: "nav") { completion in
                    lock.transitionComplete()
                    done(completion)
                }
            }
        }
        #expect(pushed.isFinished)
    }

    @Test func `what draws may ask for more, and end it`() async throws {
        try await declare()
        let (second, ended) = (AsyncStream<TransitionLock.Completion>.makeStream(), AsyncStream<Void>.makeStream())
        let box = Guarded<TransitionLock?>(nil)
        let lock = TransitionLock(scene, options: .patient) { _ in
            let lock = box.withLock { $0 }
            lock?.pop("nav") { second.continuation.yield($0) }
            for await _ in second.stream { break }
            try await lock?.endTransition()
            ended.continuation.finish()
        }
        box.withLock { $0 = lock }
        #expect(try await lock.startTransition())
        _ = await completion { lock.push("editor", onto: "nav", completion: $0) }
        for await _ in ended.stream {}
        #expect(try await scene.read()["runningCount"] == 0)
        box.withLock { $0 = nil }
    }
}
