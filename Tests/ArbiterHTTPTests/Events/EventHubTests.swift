import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

/// The events that a reader gets, from each event on.
struct EventHubTests {
    private let time = ManualTime()
    private let alarm: ManualAlarm
    private let hub: EventHub

    init() {
        alarm = ManualAlarm(time: time)
        hub = EventHub(alarm: alarm)
    }

    private func publish(_ numbers: ClosedRange<UInt64>, in scene: SceneName = .main) {
        hub.publish(SceneEvent.samples(numbers, in: scene))
        hub.settle()
    }

    // MARK: Where a reader begins

    @Test func `a stream begins with a line that says it is there`() {
        let follower = Follower(hub)
        #expect(follower.read() == [])
        #expect(follower.comments == 1)
        #expect(follower.retry == 1000)
        #expect(follower.last == .nothing)
    }

    @Test func `who names no event gets what comes from now on`() {
        publish(1...3)
        let follower = Follower(hub)
        publish(4...5)
        #expect(follower.read().numbers == [4, 5])
        publish(6...6)
        #expect(follower.read().numbers == [6])
    }

    @Test func `what is published between subscribing and settling in is not lost`() {
        hub.publish(SceneEvent.samples(1...3))
        let subscription = hub.subscribe(to: .scene(.main), after: nil, outlet: RecordingExchange(), reset: { _ in })
        hub.publish(SceneEvent.samples(4...4))
        hub.settle()
        var text = EventText()
        while case .bytes(let bytes) = subscription.read(upTo: 4096) { text.append(bytes) }
        #expect(text.events.numbers == [4])
    }

    @Test(arguments: UInt64(0)...5)
    func `who names an event gets everything behind it`(number: UInt64) {
        publish(1...5)
        let follower = Follower(hub, after: number)
        let behind: [UInt64] = (1...5).filter { $0 > number }
        #expect(follower.read().numbers == behind)
        publish(6...7)
        #expect(follower.read().numbers == [6, 7])
        #expect(follower.openResets == 0)
    }

    @Test func `a scene whose last number is known is followed from there`() {
        hub.begin(.scene(.main), at: EventNumber(rawValue: 40))
        let follower = Follower(hub, after: 40)
        #expect(follower.openResets == 0)
        publish(41...42)
        #expect(follower.read().numbers == [41, 42])
        #expect(Follower(hub, after: 39).openResets == 1)
    }

    @Test func `scenes do not see each other's events`() throws {
        let other = try #require(SceneName("other"))
        let followers = [Follower(hub), Follower(hub, other)]
        publish(1...2)
        publish(1...3, in: other)
        #expect(followers[0].read().numbers == [1, 2])
        #expect(followers[1].read().numbers == [1, 2, 3])
    }

    @Test func `an event that was published before is passed over`() {
        let follower = Follower(hub)
        publish(1...3)
        publish(2...4)
        #expect(follower.read().numbers == [1, 2, 3, 4])
    }

    @Test(arguments: 1...60)
    func `events are whole, however little is read at a time`(count: Int) {
        publish(1...3)
        let follower = Follower(hub, after: 0)
        let events = follower.read(upTo: count)
        #expect(events.numbers == [1, 2, 3])
        #expect(events.map { $0.json["revision"] } == [1, 2, 3])
    }

    // MARK: Resets

    @Test(arguments: [UInt64(6), .max])
    func `who names an event that is still to come begins anew`(number: UInt64) throws {
        publish(1...5)
        let follower = Follower(hub, after: number)
        #expect(follower.read() == [])
        try follower.reset(at: 5)
        hub.settle()
        publish(6...6)
        let events = follower.read()
        #expect(events.map(\.name) == ["reset", "hierarchy.changed"])
        #expect(events.numbers == [5, 6])
    }

    @Test func `who names an event of a scene that is not known here begins anew`() throws {
        let follower = Follower(hub, after: 3)
        try follower.reset(at: 7)
        hub.settle()
        #expect(follower.read().numbers == [7])
        // The hub gets them late, and has sent all but the last already.
        publish(6...8)
        #expect(follower.read().numbers == [8])
    }

    @Test func `a scene whole that is ahead of the events passes over those it has gone through`() throws {
        publish(1...3)
        let follower = Follower(hub, after: 9)
        try follower.reset(at: 5)
        hub.settle()
        publish(4...4)
        #expect(follower.read().numbers == [5])
        hub.publish([.sample(nil)])
        publish(5...7)
        #expect(follower.read().numbers == [6, 7])
    }

    @Test func `a scene whole that the events are ahead of is followed by those behind it`() throws {
        publish(1...3)
        let follower = Follower(hub, after: 9)
        publish(4...6)
        try follower.reset(at: 4)
        hub.settle()
        #expect(follower.read().numbers == [4, 5, 6])
    }

    @Test func `a number that is left out has every reader begin anew`() throws {
        let followers = (0..<3).map { _ in Follower(hub) }
        publish(1...2)
        for follower in followers { #expect(follower.read().numbers == [1, 2]) }
        publish(1000...1001)
        for follower in followers { #expect(follower.read() == []) }
        try #require(followers.first { $0.openResets == 1 }).reset(at: 1000)
        hub.settle()
        for follower in followers {
            let events = follower.read()
            #expect(events.map(\.name) == ["reset", "hierarchy.changed"])
            #expect(events.numbers == [1000, 1001])
        }
    }

    @Test func `who has half an event when a number is left out is cut off`() {
        let follower = Follower(hub)
        publish(1...1)
        follower.readOnce()
        follower.readOnce(upTo: 7)
        publish(5...5)
        #expect(follower.outlet.isCut)
        #expect(follower.readOnce() == .cut)
    }

    @Test(arguments: [UInt64(3), 5, 8])
    func `where everything begins anew streams end, and those who come back begin behind its number`(number: UInt64) {
        let follower = Follower(hub, after: nil)
        publish(1...5)
        hub.restart(([.main: EventNumber(rawValue: number)], EventNumber(rawValue: number)))
        hub.settle()
        #expect(follower.read().numbers == [1, 2, 3, 4, 5])
        #expect(follower.last == .end)

        let others = [Follower(hub, after: 5), Follower(hub, after: number), Follower(hub)]
        #expect(others.map(\.openResets) == [number == 5 ? 0 : 1, 0, 0])
        publish(number + 1...number + 2)
        #expect(others[1].read().numbers == [number + 1, number + 2])
        #expect(others[2].read().numbers == [number + 1, number + 2])
        #expect(follower.read() == [])
        #expect(follower.last == .end)
    }

    @Test func `a stream of a scene that has gone ends`() throws {
        let follower = Follower(hub, after: 1)
        follower.read()
        try follower.reset(at: nil)
        hub.settle()
        #expect(follower.outlet.wakes == 1)
        #expect(follower.read() == [])
        #expect(follower.last == .end)
    }

    // MARK: Momentary events

    @Test func `what is momentary is told to those who listen, without a number`() {
        publish(1...1)
        let listening = Follower(hub)
        hub.publish([.sample(nil), .sample(2), .sample(nil), .sample(3)])
        hub.settle()
        let resuming = Follower(hub, after: 1)
        hub.publish([.sample(nil), .sample(4)])
        hub.settle()
        #expect(listening.read().map(\.id) == [nil, 2, nil, 3, nil, 4])
        #expect(resuming.read().map(\.id) == [2, 3, nil, 4])
    }

    @Test func `what is momentary can be the first that is heard of a scene`() {
        let follower = Follower(hub)
        hub.publish([.sample(nil), .sample(7), .sample(nil), .sample(8)])
        hub.settle()
        #expect(follower.read().map(\.id) == [nil, 7, nil, 8])
        #expect(Follower(hub, after: 6).read().map(\.id) == [7, 8])
    }
}
