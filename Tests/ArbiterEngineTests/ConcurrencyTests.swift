import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Foundation
import Synchronization
import Testing

struct ConcurrencyTests {
    private static let threads = 8
    private static let rounds = 500
    private static let scenes = 4

    /// Records the holder of each scene, and complains if there are two.
    private final class Census: Sendable {
        private struct State {
            var holders: [SceneName: TransitionID] = [:]
            var lastFence: [SceneName: UInt64] = [:]
            var complaints: [String] = []
            var grants = 0
        }

        private let state = Guarded(State())

        /// Notes that an owner holds its scene; called after the grant.
        func enter(_ view: TransitionView) {
            let (scene, fence) = (view.transition.request.scene, view.fence ?? 0)
            state.withLock { state in
                if let other = state.holders[scene] { state.complaints.append("\(view.id) and \(other) hold \(scene)") }
                if fence <= state.lastFence[scene, default: 0] {
                    state.complaints.append("\(fence) came after \(state.lastFence[scene, default: 0])")
                }
                state.holders[scene] = view.id
                state.lastFence[scene] = fence
                state.grants += 1
            }
        }

        func leave(_ view: TransitionView) {
            state.withLock { $0.holders[view.transition.request.scene] = nil }
        }

        var complaints: [String] { state.withLock { $0.complaints } }
        var grants: Int { state.withLock { $0.grants } }
    }

    private static func request(_ number: Int) throws -> TransitionRequest {
        TransitionRequest(scene: try #require(SceneName("scene-\(number % scenes)")), lease: .seconds(3600))
    }

    @Test func `one of many concurrent starts at a time holds a scene, and all are answered`() throws {
        let journal = MemoryJournal(keepsRecords: true)
        let engine = try Engine(journal: journal)
        let census = Census()
        let answers = Atomic(0)
        let requests = try (0..<Self.scenes).map(Self.request)
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            for round in 0..<Self.rounds {
                engine.start(requests[(thread + round) % Self.scenes]) { answer in
                    answers.add(1, ordering: .relaxed)
                    guard let view = try? answer.get() else { return }
                    census.enter(view)
                    census.leave(view)
                    engine.end(view.id, token: view.token, as: .completed) { _ in
                        answers.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        #expect(census.complaints == [])
        #expect(census.grants > 0)
        #expect(answers.load(ordering: .relaxed) == Self.threads * Self.rounds + census.grants)
        let records = try journal.records()
        #expect(records.count == 2 * census.grants)
        #expect(records.map(\.sequence) == records.indices.map { UInt64($0 + 1) })
    }

    @Test func `every parked serialize is granted once while another thread commits`() throws {
        let journal = ThreadedJournal()
        let engine = try Engine(journal: journal)
        let census = Census()
        let expected = Self.threads * Self.rounds
        let done = DispatchSemaphore(value: 0)
        let requests = try (0..<Self.scenes).map(Self.request)
        let ended = Atomic(0)
        for thread in 0..<Self.threads {
            Thread.detachNewThread {
                for round in 0..<Self.rounds {
                    engine.serialize(requests[(thread + round) % Self.scenes], wait: .seconds(120)) { answer in
                        guard let view = try? answer.get() else { return }
                        census.enter(view)
                        census.leave(view)
                        engine.end(view.id, token: view.token, as: .completed) { _ in
                            if ended.add(1, ordering: .relaxed).newValue == expected { done.signal() }
                        }
                    }
                }
            }
        }
        // This times out only if a completion was not called.
        #expect(done.wait(timeout: .now() + .seconds(120)) == .success)
        #expect(census.complaints == [])
        #expect(census.grants == expected)
        engine.stop()
        // A serialize and an end each, and the stop.
        #expect(try journal.records().count == 2 * expected + 1)
    }

    @Test func `waiters that leave while they are answered block no other ticket`() throws {
        let engine = try Engine(journal: ThreadedJournal())
        let answered = Atomic(0)
        let request = try Self.request(0)
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            for round in 0..<Self.rounds {
                let waiter = engine.serialize(request, wait: .seconds(120)) { answer in
                    answered.add(1, ordering: .relaxed)
                    guard let view = try? answer.get() else { return }
                    engine.end(view.id, token: view.token, as: .completed) { _ in }
                }
                if (thread + round).isMultiple(of: 2), let waiter { engine.leave(waiter) }
            }
        }
        let last = DispatchSemaphore(value: 0)
        engine.serialize(request, wait: .seconds(120)) { _ in last.signal() }
        #expect(last.wait(timeout: .now() + .seconds(120)) == .success)
        #expect(answered.load(ordering: .relaxed) >= Self.threads * Self.rounds / 2)
    }
}
