import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

@testable import ArbiterClient

/// The words of the seed, with a real daemon.
struct TransitionLockTests {
    let daemon: DaemonProcess
    let arbiter: ArbiterClient.Arbiter
    let scene: ArbiterScene

    init() async throws {
        daemon = try await DaemonProcess.started(["--journal", "memory"])
        arbiter = Arbiter(url: try #require(URL(string: "http://127.0.0.1:\(daemon.port)")), client: "test")
        scene = arbiter.scene()
    }

    func declare() async throws {
        try await scene.declare(["root": ["id": "nav", "kind": "navigation", "children": ["list"]]])
    }

    func lock() -> TransitionLock { TransitionLock(scene, options: .patient, perform: { _ in }) }

    /// The one completion that `begin` gets.
    func completion(
        _ begin: (@escaping @Sendable (TransitionLock.Completion) -> Void) -> Void
    ) async -> TransitionLock.Completion {
        // A second call would end the process.
        await withCheckedContinuation { continuation in begin { continuation.resume(returning: $0) } }
    }

    @Test func `one transition at a time is started, and ended`() async throws {
        let (lock, other) = (lock(), lock())
        #expect(try await lock.startTransition())
        #expect(try await !lock.startTransition())
        #expect(try await !other.startTransition())
        try await lock.endTransition()
        try await lock.endTransition()
        #expect(try await other.startTransition())
        try await other.endTransition()
    }

    @Test func `blocks run one after the other, in their order`() async throws {
        let lock = lock()
        let log = Guarded<[Int]>([])
        await withTaskGroup { group in
            for number in 0..<10 {
                let (ended, end) = AsyncStream<Void>.makeStream()
                lock.serializeTransition {
                    log.withLock { $0 += [number, number] }
                    lock.transitionComplete()
                } completion: { completion in
                    #expect(completion.isFinished)
                    end.finish()
                }
                group.addTask { for await _ in ended {} }
            }
        }
        #expect(log.withLock { $0 } == (0..<10).flatMap { [$0, $0] })
    }

    @Test func `operations are applied, and completed once`() async throws {
        try await declare()
        let lock = lock()
        #expect(await completion { lock.push("editor", onto: "nav", completion: $0) }.isFinished)
        #expect(await completion { lock.present("alert", by: "editor", animated: false, completion: $0) }.isFinished)
        #expect(await completion { lock.dismiss("alert", completion: $0) }.isFinished)
        #expect(await completion { lock.popToRoot("nav", completion: $0) }.isFinished)
        // There is nothing to do.
        #expect(await completion { lock.pop("nav", completion: $0) }.isFinished)
        #expect(try await scene.read()["revision"]?.number == 5)
    }

    @Test func `what is impossible is cancelled, and says why`() async throws {
        try await declare()
        let lock = lock()
        guard case .cancelled(let error) = await completion({ lock.push("list", onto: "nav", completion: $0) }),
            case .ended(let ended)? = error as? ClientError
        else {
            Issue.record("it is finished")
            return
        }
        #expect((ended.outcome, ended.code) == ("rejected", "already-on-stack"))
        #expect(await completion { lock.push("editor", onto: "nav", completion: $0) }.isFinished)
    }

    // MARK: Losses

    @Test func `a block that loses the lock is complete`() async throws {
        let (lock, scene, arbiter) = (lock(), scene, arbiter)
        let completion = await completion { completion in
            lock.serializeTransition {
                Task {
                    let running = try await scene.read()["running"]?.array?.first?["id"]
                    _ = try await arbiter.ask(
                        WireRequest(
                            "POST", "/transitions/revoke", ["id": running ?? .null, "reason": "a test"]))
                }
            } completion: {
                completion($0)
            }
        }
        #expect(!completion.isFinished)
        #expect(try await lock.startTransition())
    }

    @Test func `a block that is late to say that it is complete does not complete the next one`() async throws {
        let (lock, scene, arbiter) = (lock(), scene, arbiter)
        let (late, isLate) = AsyncStream<Void>.makeStream()
        let (secondRuns, runs) = AsyncStream<Void>.makeStream()
        let (said, hasSaid) = AsyncStream<Void>.makeStream()
        let second = Guarded<TransitionLock.Completion?>(nil)
        _ = await completion { completion in
            lock.serializeTransition {
                Task {
                    let running = try await scene.read()["running"]?.array?.first?["id"]
                    _ = try await arbiter.ask(
                        WireRequest("POST", "/transitions/revoke", ["id": running ?? .null, "reason": "a test"]))
                    for await _ in late {}
                    lock.transitionComplete()
                    hasSaid.finish()
                }
            } completion: {
                completion($0)
            }
        }
        let (ended, end) = AsyncStream<Void>.makeStream()
        let (mayEnd, allowEnd) = AsyncStream<Void>.makeStream()
        lock.serializeTransition {
            runs.finish()
            Task {
                for await _ in mayEnd {}
                lock.transitionComplete()
            }
        } completion: { completion in
            second.withLock { $0 = completion }
            end.finish()
        }
        for await _ in secondRuns {}
        isLate.finish()
        for await _ in said {}
        #expect(second.withLock { $0 == nil })
        #expect(try await scene.read()["runningCount"]?.number == 1)
        allowEnd.finish()
        for await _ in ended {}
        #expect(second.withLock { $0?.isFinished } == true)
    }

    @Test func `the order of the calls is the order of the queue, among processes too`() async throws {
        let holder = try #require(try await scene.start(.patient))
        let (mine, other) = (lock(), lock())
        let log = Guarded<[String]>([])
        var ends: [AsyncStream<Void>] = []
        for (count, (lock, name)) in [(mine, "a1"), (mine, "a2"), (other, "b")].enumerated() {
            let (ended, end) = AsyncStream<Void>.makeStream()
            ends.append(ended)
            lock.serializeTransition {
                log.withLock { $0.append(name) }
                lock.transitionComplete()
            } completion: { _ in
                end.finish()
            }
            // The next one is asked for when this one has its place.
            for try await event in scene.events(since: "0") where event.name == "transition.queued" {
                if event.data["position"]?.number == Double(count + 1) { break }
            }
        }
        try await holder.complete()
        for ended in ends { for await _ in ended {} }
        #expect(log.withLock { $0 } == ["a1", "a2", "b"])
    }

    @Test func `a transition that its body has ended is left alone`() async throws {
        try await declare()
        _ = try await scene.withTransition(.patient(.push("editor", onto: "nav"))) { try await $0.cancel() }
        #expect(try await scene.read()["revision"]?.number == 1)
        _ = try await scene.withTransition(.patient(.push("editor", onto: "nav"))) { try await $0.complete() }
        #expect(try await scene.read()["revision"]?.number == 2)
    }

    @Test func `a task that is cancelled gives its ticket up`() async throws {
        let scene = scene
        let holder = try #require(try await scene.start(.patient))
        let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
        let task = Task {
            try await scene.serialize(.patient, waiting: { _ in isWaiting.finish() })
        }
        for await _ in waiting {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await scene.read()["queuedCount"]?.number == 0)
        try await holder.complete()
    }

    @Test func `the body's result and error go through`() async throws {
        struct Mistake: Error {}
        #expect(try await scene.withTransition(.patient) { $0.fence } == 1)
        await #expect(throws: Mistake.self) { try await scene.withTransition(.patient) { _ in throw Mistake() } }
        #expect(try await scene.withTransition(.patient) { $0.fence } == 3)
    }
}
