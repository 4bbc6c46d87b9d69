internal import ArbiterCore

/// Something that happened; it is only described if a rule is broken.
enum Event {
    case asked(client: Int, Ask, Verdict, isDurable: Bool, sequence: UInt64)
    case kept(Record, sequence: UInt64)
    case woken(Int, TransitionID, TransitionState)
    case told(client: Int, TransitionID, TransitionState, fence: UInt64)
    case left(WaiterID)
    case hungUp(SessionID)
    case heard(SessionID)
    case drained
    case rang
    case committed(UInt64)
    case saved(UInt64)
    case time(Instant)
    case lost(client: Int)
    case died(client: Int)
    case crashed(surviving: UInt64, last: UInt64, isMachineDead: Bool)
    case failed(surviving: UInt64, last: UInt64)
    case resumed(UInt64)
    case restarted(UInt64)
    case wallClock(Duration)
    case paused(Duration)
}

/// The last events, for people to read, and a digest of all events, to compare two runs.
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
    /// Mixes what identifies the event, without timestamps.
    fileprivate func mix(into digest: inout Digest) {
        switch self {
        case .asked(let client, let ask, let verdict, let isDurable, let sequence):
            digest.mix(1 + (isDurable ? 100 : 0) + 1000 * UInt64(client), ask.subject, verdict.number, sequence)
        case .kept(let record, let sequence): digest.mix(12, record.subject, sequence)
        case .left(let waiter): digest.mix(13, waiter.rawValue)
        case .hungUp(let session): digest.mix(14, session.rawValue)
        case .heard(let session): digest.mix(20, session.rawValue)
        case .drained: digest.mix(15)
        case .rang: digest.mix(16)
        case .failed(let surviving, let last): digest.mix(17, surviving, last)
        case .resumed(let sequence): digest.mix(18, sequence)
        case .restarted(let sequence): digest.mix(19, sequence)
        case .woken(let number, let id, let state): digest.mix(2, UInt64(number), id.rawValue, state.number)
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

extension Ask {
    /// A number of its kind and its subject.
    fileprivate var subject: UInt64 {
        switch self {
        case .start(let request): request.subject
        case .serialize(let request, _): request.subject &+ 1
        case .dryRun(let request, let isSerialized): request.subject &+ (isSerialized ? 18 : 17)
        case .await(let id, _, _, _, _): id.rawValue &+ 2
        case .awaitIdle(let scene, _, _, _, _): scene.subject &+ 19
        case .look(let id): id.rawValue &+ 3
        case .end(let id, _, let outcome): id.rawValue &+ (outcome == .cancelled ? 5 : 4)
        case .renew(let id, _): id.rawValue &+ 6
        case .progress(let id, _, _): id.rawValue &+ 7
        case .release(let id, _, _): id.rawValue &+ 8
        case .report(.ready, let id, _, _): id.rawValue &+ 9
        case .report(.veto, let id, _, _): id.rawValue &+ 39
        case .perform(let id, _, _, _, _): id.rawValue &+ 34
        case .addGuard(let scene, let controllers, _, _): scene.subject &+ 40 &+ UInt64(controllers.count)
        case .removeGuard(_, let id, _): id.rawValue &+ 41
        case .openSession: 10
        case .renewSession(let token): token.low &+ 11
        case .endSession(let token): token.low &+ 12
        case .attach(let token): token.low &+ 13
        case .revoke(let id, _): id.rawValue &+ 14
        case .revokeAll(let scene, _, _): scene.subject &+ 42
        case .update(let id, _, _): id.rawValue &+ 43
        case .declare(let scene, _, _): scene.subject &+ 15
        case .patch(let scene, _, _): scene.subject &+ 31
        case .delete(let scene, _): scene.subject &+ 16
        }
    }
}

extension Record {
    /// A number of its kind and its subject.
    fileprivate var subject: UInt64 {
        switch self {
        case .start(_, let id, _): id.rawValue
        case .serialize(_, let id, _): id.rawValue &+ 1
        case .end(let id, _, let outcome): id.rawValue &+ (outcome == .cancelled ? 3 : 2)
        case .revoke(let id, _): id.rawValue &+ 4
        case .revokeAll(let scene, _, _, _): scene.subject &+ 42
        case .update(let id, _): id.rawValue &+ 43
        case .decide(let id, _): id.rawValue &+ 5
        case .perform(let id, _): id.rawValue &+ 34
        case .markReady(let id, _): id.rawValue &+ 6
        case .veto(let id, _, _): id.rawValue &+ 38
        case .answerGuards(let id, _): id.rawValue &+ 39
        case .addGuard(_, let new): new.id.rawValue &+ 40
        case .removeGuard(_, let id): id.rawValue &+ 41
        case .markGone(let id, _): id.rawValue &+ 35
        case .openSession(_, _, let id, _, _): id.rawValue &+ 7
        case .endSession(let id, let ending): id.rawValue &+ (ending == .expired ? 9 : 8)
        case .declare(let scene, _): scene.subject &+ 10
        case .patch(let scene, _): scene.subject &+ 32
        case .delete(let scene): scene.subject &+ 11
        case .expire(let id, _): id.rawValue &+ 12
        case .timeOutParticipants(let id): id.rawValue &+ 13
        case .adopt: 33
        case .distrust(let holdsGrants): holdsGrants ? 14 : 15
        case .skipFences: 16
        case .resume: 17
        case .stop: 18
        case .interrupt(let id): id.rawValue &+ 36
        case .endInterrupted(let id): id.rawValue &+ 37
        case .expireUnclaimed(let ids): ids.reduce(19) { $0 &* 31 &+ $1.rawValue }
        }
    }
}

extension TransitionRequest {
    fileprivate var subject: UInt64 { scene.subject &* 31 &+ UInt64(truncatingIfNeeded: ticket.wholeNanoseconds) }
}

extension SceneName {
    fileprivate var subject: UInt64 { description.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) } }
}
