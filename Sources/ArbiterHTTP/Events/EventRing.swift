internal import ArbiterCore
internal import ArbiterEngine
internal import DequeModule

/// The newest events of a topic, encoded and shared by all readers; each reader has a cursor.
///
/// The numbers of the events have no gaps.
struct EventRing {
    private var entries: Deque<Entry> = []
    /// The position of the oldest entry; positions never decrease.
    private(set) var start = 0
    private(set) var byteCount = 0
    /// The number before the oldest event; `nil` until the topic's last number is known.
    private var floor: EventNumber?
    /// The number of the last event; `nil` until it is known.
    private(set) var newest: EventNumber?

    private struct Entry {
        let bytes: [UInt8]
        let scene: SceneName
        /// `nil` for a momentary event.
        let number: EventNumber?
        /// The number of the last numbered event up to this one.
        let latest: EventNumber?
    }

    /// The position after the newest entry.
    var end: Int { start + entries.count }

    /// The result of appending an event.
    enum Appended {
        case appended
        /// The event was appended before.
        case known
        /// Events are missing before it: the ring was emptied, and this event is its first.
        case behindGap
    }

    /// Appends an event; `trim` keeps the limits afterwards.
    mutating func append(_ bytes: [UInt8], of scene: SceneName, number: EventNumber?) -> Appended {
        var result = Appended.appended
        if let number {
            if let newest, number <= newest { return .known }
            // Numbers begin at 1.
            let previous = EventNumber(rawValue: max(number.rawValue, 1) - 1)
            if begin(at: previous) { result = .behindGap }
            newest = number
        }
        entries.append(Entry(bytes: bytes, scene: scene, number: number, latest: newest))
        byteCount += bytes.count
        return result
    }

    /// Removes the oldest events while there are too many.
    ///
    /// - Parameters:
    ///   - limits: the most events and bytes.
    ///   - kept: how many of the newest are kept in any case, so that readers get what was published at once.
    mutating func trim(to limits: EventLimits, keeping kept: Int) {
        while entries.count > max(kept, 1), entries.count > limits.ringEvents || byteCount > limits.ringBytes {
            removeOldest()
        }
    }

    private mutating func removeOldest() {
        guard let oldest = entries.popFirst() else { return }
        start += 1
        byteCount -= oldest.bytes.count
        if let number = oldest.number { floor = number }
    }

    /// Sets the number of the last event; if the ring ends with another one, it is emptied.
    ///
    /// - Returns: whether the readers need a reset.
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
    /// The position of a reader.
    struct Cursor: Hashable {
        /// The position of the next entry.
        var position: Int
        /// How many bytes of that entry have been read.
        var offset = 0
        /// The last number that the reader has; `nil` if it has none yet and accepts any next number.
        var behind: EventNumber?
        /// The position from which on the reader gets momentary events.
        let liveFrom: Int
    }

    enum Piece {
        case bytes(ArraySlice<UInt8>)
        case nothing
        /// The next entry has been dropped.
        case lost
    }

    /// A cursor for a reader that wants only later events.
    func cursorAtEnd(behind number: EventNumber? = nil) -> Cursor {
        Cursor(position: end, behind: number ?? newest, liveFrom: end)
    }

    /// A cursor for a reader that has all events up to a number; with `allowsFuture`, the number may be greater than
    /// the last.
    ///
    /// - Returns: `nil` if events after the number are missing here.
    func cursor(behind number: EventNumber, allowsFuture: Bool) -> Cursor? {
        guard let floor, let newest, number <= newest else {
            return allowsFuture ? cursorAtEnd(behind: number) : nil
        }
        guard floor <= number else { return nil }
        let last = entries.lastIndex { entry in entry.latest.map { $0 <= number } ?? true }
        return Cursor(position: last.map { start + $0 + 1 } ?? start, behind: number, liveFrom: end)
    }

    /// Reads as much as there is of the selected scenes, at most `count` bytes.
    func read(_ cursor: inout Cursor, of scenes: SceneSelection = .all, upTo count: Int) -> Piece {
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
            guard scenes.contains(entry.scene) else {
                cursor.position += 1
                if let number = entry.number { cursor.behind = number }
                continue
            }
            let taken = entry.bytes[cursor.offset...].prefix(count - piece.count)
            cursor.offset += taken.count
            // The first entry is not copied; often it is the only one.
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
        // Momentary events are only for readers that were there at the time, and not for events that the reader's state
        // includes.
        return cursor.offset == 0 && (cursor.position < cursor.liveFrom || entry.latest.map { $0 < behind } ?? false)
    }
}

extension EventRing {
    /// What is stored of the selected scenes.
    func history(of scenes: SceneSelection) -> EventHistory {
        EventHistory(
            events: entries.lazy.filter { scenes.contains($0.scene) }.map(\.bytes), floor: floor)
    }
}

/// A ring that the hub fills and the readers read.
final class SharedRing: Sendable {
    let ring = Guarded(EventRing())
}
