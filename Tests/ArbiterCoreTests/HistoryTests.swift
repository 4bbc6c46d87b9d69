import ArbiterTestKit
import Testing

@testable import ArbiterCore

/// Random histories, checked after every step by the harness and as a whole here.
struct HistoryTests {
    @Test(arguments: Seeds.first(15, atNight: 60))
    func `any history keeps the promises`(seed: UInt64) throws {
        var life = Life(seed: seed)
        for _ in 0..<150 { try life.step() }
        life.expectTurnsInRequestOrder()
        life.expectReplayIsTheSame()
        // Nobody says anything any more: all of it ends by itself, and everyone is answered.
        life.arbiter.advance(by: .seconds(3600))
        #expect(life.arbiter.transitions.allSatisfy { $0.state == .ended }, "seed \(seed)")
        #expect(life.arbiter.stillParked.isEmpty, "seed \(seed)")
        life.expectTurnsInRequestOrder()
        life.expectReplayIsTheSame()
    }
}

/// Clients that do anything, at any time.
private struct Life {
    var arbiter: Arbiter
    private let limits: Limits
    private let seed: UInt64
    private var random: SplitMix64
    private var owners: [Owner] = []
    private var waiters: [WaiterID] = []

    init(seed: UInt64) {
        var limits = Limits()
        limits.queuedPerScene = 6
        limits.unfinished = 12
        limits.scenes = 3
        limits.retainedCount = 4
        limits.retainedDuration = .seconds(20)
        limits.retainedMaximum = 12
        self.limits = limits
        self.seed = seed
        random = SplitMix64(seed: seed)
        arbiter = Arbiter(limits: limits)
    }

    mutating func step() throws {
        do {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: owners.append(try arbiter.start(scene: scene(), lease: duration()))
            case 1, 2, 3: try serialize()
            case 4, 5: try endSome()
            case 6: try parkSome()
            case 7: if let owner = someOwner() { try arbiter.renew(random.isOnce(in: 5) ? owner.guessing : owner) }
            case 8: if let waiter = waiters.randomElement(using: &random) { try arbiter.leave(waiter) }
            case 9: arbiter.oversleep(duration())
            case 10: if random.isOnce(in: 30) { try arbiter.drain() }
            default: arbiter.advance(by: duration())
            }
        } catch is ArbiterError {
            // Refusals are part of life; the harness has checked that they changed nothing.
        }
    }

    private mutating func serialize() throws {
        let owner = try arbiter.serialize(
            scene: scene(), lease: duration(), ticket: duration(), queue: random.isOnce(in: 3) ? duration() : nil,
            parked: !random.isOnce(in: 3), wait: duration())
        owners.append(owner)
        if let waiter = owner.waiter { waiters.append(waiter) }
    }

    private mutating func endSome() throws {
        guard let owner = someOwner() else { return }
        try arbiter.end(
            random.isOnce(in: 10) ? owner.guessing : owner, as: random.isOnce(in: 3) ? .cancelled : .completed)
    }

    private mutating func parkSome() throws {
        guard let owner = someOwner() else { return }
        let milestone = Milestone.allCases.randomElement(using: &random) ?? .ended
        waiters.append(
            try arbiter.park(on: owner, until: milestone, asOwner: random.isOnce(in: 2), wait: duration()))
    }

    /// A young one, mostly.
    private mutating func someOwner() -> Owner? {
        random.isOnce(in: 10) ? owners.randomElement(using: &random) : owners.suffix(6).randomElement(using: &random)
    }

    private mutating func scene() -> String {
        random.isOnce(in: 12) ? "rare\(Int.random(in: 0..<4, using: &random))" : random.isOnce(in: 4) ? "left" : "main"
    }

    private mutating func duration() -> Duration {
        .milliseconds(100 * Int.random(in: 1...60, using: &random))
    }

    /// Within a scene, fences follow requests: nobody was overtaken.
    func expectTurnsInRequestOrder() {
        for (_, views) in Dictionary(grouping: arbiter.transitions, by: \.transition.request.scene) {
            let fences = views.compactMap(\.fence)
            #expect(fences == fences.sorted(), "seed \(seed)")
        }
    }

    /// The journal alone gives the durable state again.
    func expectReplayIsTheSame() {
        var replay = ArbiterStateMachine(limits: limits)
        for entry in arbiter.journal {
            _ = replay.apply(entry.record, at: entry.moment)
        }
        let durable = arbiter.machine.durable
        #expect(replay.durable.transitions == durable.transitions, "seed \(seed)")
        #expect(replay.durable.ended == durable.ended, "seed \(seed)")
        #expect(replay.durable.lastFence == durable.lastFence, "seed \(seed)")
        #expect(replay.durable.lastOrder == durable.lastOrder, "seed \(seed)")
        #expect(replay.scenes() == arbiter.machine.scenes(), "seed \(seed)")
        #expect(replay.durable.queues == durable.queues, "seed \(seed)")
    }
}

extension DurableState {
    /// The unfinished transitions of each scene.
    fileprivate var queues: [SceneName: [TransitionID]] {
        scenes.reduce(into: [:]) { $0[$1.key] = $1.value.queue.unfinished }
    }
}
