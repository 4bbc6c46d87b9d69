internal import HeapModule

/// The deadlines, at most one for each subject.
///
/// Moving a deadline later costs a dictionary access: its heap entry is corrected when it comes up.
struct DeadlineQueue {
    /// What a deadline belongs to.
    enum Subject: Hashable {
        /// The lease of a granted transition, or the end of a queued one's time.
        case transition(TransitionID)
        /// The end of a parked await's wait.
        case waiter(WaiterID)
        /// When an idle scene will have been idle for as long as a parked await wants.
        case quiet(SceneName)
        /// When the idle part of a scene will have been idle for as long as a parked await wants.
        case quietPart(WaiterID)
        /// The end of the time that participants have to become ready.
        case ready(TransitionID)
        /// The end of a session without a request or a connection.
        case session(SessionID)
        /// The end of the longest time that a granted transition may take.
        case hold(TransitionID)
        /// The end of the grace of an interrupted transition.
        case interruption(TransitionID)
        /// The end of the time for which grants are withheld after a crash.
        case resumption

        /// Whether a word about what it ends, if it came before and is not heard yet, counts first.
        var isOfSilence: Bool {
            switch self {
            case .transition, .ready, .session, .interruption: true
            case .waiter, .quiet, .quietPart, .hold, .resumption: false
            }
        }

        /// Mixes the bits of the number, as `Numbered` does.
        func _rawHashValue(seed: Int) -> Int {
            switch self {
            case .transition(let id): id._rawHashValue(seed: seed)
            case .waiter(let id): id._rawHashValue(seed: ~seed)
            case .quiet(let scene): scene._rawHashValue(seed: seed)
            case .quietPart(let id): id._rawHashValue(seed: ~seed &+ 1)
            case .ready(let id): id._rawHashValue(seed: seed &+ 1)
            case .session(let id): id._rawHashValue(seed: seed)
            case .hold(let id): id._rawHashValue(seed: seed &+ 2)
            case .interruption(let id): id._rawHashValue(seed: seed &+ 3)
            case .resumption: seed
            }
        }
    }

    private struct Entry {
        var instant: Instant
        /// The instant of the current heap entry, which may be before `instant`.
        var filedAt: Instant
        /// The number of the current heap entry; entries with other numbers are outdated.
        var filing: UInt64
    }

    /// An entry of the heap.
    private struct Filed: Comparable {
        let instant: Instant
        let filing: UInt64
        let subject: Subject

        static func < (left: Filed, right: Filed) -> Bool {
            (left.instant, left.filing) < (right.instant, right.filing)
        }

        static func == (left: Filed, right: Filed) -> Bool {
            left.filing == right.filing
        }
    }

    private var deadlines = Table<Subject, Entry>()
    private var silences = Heap<Filed>()
    private var others = Heap<Filed>()
    private var filings: UInt64 = 0

    /// An instant before which nothing is due; it may be before the first deadline, but never after it.
    var next: Instant? { Self.first(of: silences.min, others.min)?.instant }

    var count: Int { deadlines.count }

    subscript(subject: Subject) -> Instant? { deadlines[subject]?.instant }

    /// Sets the deadline of a subject, in place of the one before.
    mutating func schedule(_ subject: Subject, at instant: Instant) {
        guard deadlines[subject].map({ instant < $0.filedAt }) ?? true else {
            deadlines[subject]?.instant = instant
            return
        }
        file(subject, at: instant)
        guard silences.count + others.count > 2 * deadlines.count + 1024 else { return }
        silences = Heap(silences.unordered.filter { deadlines[$0.subject]?.filing == $0.filing })
        others = Heap(others.unordered.filter { deadlines[$0.subject]?.filing == $0.filing })
    }

    mutating func cancel(_ subject: Subject) {
        deadlines.removeValue(forKey: subject)
    }

    /// Finds the earliest deadline that has passed.
    ///
    /// The deadline remains until it is cancelled or scheduled again.
    ///
    /// - Parameters:
    ///   - now: the present.
    ///   - heardUntil: until when silence is certain; deadlines of silence after it are not looked at.
    /// - Returns: its subject; `nil` if nothing is due.
    mutating func firstDue(at now: Instant, heardUntil: Instant) -> Subject? {
        while let first = firstFiled(at: now, heardUntil: heardUntil) {
            guard let deadline = deadlines[first.subject], deadline.filing == first.filing else {
                drop(first)
                continue
            }
            guard deadline.instant > first.instant else { return first.subject }
            drop(first)
            file(first.subject, at: deadline.instant)
        }
        return nil
    }

    private func firstFiled(at now: Instant, heardUntil: Instant) -> Filed? {
        let silence = silences.min.flatMap { $0.instant <= min(now, heardUntil) ? $0 : nil }
        let other = others.min.flatMap { $0.instant <= now ? $0 : nil }
        return Self.first(of: silence, other)
    }

    private static func first(of one: Filed?, _ other: Filed?) -> Filed? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Removes the first entry of one of the heaps.
    private mutating func drop(_ first: Filed) {
        if first.subject.isOfSilence { silences.removeMin() } else { others.removeMin() }
    }

    private mutating func file(_ subject: Subject, at instant: Instant) {
        filings += 1
        deadlines[subject] = Entry(instant: instant, filedAt: instant, filing: filings)
        let filed = Filed(instant: instant, filing: filings, subject: subject)
        if subject.isOfSilence { silences.insert(filed) } else { others.insert(filed) }
    }
}
