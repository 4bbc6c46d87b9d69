/// Transitions standing in line in request order: who is first, and how many stand before one, in logarithmic time.
///
/// A binary indexed tree: Peter M. Fenwick, "A new data structure for cumulative frequency tables", 1994.
struct RequestLine {
    /// Whoever came since the last sweep, in order; the tree counts those that are still there.
    private var orders: [RequestOrder] = []
    private var sums: [Int] = []
    private(set) var count = 0
    /// Where the first member stands in `orders`, or their number if there is none.
    private var firstIndex = 0

    var isEmpty: Bool { count == 0 }

    /// The earliest member.
    var first: RequestOrder? { count == 0 ? nil : orders[firstIndex] }

    /// Adds a member after all others.
    mutating func append(_ order: RequestOrder) {
        precondition(orders.last.map { $0 < order } ?? true, "\(order) was asked for before one that stands in line")
        orders.append(order)
        count += 1
        let position = orders.count
        var sum = 1
        var child = 1
        while child < position & -position {
            sum += sums[position - child - 1]
            child <<= 1
        }
        sums.append(sum)
    }

    /// Adds a member wherever its order belongs; before the last one, that costs as much as the line is long.
    mutating func insert(_ order: RequestOrder) {
        guard let last = orders.last, order < last else { return append(order) }
        var members = members
        members.insert(order, at: members.firstIndex { order < $0 } ?? members.endIndex)
        rebuild(with: members)
    }

    mutating func remove(_ order: RequestOrder) {
        var position = self.position(of: order)
        let wasFirst = position - 1 == firstIndex
        count -= 1
        guard count > 0 else {
            orders.removeAll(keepingCapacity: true)
            sums.removeAll(keepingCapacity: true)
            firstIndex = 0
            return
        }
        while position <= sums.count {
            sums[position - 1] -= 1
            position += position & -position
        }
        if wasFirst { firstIndex = index(ofRank: 1) }
        if orders.count > 64, count < orders.count / 4 { sweep() }
    }

    /// How many members there are up to this one, itself included.
    func rank(of order: RequestOrder) -> Int {
        var position = position(of: order)
        var sum = 0
        while position > 0 {
            sum += sums[position - 1]
            position &= position - 1
        }
        return sum
    }

    /// The earliest members before `limit`, `maximum` at most.
    func prefix(_ maximum: Int, before limit: RequestOrder?) -> [RequestOrder] {
        var found: [RequestOrder] = []
        while found.count < min(maximum, count) {
            let order = orders[index(ofRank: found.count + 1)]
            guard limit.map({ order < $0 }) ?? true else { break }
            found.append(order)
        }
        return found
    }

    /// Where the member of this rank stands in `orders`: the first position whose sum is as large.
    private func index(ofRank rank: Int) -> Int {
        var position = 0
        var remaining = rank
        var step = 1
        while step << 1 <= sums.count { step <<= 1 }
        while step > 0 {
            if position + step <= sums.count, sums[position + step - 1] < remaining {
                position += step
                remaining -= sums[position - 1]
            }
            step >>= 1
        }
        return position
    }

    /// Where the order stands among all that came, from 1.
    private func position(of order: RequestOrder) -> Int {
        var low = firstIndex
        var high = orders.count
        while low < high {
            let middle = (low + high) / 2
            if orders[middle] < order { low = middle + 1 } else { high = middle }
        }
        precondition(low < orders.count && orders[low] == order, "\(order) does not stand in line")
        return low + 1
    }

    private var members: [RequestOrder] { count == 0 ? [] : (1...count).map { orders[index(ofRank: $0)] } }

    /// Drops those that have left.
    private mutating func sweep() { rebuild(with: members) }

    private mutating func rebuild(with members: [RequestOrder]) {
        orders.removeAll(keepingCapacity: true)
        sums.removeAll(keepingCapacity: true)
        (count, firstIndex) = (0, 0)
        for order in members { append(order) }
    }
}
