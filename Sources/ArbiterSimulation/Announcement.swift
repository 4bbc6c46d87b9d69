internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel

/// The part of an event that is the same in every replay.
struct KeptEvent: Hashable {
    let event: NaiveEvent
    let timestamp: Timestamp
    /// The transition as it was then.
    let transition: Transition?

    /// - Returns: `nil` for a momentary event.
    init?(_ event: SceneEvent) {
        guard let naive = NaiveEvent(event) else { return nil }
        self.event = naive
        timestamp = event.timestamp
        if case .transition(_, let view) = event.kind { transition = view.transition } else { transition = nil }
    }
}

/// Something that the engine has to pass to its listener or its observer.
enum Announcement: Hashable {
    case event(KeptEvent)
    case progress(TransitionID, GestureProgress)
    /// A transition has expired or was revoked.
    case ended(TransitionID)
    case sessionEnded(SessionID, SessionEnding)
    case resumed
    case refused(Verdict.Refusal, SceneName?, ClientName?)

    init?(_ event: SceneEvent) {
        if case .progress(let id, let progress) = event.kind, event.number == nil, event.overall == nil {
            self = .progress(id, progress)
        } else if let kept = KeptEvent(event) {
            self = .event(kept)
        } else {
            return nil
        }
    }

    init(_ notice: EngineNotice) {
        switch notice {
        case .happened(.ended(let view)): self = .ended(view.transition.id)
        case .happened(.sessionEnded(let session, let ending)): self = .sessionEnded(session.id, ending)
        case .happened(.resumed): self = .resumed
        case .refused(let error, let scene, let client): self = .refused(Verdict.Refusal(error), scene, client)
        }
    }
}

/// The announcements that have not arrived yet, in order, each with the last record that it depends on.
struct Announcements {
    private var announcements: [(announcement: Announcement, sequence: UInt64)] = []
    private var next = 0

    mutating func expect(_ announcement: Announcement, after sequence: UInt64) {
        announcements.append((announcement, sequence))
    }

    /// Takes the first.
    mutating func pop() -> (announcement: Announcement, sequence: UInt64)? {
        guard next < announcements.count else { return nil }
        defer {
            next += 1
            if next == announcements.count { (announcements, next) = ([], 0) }
        }
        return announcements[next]
    }

    /// The first, if there is one.
    var first: (announcement: Announcement, sequence: UInt64)? {
        next < announcements.count ? announcements[next] : nil
    }

    mutating func removeAll() {
        (announcements, next) = ([], 0)
    }
}
