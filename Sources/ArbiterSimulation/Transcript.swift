internal import ArbiterCore

/// Something that happened, kept as it is and described only if somebody wants to read it.
enum Event {
    case applied(Command, Verdict, isDurable: Bool, sequence: UInt64)
    case woken(WaiterID, TransitionID, TransitionState)
    case told(client: Int, TransitionID, TransitionState, fence: UInt64)
    case committed(UInt64)
    case saved(UInt64)
    case time(Instant)
    case lost(client: Int)
    case died(client: Int)
    case crashed(surviving: UInt64, last: UInt64, isMachineDead: Bool)
    case wallClock(Duration)
    case paused(Duration)
}

/// The last events for people, and a digest of all of them for comparing two runs.
struct Transcript {
    private static let capacity = 40

    private var events: [(step: Int, event: Event)] = []
    private var next = 0
    private(set) var digest = Digest()

    mutating func note(_ event: Event, step: Int) {
        event.mix(into: &digest)
        if events.count < Self.capacity {
            events.append((step, event))
        } else {
            events[next] = (step, event)
            next = (next + 1) % Self.capacity
        }
    }

    var lines: [String] {
        (events[next...] + events[..<next]).map { "\($0.step): \($0.event)" }
    }
}

/// FNV-1a over the numbers of every event.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func mix(_ first: UInt64, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
        mix(number: first)
        mix(number: second)
        mix(number: third)
        mix(number: fourth)
    }

    private mutating func mix(number: UInt64) {
        value = (value ^ number) &* 0x0000_0100_0000_01b3
    }
}

extension Event {
    /// What tells it from others; the wall clock does not.
    fileprivate func mix(into digest: inout Digest) {
        switch self {
        case .applied(let command, let verdict, let isDurable, let sequence):
            digest.mix(1 + (isDurable ? 100 : 0), command.subject, verdict.number, sequence)
        case .woken(let waiter, let id, let state): digest.mix(2, waiter.rawValue, id.rawValue, state.number)
        case .told(let client, let id, let state, let fence):
            digest.mix(3 + 100 * UInt64(client), id.rawValue, state.number, fence)
        case .committed(let sequence): digest.mix(4, sequence)
        case .saved(let sequence): digest.mix(5, sequence)
        case .time(let instant): digest.mix(6, UInt64(bitPattern: instant.nanoseconds))
        case .lost(let client): digest.mix(7, UInt64(client))
        case .died(let client): digest.mix(8, UInt64(client))
        case .crashed(let surviving, let last, let isMachineDead): digest.mix(9, surviving, last, isMachineDead ? 1 : 0)
        case .wallClock: digest.mix(10)
        case .paused(let duration): digest.mix(11, UInt64(bitPattern: duration.wholeNanoseconds))
        }
    }
}

extension TransitionState {
    fileprivate var number: UInt64 {
        switch self {
        case .queued: 0
        case .running: 1
        case .preparing: 3
        case .ended: 2
        }
    }
}

extension Command {
    /// Whom it is about, and what it is.
    fileprivate var subject: UInt64 {
        switch self {
        case .start(_, let id, _): id.rawValue
        case .serialize(_, let id, _, _): id.rawValue &+ 1
        case .await(let id, _, _, _): id.rawValue &+ 2
        case .end(let id, _, let outcome): id.rawValue &+ (outcome == .cancelled ? 4 : 3)
        case .renew(let id, _): id.rawValue &+ 5
        case .leave(let waiter): waiter.rawValue &+ 6
        case .drain: 7
        case .expire(let id, _): id.rawValue &+ 8
        case .distrust(let holdsGrants): holdsGrants ? 9 : 10
        case .resume: 11
        case .skipFences: 27
        case .answer(let waiter): waiter.rawValue &+ 12
        case .declare(let scene, _, _), .delete(let scene, _): UInt64(scene.description.utf8.count) &+ 13
        case .progress(let id, _, _): id.rawValue &+ 14
        case .release(let id, _, _): id.rawValue &+ 15
        case .ready(let id, _, _): id.rawValue &+ 16
        case .decide(let id, _): id.rawValue &+ 17
        case .markReady(let id, _): id.rawValue &+ 18
        case .settle(let id): id.rawValue &+ 19
        case .openSession(_, _, let id, _): id.rawValue &+ 20
        case .renewSession(let token): token.low &+ 21
        case .endSession(let token): token.low &+ 22
        case .attach(let token): token.low &+ 23
        case .detach(let id): id.rawValue &+ 24
        case .closeSession(let id, _): id.rawValue &+ 25
        case .revoke(let id, _): id.rawValue &+ 26
        }
    }
}
