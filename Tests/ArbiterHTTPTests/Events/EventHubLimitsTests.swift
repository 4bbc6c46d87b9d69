import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Dispatch
import Testing

@testable import ArbiterHTTP

/// What happens if a limit is reached: of events, of readers, of time.
struct EventHubLimitsTests {
    private let time = ManualTime()
    private let alarm: ManualAlarm

    init() {
        alarm = ManualAlarm(time: time)
    }

    private func hub(_ set: (inout EventLimits) -> Void = { _ in }) -> EventHub {
        var limits = EventLimits()
        set(&limits)
        return EventHub(limits: limits, alarm: alarm)
    }

    private func publish(_ numbers: ClosedRange<UInt64>, in scene: SceneName = .main, to hub: EventHub) {
        hub.publish(SceneEvent.samples(numbers, in: scene))
        hub.settle()
    }

    // MARK: Slow readers

    @Test func `a reader who never reads is cut off, and who reads is not`() {
        let hub = hub { $0.ringEvents = 8 }
        let (slow, quick) = (Follower(hub), Follower(hub))
        for batch in UInt64(0)..<10 {
            let numbers = (4 * batch + 1)...(4 * batch + 4)
            publish(numbers, to: hub)
            #expect(quick.read().numbers == Array(numbers))
            #expect(slow.outlet.isCut == (batch >= 2))
        }
        #expect(slow.readOnce() == .cut)
        #expect(!quick.outlet.isCut)
        // It continues after its last event if the ring still has the next one.
        #expect(Follower(hub, after: 32).read().numbers == Array(33...40))
        #expect(Follower(hub, after: 31).openResets == 1)
    }

    @Test func `a reader who stops within an event is cut off`() {
        let hub = hub { $0.ringEvents = 2 }
        let follower = Follower(hub)
        publish(1...1, to: hub)
        follower.readOnce()
        follower.readOnce(upTo: 10)
        publish(2...2, to: hub)
        #expect(!follower.outlet.isCut)
        publish(3...3, to: hub)
        #expect(follower.outlet.isCut)
        #expect(follower.readOnce() == .cut)
    }

    @Test func `what is published at once reaches a reader whole, although it is more than a ring may have`() {
        let hub = hub { $0.ringEvents = 2 }
        let follower = Follower(hub)
        follower.read()
        publish(1...50, to: hub)
        #expect(!follower.outlet.isCut)
        #expect(follower.read().numbers == Array(1...50))
        publish(51...52, to: hub)
        #expect(follower.read().numbers == [51, 52])
        #expect(Follower(hub, after: 49).openResets == 1, "later readers get no more than the ring may have")
    }

    @Test func `a stream that the daemon cuts is not taken for one that its client closed`() {
        let hub = hub { $0.ringEvents = 1 }
        let (slow, leaving) = (Follower(hub), Follower(hub))
        publish(1...1, to: hub)
        publish(2...2, to: hub)
        #expect(slow.outlet.isCut)
        slow.subscription.close()
        #expect(slow.wasClosedByClient == false)
        let other = Follower(hub)
        other.subscription.close()
        #expect(other.wasClosedByClient == true)
        hub.close()
        hub.settle()
        leaving.subscription.close()
        #expect(leaving.wasClosedByClient == false)
    }

    @Test func `a ring has no more bytes than it may, but always the newest event`() {
        let hub = hub { $0.ringBytes = 1000 }
        hub.publish([.sample(1), .sample(2), .sample(3, controllers: 200)])
        hub.settle()
        #expect(Follower(hub, after: 1).openResets == 1)
        #expect(Follower(hub, after: 2).read().numbers == [3])
    }

    @Test func `what is gone while the scene whole is told has the reader come again`() throws {
        let hub = hub { $0.ringEvents = 2 }
        publish(1...3, to: hub)
        let follower = Follower(hub, after: 0)
        publish(4...6, to: hub)
        publish(7...9, to: hub)
        try follower.reset(at: 3)
        hub.settle()
        #expect(follower.outlet.isCut)
    }

    @Test func `who commits never waits, and events that are too many are told by the scene whole`() throws {
        let hub = hub { $0.waitingEvents = 100 }
        let hold = DispatchSemaphore(value: 0)
        let isHeld = DispatchSemaphore(value: 0)
        let blocking = BlockingOutlet(isHeld: isHeld, hold: hold)
        // Who may see other scenes shares no reset with the follower.
        let caller = Caller(principal: nil, scenes: .matching([try #require(ScenePattern("main"))]))
        let blocker = hub.subscribe(
            to: .scene(.main), after: nil, permission: Permission(caller, roles: [.observe]), outlet: blocking,
            reset: { _ in })
        let follower = Follower(hub)
        while case .bytes = blocker.read(upTo: 4096) {}
        hub.publish([.sample(1)])
        isHeld.wait()
        for number in UInt64(2)...1000 { hub.publish([.sample(number)]) }
        hold.signal()
        hub.settle()
        #expect(follower.read() == [])
        try follower.reset(at: 1000)
        hub.settle()
        publish(1001...1001, to: hub)
        #expect(follower.read().numbers == [1000, 1001])
    }

    // MARK: Many readers

    @Test func `a thousand readers get every event, each woken once`() {
        let hub = hub()
        var followers = (0..<1000).map { _ in Follower(hub) }
        for follower in followers { follower.read() }
        publish(1...100, to: hub)
        publish(101...200, to: hub)
        while let next = followers.firstIndex(where: { $0.outlet.wakes > 0 }) {
            let follower = followers.remove(at: next)
            #expect(follower.outlet.wakes == 1)
            #expect(follower.read().numbers == Array(1...200))
            #expect(follower.outlet.wakes == 1)
        }
        #expect(followers.isEmpty)
    }

    @Test func `readers are woken a few at a time, the next when one has read or is over`() throws {
        let hub = hub { $0.wakesAtOnce = 2 }
        var followers = (0..<6).map { _ in Follower(hub) }
        for follower in followers { follower.read() }
        publish(1...1, to: hub)
        // A complete read, a partial read and a close all end its turn.
        for turn in [{ $0.read() }, { $0.readOnce(upTo: 1) }, { $0.subscription.close() }, { $0.read() }]
            as [(Follower) -> Void]
        {
            #expect(followers.count { $0.outlet.wakes == 1 } == 2)
            turn(followers.remove(at: try #require(followers.firstIndex { $0.outlet.wakes == 1 })))
        }
        #expect(followers.map(\.outlet.wakes) == [1, 1])
    }

    @Test func `a reader who closes while it is to be woken is passed over`() throws {
        let hub = hub { $0.wakesAtOnce = 1 }
        let followers = (0..<3).map { _ in Follower(hub) }
        for follower in followers { follower.read() }
        publish(1...1, to: hub)
        let first = try #require(followers.first { $0.outlet.wakes == 1 })
        let others = followers.filter { $0 !== first }
        others[0].subscription.close()
        first.read()
        #expect(others.map(\.outlet.wakes) == [0, 1])
        // A reader that has read without a wake is not woken for what it has.
        #expect(others[1].read().numbers == [1])
        publish(2...2, to: hub)
        let second = try #require([first, others[1]].first { $0.outlet.wakes == 2 })
        let third = second === first ? others[1] : first
        third.read()
        second.read()
        #expect(third.outlet.wakes == 1)
    }

    @Test func `who comes back when what it missed has been dropped begins anew`() throws {
        let hub = hub {
            $0.ringEvents = 8
            $0.waitingEvents = 8
        }
        let follower = Follower(hub)
        publish(1...3, to: hub)
        #expect(follower.read().numbers == [1, 2, 3])
        follower.subscription.close()
        publish(4...5, to: hub)
        publish(1...8, in: try #require(SceneName("other")), to: hub)
        let again = Follower(hub, after: 3)
        #expect(again.read() == [])
        #expect(again.openResets == 1)
        try again.reset(at: 5)
        hub.settle()
        publish(6...6, to: hub)
        #expect(again.read().numbers == [5, 6])
    }

    @Test func `who has gone is not woken, and is told so once`() {
        let hub = hub()
        let follower = Follower(hub)
        follower.read()
        follower.subscription.close()
        publish(1...1, to: hub)
        #expect(follower.closings == 1)
        #expect(follower.outlet.wakes == 0)
    }

    @Test func `nothing is left of who has gone`() {
        let hub = hub()
        weak var gone: EventSubscription?
        do {
            let follower = Follower(hub)
            publish(1...3, to: hub)
            follower.read()
            gone = follower.subscription
            follower.subscription.close()
            hub.settle()
        }
        #expect(gone == nil)
    }

    // MARK: Many scenes

    private func scene(_ number: Int) throws -> SceneName { try #require(SceneName("scene-\(number)")) }

    @Test func `the scene that is idle longest is forgotten, unless it is followed`() throws {
        let hub = hub { $0.rings = 3 }
        let follower = Follower(hub, try scene(0), after: nil)
        for number in 0..<6 { publish(1...1, in: try scene(number), to: hub) }
        publish(2...2, in: try scene(0), to: hub)
        #expect(follower.read().numbers == [1, 2])
        #expect(Follower(hub, try scene(2), after: 0).openResets == 1)
        #expect(Follower(hub, try scene(5), after: 0).read().numbers == [1])
    }

    @Test func `all scenes together have no more bytes than they may`() throws {
        let hub = hub { $0.allBytes = 2000 }
        for number in 0..<10 {
            let follower = Follower(hub, try scene(number), after: nil)
            publish(1...5, in: try scene(number), to: hub)
            follower.subscription.close()
        }
        #expect(Follower(hub, try scene(0), after: 0).openResets == 1)
        #expect(Follower(hub, try scene(9), after: 0).read().numbers == [1, 2, 3, 4, 5])
    }

    @Test func `of scenes that nobody follows only so many events are kept`() throws {
        let hub = hub { $0.waitingEvents = 20 }
        for number in 0..<10 { publish(1...5, in: try scene(number), to: hub) }
        #expect(Follower(hub, try scene(0), after: 0).openResets == 1)
        #expect(Follower(hub, try scene(9), after: 0).read().numbers == [1, 2, 3, 4, 5])
    }

    @Test func `whoever comes late finds what happened while nobody followed`() {
        let hub = hub { $0.ringEvents = 10 }
        let first = Follower(hub)
        publish(1...3, to: hub)
        #expect(first.read().numbers == [1, 2, 3])
        first.subscription.close()
        publish(4...6, to: hub)
        #expect(Follower(hub, after: 2).read().numbers == [3, 4, 5, 6])
        publish(7...20, to: hub)
        let late = Follower(hub, after: 12)
        #expect(late.openResets == 0)
        #expect(late.read().numbers == [13, 14, 15, 16, 17, 18, 19, 20])
        #expect(Follower(hub, after: 3).openResets == 1)
    }

    // MARK: Silence

    private func ring(_ hub: EventHub) {
        #expect(alarm.ringEarliest())
        hub.settle()
    }

    @Test func `a silent stream says that it is alive`() {
        let hub = hub()
        #expect(alarm.settings.first?.nanoseconds == time.now().instant.nanoseconds + 5_000_000_000)
        let follower = Follower(hub)
        follower.read()
        for round in 1...3 {
            ring(hub)
            ring(hub)
            #expect(follower.outlet.wakes == round - 1)
            ring(hub)
            #expect(follower.outlet.wakes == round)
            #expect(follower.read() == [])
            #expect(follower.comments == round + 1)
        }
    }

    @Test func `a stream with events says nothing else`() {
        let hub = hub()
        let follower = Follower(hub)
        for number in UInt64(1)...10 {
            ring(hub)
            ring(hub)
            publish(number...number, to: hub)
            #expect(follower.read().numbers == [number])
        }
        #expect(follower.comments == 1)
    }

    // MARK: The end

    @Test func `a stream ends behind the last event`() {
        let hub = hub()
        let (follower, waiting) = (Follower(hub), Follower(hub, after: 99))
        follower.read()
        waiting.read()
        hub.publish(SceneEvent.samples(1...3))
        hub.close()
        hub.settle()
        #expect(follower.read().numbers == [1, 2, 3])
        #expect(follower.last == .end)
        #expect(waiting.read() == [])
        #expect(waiting.last == .end)
        let late = Follower(hub)
        #expect(late.read() == [])
        #expect(late.last == .end)
        // The alarm stops too.
        while alarm.ringEarliest() {}
    }
}

/// An outlet that records its wakes.
private final class BlockingOutlet: StreamOutlet {
    private let isHeld: DispatchSemaphore
    private let hold: DispatchSemaphore

    init(isHeld: DispatchSemaphore, hold: DispatchSemaphore) {
        self.isHeld = isHeld
        self.hold = hold
    }

    func wake() {
        isHeld.signal()
        hold.wait()
    }

    func cut() {}
}
