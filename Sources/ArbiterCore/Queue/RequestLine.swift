/// An ordered set of request orders that answers which is first and what rank one has.
///
/// It is a sorted array in pieces of bounded size. Each operation costs the work on one piece, and one step for each
/// piece before it.
struct RequestLine {
    /// The pieces, no two neighbours of which would together fit into half a piece.
    ///
    /// Only a line without members may have an empty piece, which keeps its memory for the next member.
    private var pieces: [[RequestOrder]] = []
    private(set) var count = 0

    static let membersInPiece = 256

    var isEmpty: Bool { count == 0 }

    /// The earliest member.
    var first: RequestOrder? { pieces.first?.first }

    /// Inserts a member at its sorted position.
    mutating func insert(_ order: RequestOrder) {
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

    mutating func remove(_ order: RequestOrder) {
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
    func rank(of order: RequestOrder) -> Int {
        let place = placeOfMember(order)
        return pieces[..<place.piece].reduce(place.index + 1) { $0 + $1.count }
    }

    /// The earliest members, at most `maximum`, and only those before `limit` if there is one.
    func prefix(_ maximum: Int, before limit: RequestOrder?) -> [RequestOrder] {
        let earliest = pieces.lazy.joined().prefix(maximum)
        return Array(limit.map { limit in earliest.prefix { $0 < limit } } ?? earliest.prefix { _ in true })
    }

    /// Visits the members in their order, only those before `limit` if there is one, as long as `visit` returns true.
    func visit(before limit: RequestOrder?, _ visit: (RequestOrder) -> Bool) {
        for piece in pieces {
            for member in piece {
                if let limit, member >= limit { return }
                guard visit(member) else { return }
            }
        }
    }

    /// The members after an order, which need not be a member itself.
    func members(after order: RequestOrder) -> [RequestOrder] {
        guard let place = place(of: order) else { return [] }
        let index = place.isTaken(in: pieces, by: order) ? place.index + 1 : place.index
        return Array(pieces[place.piece][index...]) + pieces[(place.piece + 1)...].joined()
    }
}

// MARK: - Places

extension RequestLine {
    /// The position at which a member is, or would be inserted.
    private struct Place {
        let piece: Int
        let index: Int

        func isTaken(in pieces: [[RequestOrder]], by order: RequestOrder) -> Bool {
            index < pieces[piece].count && pieces[piece][index] == order
        }
    }

    /// - Returns: `nil` if there is no member.
    private func place(of order: RequestOrder) -> Place? {
        guard pieces.first?.isEmpty == false else { return nil }
        // The last piece that begins at or before the order; if there is none, the first piece.
        let piece = max(0, pieces.prefixLength { $0[0] <= order } - 1)
        return Place(piece: piece, index: pieces[piece].prefixLength { $0 < order })
    }

    private func placeOfMember(_ order: RequestOrder) -> Place {
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
