/// A line of transitions that answers which is first and what rank one has.
typealias RequestLine = SortedLine<LinePlace>

/// An ordered set: a sorted array in pieces of bounded size.
///
/// Each operation costs the work on one piece, and one step for each piece before it.
struct SortedLine<Member: Comparable & Sendable>: Sendable {
    /// The pieces, no two neighbours of which would together fit into half a piece.
    ///
    /// Only a line without members may have an empty piece, which keeps its memory for the next member.
    private var pieces: [[Member]] = []
    private(set) var count = 0

    static var membersInPiece: Int { 256 }

    var isEmpty: Bool { count == 0 }

    /// The earliest member.
    var first: Member? { pieces.first?.first }

    /// Inserts a member at its sorted position.
    mutating func insert(_ order: Member) {
        count += 1
        guard let place = place(of: order) else {
            if pieces.isEmpty { pieces.append([]) }
            return pieces[0].append(order)
        }
        precondition(!place.isTaken(in: pieces, by: order), "\(order) is already in the line")
        pieces[place.piece].insert(order, at: place.index)
        guard pieces[place.piece].count > Self.membersInPiece else { return }
        // A piece that overflows at the end of the line stays full: a line that grows only at its end is packed.
        let isLast = place.piece == pieces.count - 1 && place.index == Self.membersInPiece
        let cut = isLast ? Self.membersInPiece : Self.membersInPiece / 2
        pieces.insert(Array(pieces[place.piece][cut...]), at: place.piece + 1)
        pieces[place.piece].removeSubrange(cut...)
    }

    mutating func remove(_ order: Member) {
        let place = placeOfMember(order)
        count -= 1
        pieces[place.piece].remove(at: place.index)
        if pieces[place.piece].isEmpty {
            if pieces.count > 1 { pieces.remove(at: place.piece) }
        } else {
            merge(place.piece)
            if place.piece > 0 { merge(place.piece - 1) }
        }
    }

    /// The position of a member, counted from 1.
    func rank(of order: Member) -> Int {
        let place = placeOfMember(order)
        return pieces[..<place.piece].reduce(place.index + 1) { $0 + $1.count }
    }

    func contains(_ order: Member) -> Bool { place(of: order).map { $0.isTaken(in: pieces, by: order) } ?? false }

    /// The earliest members, at most `maximum`, and only those before `limit` if there is one.
    func prefix(_ maximum: Int, before limit: Member?) -> [Member] {
        let earliest = pieces.lazy.joined().prefix(maximum)
        return Array(limit.map { limit in earliest.prefix { $0 < limit } } ?? earliest.prefix { _ in true })
    }

    /// Visits the members in their order, only those before `limit` if there is one, as long as `visit` returns true.
    func visit(before limit: Member?, _ visit: (Member) -> Bool) {
        for piece in pieces {
            for member in piece {
                if let limit, member >= limit { return }
                guard visit(member) else { return }
            }
        }
    }

    /// The latest member before an order, which need not be a member itself.
    func last(before order: Member) -> Member? {
        guard let place = place(of: order) else { return nil }
        if place.index > 0 { return pieces[place.piece][place.index - 1] }
        return place.piece > 0 ? pieces[place.piece - 1].last : nil
    }

    /// The first member after another one, which need not be a member itself any more; without that, the first of all.
    func first(after member: Member?) -> Member? {
        guard let member else { return first }
        guard let place = place(of: member) else { return nil }
        let index = place.isTaken(in: pieces, by: member) ? place.index + 1 : place.index
        return index < pieces[place.piece].count
            ? pieces[place.piece][index] : pieces[(place.piece + 1)...].first?.first
    }

    /// All members, in their order.
    var all: some Sequence<Member> { pieces.lazy.joined() }

    /// The latest members, at most `maximum`, the last one first.
    func latest(_ maximum: Int) -> some Sequence<Member> {
        pieces.reversed().lazy.flatMap { $0.reversed() }.prefix(maximum)
    }
}

// MARK: - Places

extension SortedLine {
    /// The position at which a member is, or would be inserted.
    private struct Place {
        let piece: Int
        let index: Int

        func isTaken(in pieces: [[Member]], by order: Member) -> Bool {
            index < pieces[piece].count && pieces[piece][index] == order
        }
    }

    /// - Returns: `nil` if there is no member.
    private func place(of order: Member) -> Place? {
        guard pieces.first?.isEmpty == false else { return nil }
        // The last piece that begins at or before the order; if there is none, the first piece.
        let piece = max(0, pieces.prefixLength { $0[0] <= order } - 1)
        return Place(piece: piece, index: pieces[piece].prefixLength { $0 < order })
    }

    private func placeOfMember(_ order: Member) -> Place {
        guard let place = place(of: order), place.isTaken(in: pieces, by: order) else {
            preconditionFailure("\(order) is not in the line")
        }
        return place
    }

    /// Joins a piece with the next one if together they fill at most half a piece.
    private mutating func merge(_ piece: Int) {
        guard piece + 1 < pieces.count, pieces[piece].count + pieces[piece + 1].count <= Self.membersInPiece / 2 else {
            return
        }
        pieces[piece] += pieces.remove(at: piece + 1)
    }
}

extension Array {
    /// The length of the prefix for which `holds` is true, by bisection; after the prefix it is true for no element.
    func prefixLength(where holds: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
