internal import ArbiterClient
internal import Foundation
internal import Synchronization

/// Clients that take turns, again and again, and how long these took.
final class BenchLoad: Sendable {
    /// How long a lease lasts beyond the time for which the lock is held.
    private static let margin = Duration.seconds(30)

    /// How long each turn took to come.
    let turns = LatencyHistogram()
    /// How long the request that ends a transition took.
    let ends = LatencyHistogram()
    private let arbiter: Arbiter
    private let deadline: ContinuousClock.Instant
    private let hold: Duration
    private let firstFailure = Mutex<(any Error)?>(nil)

    /// - Parameters:
    ///   - arbiter: whom to load.
    ///   - deadline: when the last turn begins, at the latest.
    ///   - hold: how long each client holds the lock.
    init(_ arbiter: Arbiter, until deadline: ContinuousClock.Instant, hold: Duration) {
        self.arbiter = arbiter
        self.deadline = deadline
        self.hold = hold
    }

    /// What the first client that failed failed with.
    var failure: (any Error)? { firstFailure.withLock { $0 } }

    /// Has all clients take turns until the deadline, or until one fails; then the others end what they have begun.
    func run(clients: Int, scenes: Int) async {
        await withTaskGroup { group in
            for number in 0..<clients {
                group.addTask { await self.takeTurns(in: "bench-\(number % scenes)") }
            }
        }
    }

    private func takeTurns(in scene: String) async {
        while ContinuousClock.now < deadline, failure == nil {
            do {
                try await takeTurn(in: scene)
            } catch {
                firstFailure.withLock { $0 = $0 ?? error }
            }
        }
    }

    /// Takes one turn and ends it; a turn that has not come when the wait or the time is over is given up.
    private func takeTurn(in scene: String) async throws {
        let asked = ContinuousClock.now
        let wait = Deadline(instant: deadline).nextWait
        let body: JSONValue = [
            "scene": .string(scene), "wait": .number(wait.inSeconds),
            "leaseSeconds": .number((hold + Self.margin).inSeconds),
        ]
        let request = WireRequest(
            "POST", "/transitions/serialize", body, headers: ["Idempotency-Key": UUID().uuidString],
            timeout: wait + WireTimes.margin)
        let ticket = try await arbiter.ask(request).accepted()
        let owned = OwnedTransition(ticket)
        guard ticket["state"]?.string == "running" else { return await owned.giveUp(arbiter) }
        turns.add(.now - asked)
        if hold > .zero { try await Task.sleep(for: hold) }
        let ending = ContinuousClock.now
        _ = try await owned.ask(arbiter, "end")
        ends.add(.now - ending)
    }
}
