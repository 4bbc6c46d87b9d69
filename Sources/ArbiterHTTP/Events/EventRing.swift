internal import ArbiterCore
internal import ArbiterEngine
internal import DequeModule

/// The newest events of one scene, as they are sent: shared by all its readers, each with a cursor.
///
/// The numbers of its events follow one another without a gap.
struct EventRing {
    private var entries: Deque<Entry> = []
    /// The position of the oldest entry; positions only grow.
    private(set) var start = 0
    private(set) var byteCount = 0
    /// The last number before those that are kept; `nil` while nothing is known of the scene.
    private var floor: EventNumber?
    /// The last number; `nil` while nothing is known of the scene.
    private(set) var newest: EventNumber?

    private struct Entry {
        let bytes: [UInt8]
        /// `nil` if it is momentary.
        let number: EventNumber?
        /// The last number up to here, its own included.
        let latest: EventNumber?
    }

    /// Behind the newest entry.
    var end: Int { start + entries.count }

    /// What became of an event that was to be appended.
    enum Appended {
        case appended
        /// It had been told before.
        case known
        /// It is not the one that was to come next: what was kept is gone, and it is the first of what follows.
        case behindGap
    }

    mutating func append(_ bytes: [UInt8], number: EventNumber?, limits: EventLimits) -> Appended {
        var result = Appended.appended
        if let number {
            if let newest, number <= newest { return .known }
            // Numbers begin at 1.
            let previous = EventNumber(rawValue: max(number.rawValue, 1) - 1)
            if begin(at: previous) { result = .behindGap }
            newest = number
        }
        entries.append(Entry(bytes: bytes, number: number, latest: newest))
        byteCount += bytes.count
        while entries.count > 1, entries.count > limits.ringEvents || byteCount > limits.ringBytes { removeOldest() }
        return result
    }

    private mutating func removeOldest() {
        guard let oldest = entries.popFirst() else { return }
        start += 1
        byteCount -= oldest.bytes.count
        if let number = oldest.number { floor = number }
    }

    /// The scene's last event has this number; where another was the last one here, what is kept is of no use.
    ///
    /// - Returns: whether it was, so that every reader has to begin anew.
    mutating func begin(at number: EventNumber) -> Bool {
        guard newest != number else { return false }
        let wasKnown = newest != nil
        if wasKnown {
            start += entries.count
            entries = []
            byteCount = 0
        }
        floor = number
        newest = number
        return wasKnown
    }
}

// MARK: - Reading

extension EventRing {
    /// How far one reader is.
    struct Cursor: Hashable {
        /// Of the entry that comes next.
        var position: Int
        /// How much of that has been taken, in bytes.
        var offset = 0
        /// The last number that the reader has; `nil` if it has none, and takes what comes.
        var behind: EventNumber?
        /// From where on what is momentary is news.
        let liveFrom: Int
    }

    enum Piece {
        case bytes(ArraySlice<UInt8>)
        case nothing
        /// What comes next has been dropped.
        case lost
    }

    /// For a reader who wants what comes from now on.
    func cursorAtEnd(behind number: EventNumber? = nil) -> Cursor {
        Cursor(position: end, behind: number ?? newest, liveFrom: end)
    }

    /// For a reader who has everything up to the number, which may be still to come if that is allowed.
    ///
    /// - Returns: `nil` if some of the rest is not here.
    func cursor(behind number: EventNumber, allowsFuture: Bool) -> Cursor? {
        guard let floor, let newest, number <= newest else {
            return allowsFuture ? cursorAtEnd(behind: number) : nil
        }
        guard floor <= number else { return nil }
        let last = entries.lastIndex { entry in entry.latest.map { $0 <= number } ?? true }
        return Cursor(position: last.map { start + $0 + 1 } ?? start, behind: number, liveFrom: end)
    }

    /// Takes as much of what comes next as there is, at most so many bytes.
    func read(_ cursor: inout Cursor, upTo count: Int) -> Piece {
        guard cursor.position >= start else { return .lost }
        var piece: ArraySlice<UInt8> = []
        while cursor.position < end, piece.count < count {
            let entry = entries[cursor.position - start]
            if skips(entry, cursor) {
                cursor.position += 1
                continue
            }
            if let number = entry.number, let behind = cursor.behind, number.rawValue != behind.rawValue + 1 {
                if piece.isEmpty { return .lost }
                break
            }
            let taken = entry.bytes[cursor.offset...].prefix(count - piece.count)
            cursor.offset += taken.count
            // The first as it is, which for one event is all, and copies nothing.
            if piece.isEmpty { piece = taken } else { piece += taken }
            guard cursor.offset == entry.bytes.count else { break }
            cursor.position += 1
            cursor.offset = 0
            if let number = entry.number { cursor.behind = number }
        }
        return piece.isEmpty ? .nothing : .bytes(piece)
    }

    private func skips(_ entry: Entry, _ cursor: Cursor) -> Bool {
        guard let behind = cursor.behind else { return false }
        if let number = entry.number { return number <= behind }
        // What is momentary is told to those who were there, and only behind what they begin with.
        return cursor.offset == 0 && (cursor.position < cursor.liveFrom || entry.latest.map { $0 < behind } ?? false)
    }
}

/// A ring that the hub fills and its readers read.
final class SharedRing: Sendable {
    let ring = Guarded(EventRing())
}
