import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// What resets hold in memory, and for whom.
struct EventResetsTests {
    private let alarm = ManualAlarm(time: ManualTime())

    private func hub(_ set: (inout EventLimits) -> Void = { _ in }) -> EventHub {
        var limits = EventLimits()
        limits.ringEvents = 4
        set(&limits)
        return EventHub(limits: limits, alarm: alarm)
    }

    private func publish(_ numbers: ClosedRange<UInt64>, in scene: SceneName = .main, to hub: EventHub) {
        hub.publish(SceneEvent.samples(numbers, in: scene))
        hub.settle()
    }

    @Test func `those who need a reset at the same time share one, and each reads it at its own pace`() throws {
        let hub = hub()
        publish(1...9, to: hub)
        let followers = (0..<100).map { _ in Follower(hub, after: 1) }
        #expect(followers.map(\.openResets).reduce(0, +) == 1)
        try followers[0].reset(at: 9, byteCount: 1000)
        hub.settle()
        #expect(hub.resetBytes == 1000)
        for follower in followers.dropLast() {
            #expect(follower.read(upTo: 10).numbers == [9])
            #expect(hub.resetBytes == 1000, "the last one has not read it")
        }
        #expect(followers[99].read().numbers == [9])
        #expect(hub.resetBytes == 0)
    }

    @Test func `who comes while a state of all scenes is read gets it too, and then what has happened since`() throws {
        let hub = hub()
        publish(1...9, to: hub)
        let first = Follower(hub, topic: .allScenes, after: 1)
        try first.reset(at: 9, byteCount: 1000)
        hub.settle()
        publish(10...12, to: hub)
        let second = Follower(hub, topic: .allScenes, after: 1)
        #expect(second.openResets == 0)
        #expect(hub.resetBytes == 1000)
        #expect(second.read().map(\.name) == ["reset"] + Array(repeating: "hierarchy.changed", count: 3))
        // Of what has happened since, something is lost.
        publish(13...14, to: hub)
        #expect(first.outlet.isCut)
        #expect(hub.resetBytes == 0)
        #expect(Follower(hub, topic: .allScenes, after: 1).openResets == 1)
    }

    @Test func `the state of a scene is asked for again, because it tells what is left of leases`() throws {
        let hub = hub()
        publish(1...9, to: hub)
        let first = Follower(hub, after: 1)
        try first.reset(at: 9)
        hub.settle()
        #expect(Follower(hub, after: 1).openResets == 1)
    }

    @Test func `beyond the limit the readers of the oldest state are cut off, and who has read it is not`() throws {
        let hub = hub { $0.resetBytes = 250 }
        let scenes = (0..<3).compactMap { SceneName("scene-\($0)") }
        var followers: [Follower] = []
        let quick = Follower(hub, scenes[0], after: 1)
        let slow = Follower(hub, scenes[0], after: 1)
        try quick.reset(at: 9, byteCount: 100)
        hub.settle()
        #expect(quick.read().numbers == [9])
        for scene in scenes.dropFirst() {
            #expect(!slow.outlet.isCut)
            followers.append(Follower(hub, scene, after: 1))
            try #require(followers.last).reset(at: 9, byteCount: 100)
            hub.settle()
        }
        #expect(slow.outlet.isCut)
        #expect(slow.readOnce() == .cut)
        #expect(!quick.outlet.isCut)
        #expect(hub.resetBytes == 200)
        for follower in followers { #expect(follower.read().numbers == [9]) }
        #expect(hub.resetBytes == 0)
    }

    @Test func `the newest state is held regardless of its size, and given back when its reader leaves`() throws {
        let hub = hub { $0.resetBytes = 10 }
        let follower = Follower(hub, after: 1)
        try follower.reset(at: 9, byteCount: 1000)
        hub.settle()
        #expect(!follower.outlet.isCut)
        #expect(hub.resetBytes == 1000)
        follower.subscription.close()
        hub.settle()
        #expect(hub.resetBytes == 0)
    }

    @Test func `who comes after a restart does not get an answer from before it`() throws {
        let hub = hub()
        publish(1...9, to: hub)
        let before = Follower(hub, after: 1)
        hub.restart(([.main: EventNumber(rawValue: 5)], EventNumber(rawValue: 5)))
        hub.settle()
        let after = Follower(hub, after: 1)
        #expect(after.openResets == 1)
        try before.reset(at: 9)
        hub.settle()
        #expect(after.read() == [])
        try after.reset(at: 5)
        hub.settle()
        #expect(after.read().numbers == [5])
    }
}
