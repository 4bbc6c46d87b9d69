import ArbiterCore
import Testing

/// What holds after the machine has died under the journal.
struct DistrustTests {
    private let scene = TransitionRequest()

    private func moment(_ seconds: Int64) -> Moment {
        Moment(instant: Instant(nanoseconds: seconds * 1_000_000_000), timestamp: Timestamp(milliseconds: 0))
    }

    @Test func `no number that may have been told of an event is given to another`() throws {
        var machine = ArbiterStateMachine()
        let main = SceneName.main
        _ = machine.apply(.start(scene, id: TransitionID(rawValue: 1), token: Token(high: 1, low: 1)), at: moment(0))
        let before = try #require(machine.lastEvents()[main])
        _ = machine.apply(.distrust(holdsGrants: false), at: moment(1))
        #expect(machine.lastEvents()[main]?.rawValue == before.rawValue + Limits.eventJump)
        let other = TransitionRequest(scene: try #require(SceneName("other")))
        let outcome = machine.apply(
            .start(other, id: TransitionID(rawValue: 2), token: Token(high: 1, low: 2)), at: moment(2))
        let numbers = outcome.effects.compactMap { effect in
            if case .publish(let event) = effect { event.number?.rawValue } else { nil }
        }
        #expect(numbers == [Limits.eventJump + 1], "a scene that nobody remembers may have been followed too")
    }

    @Test func `after a kill fences jump, and nothing else`() throws {
        var machine = ArbiterStateMachine()
        _ = machine.apply(.start(scene, id: TransitionID(rawValue: 1), token: Token(high: 1, low: 1)), at: moment(0))
        let events = machine.lastEvents()
        #expect(machine.apply(.skipFences, at: moment(1)).records == [.skipFences])
        #expect(machine.lastEvents() == events)
        #expect(machine.remainingHold(at: moment(1).instant) == nil)
        let (id, other) = (TransitionID(rawValue: 2), TransitionRequest(scene: try #require(SceneName("other"))))
        _ = machine.apply(.start(other, id: id, token: Token(high: 1, low: 2)), at: moment(2))
        #expect(machine.transition(id)?.grant?.fence == Fence(rawValue: 2 + Limits.fenceJump))
    }

    @Test func `no revision that may have been told is given to another hierarchy`() throws {
        var machine = ArbiterStateMachine()
        _ = machine.apply(.declare(.main, .empty), at: moment(0))
        _ = machine.apply(.distrust(holdsGrants: false), at: moment(1))
        #expect(machine.hierarchy(of: .main)?.1.rawValue == 1 + Limits.revisionJump)
        let other = try #require(SceneName("other"))
        _ = machine.apply(.declare(other, .empty), at: moment(2))
        #expect(machine.hierarchy(of: other)?.1.rawValue == 1 + Limits.revisionJump)
    }

    @Test func `a second death does not end what the first still holds`() throws {
        var machine = ArbiterStateMachine()
        _ = machine.apply(.distrust(holdsGrants: true), at: moment(0))
        let id = TransitionID(rawValue: 1)
        let token = Token(high: 1, low: 1)
        _ = machine.apply(.serialize(scene, id: id, token: token), at: moment(1))

        _ = machine.apply(.distrust(holdsGrants: false), at: moment(2))
        machine.recover(at: moment(2).instant)
        #expect(machine.brokenInvariant() == nil)
        #expect(machine.transition(id)?.state == .queued)
        #expect(machine.remainingHold(at: moment(2).instant) == Limits().longestSilence)

        _ = machine.apply(.resume, at: moment(3))
        #expect(machine.transition(id)?.state == .running)
    }
}
