internal import HeapModule

/// What is due when.
///
/// Moving a deadline later costs no more than a dictionary access: its place in the heap is put right when it comes
/// up.
struct DeadlineQueue {
    /// What a deadline is of.
    enum Subject: Hashable {
        case transition(TransitionID)
        case waiter(WaiterID)
        /// Its participants have until then.
        case ready(TransitionID)
        case session(SessionID)
        case hold
    }

    private struct Entry {
        var instant: Instant
        /// The one heap entry that counts.
        var filedAt: Instant
        var filing: UInt64
    }

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

    private var deadlines: [Subject: Entry] = [:]
    private var heap = Heap<Filed>()
    private var filings: UInt64 = 0

    /// An instant before which nothing is due; it may be earlier than the first deadline, never later.
    var next: Instant? { heap.min?.instant }

    var count: Int { deadlines.count }

    subscript(subject: Subject) -> Instant? { deadlines[subject]?.instant }

    /// Sets the one deadline of a subject.
    mutating func schedule(_ subject: Subject, at instant: Instant) {
        guard deadlines[subject].map({ instant < $0.filedAt }) ?? true else {
            deadlines[subject]?.instant = instant
            return
        }
        file(subject, at: instant)
        guard heap.count > 2 * deadlines.count + 1024 else { return }
        heap = Heap(heap.unordered.filter { deadlines[$0.subject]?.filing == $0.filing })
    }

    mutating func cancel(_ subject: Subject) {
        deadlines.removeValue(forKey: subject)
    }

    /// The subject whose deadline came first and has passed; it stays until it is cancelled or scheduled anew.
    mutating func firstDue(at now: Instant) -> Subject? {
        while let first = heap.min, first.instant <= now {
            guard let deadline = deadlines[first.subject], deadline.filing == first.filing else {
                heap.removeMin()
                continue
            }
            guard deadline.instant > first.instant else { return first.subject }
            heap.removeMin()
            file(first.subject, at: deadline.instant)
        }
        return nil
    }

    private mutating func file(_ subject: Subject, at instant: Instant) {
        filings += 1
        deadlines[subject] = Entry(instant: instant, filedAt: instant, filing: filings)
        heap.insert(Filed(instant: instant, filing: filings, subject: subject))
    }
}
