// Interruptions: whom a transition would have to interrupt, and who may interrupt somebody now.

extension ScopeQueue {
    /// The granted transitions in the way of one at a place in the line, if nothing else is, all of them may be interrupted, and the
    /// interruption of one has yet to begin.
    ///
    /// That something in the way waits, does not consent, or is interrupted already, shows at the places of the scope and above them.
    ///
    /// - Parameters:
    ///   - claim: what it conflicts by.
    ///   - order: its place in the line.
    ///   - mayBeInterrupted: whether a granted one that consents may be interrupted for it.
    /// - Returns: their places, in the order of the line; `nil` if it is not so.
    func yielding(
        to claim: Claim, at order: LinePlace, where mayBeInterrupted: (TransitionID) -> Bool
    ) -> [LinePlace]? {
        guard let ends = ends(of: claim, yieldingTo: order) else { return nil }
        let bringers = claim.arrivals.named.flatMap { coming.bringers(of: $0, before: order) }
        guard bringers.allSatisfy({ self[$0]?.isGranted == true && self[$0]?.yields == true }) else { return nil }
        let isNew =
            ends.above.contains { self[$0]?.isInterrupted == false }
            || ends.places.contains { !doAll(\.interrupted, atOrBelow: $0, claim.isShared) }
            || bringers.contains { self[$0]?.isInterrupted == false }
        guard isNew else { return nil }
        var found: Set<LinePlace> = []
        let areAll =
            (ends.above + bringers).allSatisfy(note)
            && ends.places.allSatisfy {
                places.visitHolders(atOrBelow: $0, conflictingWithShared: claim.isShared, note)
            }
        return areAll ? found.sorted() : nil

        func note(_ holder: LinePlace) -> Bool {
            guard found.insert(holder).inserted, let entry = self[holder] else { return true }
            return mayBeInterrupted(entry.id)
        }
    }

    /// The places at the ends of paths, as far as they exist, and the granted parts above them.
    ///
    /// - Returns: `nil` if something in the way there waits, or does not consent.
    private func ends(of claim: Claim, yieldingTo order: LinePlace) -> (places: [Int], above: [LinePlace])? {
        var ends: (places: [Int], above: [LinePlace]) = ([], [])
        for path in claim.paths {
            var place: Int? = PlaceTree.top
            for name in path {
                guard let above = place else { break }
                let first = places.first(at: above, conflictingWithShared: claim.isShared)
                guard first.map({ order <= $0 }) ?? true else { return nil }
                let holders = places.holders(of: above, conflictingWithShared: claim.isShared)
                guard holders.allSatisfy({ self[$0]?.yields == true }) else { return nil }
                ends.above += holders
                place = places[above].children[name]
            }
            guard let place else { continue }
            let earliest = places.earliest(in: place, conflictingWithShared: claim.isShared)
            guard earliest.map({ order <= $0 }) ?? true, doAll(\.yielding, atOrBelow: place, claim.isShared) else {
                return nil
            }
            ends.places.append(place)
        }
        return ends
    }

    /// Whether all granted parts at a place and below it that conflict with a shared part, or with an exclusive one, are among
    /// those that are counted.
    private func doAll(
        _ counted: KeyPath<PlaceTree.Layer, Int>, atOrBelow place: Int, _ isShared: Bool
    ) -> Bool {
        (isShared ? [false] : [false, true]).allSatisfy {
            places[place, isShared: $0].granted == places[place, isShared: $0][keyPath: counted]
        }
    }

    /// The waiting transitions that interrupt, and that wait for granted ones only, apart from one that is about to end.
    ///
    /// There may be some among them that wait for others too.
    func interrupters(behind order: LinePlace) -> [TransitionID] {
        guard let leaving = self[order] else { return [] }
        var found: Set<TransitionID> = []
        for place in leaving.places {
            var front = Front()
            for above in Array(places.ancestors(of: place)).reversed() { note(above, behind: &front) }
            look(atOrBelow: place, behind: front)
        }
        for id in leaving.arrivals.brought {
            for namer in coming.namers(of: id, waitingFor: order) { note(namer) }
        }
        return Array(found)

        func note(_ other: LinePlace) {
            guard leaving.isGranted || order < other, let entry = self[other] else { return }
            if entry.interrupts, !entry.isGranted { found.insert(entry.id) }
        }

        // What waits behind another part here or above that conflicts waits for more than granted ones.
        func note(_ place: Int, behind front: inout Front) {
            let parts = places[place, isShared: false].parts
            let own = parts.first == order ? parts.first(after: order) : parts.first
            if places.sharedParts > 0 {
                let limit = [own, front.exclusive].compactMap(\.self).min()
                let ahead = places[place, isShared: true].parts.prefix(.max, before: limit).filter { $0 != order }
                for other in ahead { note(other) }
                front.first = [front.first, ahead.first].compactMap(\.self).min()
            }
            guard let own else { return }
            if front.first.map({ own < $0 }) ?? true {
                note(own)
                front.first = own
            }
            if front.exclusive.map({ own < $0 }) ?? true { front.exclusive = own }
        }

        func look(atOrBelow place: Int, behind above: Front) {
            var front = above
            note(place, behind: &front)
            for child in places[place].children.values where places[child].interrupting > 0 {
                // Before no exclusive part, even a shared one waits for more.
                guard let earliest = places.earliest(in: child, conflictingWithShared: false),
                    front.exclusive.map({ earliest < $0 }) ?? true
                else { continue }
                look(atOrBelow: child, behind: front)
            }
        }
    }

    /// The first parts that wait on the way down to a place.
    private struct Front {
        var first: LinePlace?
        var exclusive: LinePlace?
    }

    /// Describes a count that is wrong; `nil` if all are right.
    func brokenCount() -> String? {
        let waiting = entries.values.filter { $0.interrupts && !$0.isGranted }
        guard interrupting == waiting.count else {
            return "\(waiting.count) interrupt, and \(interrupting) are counted"
        }
        for place in Set(entries.values.flatMap(\.places)) {
            let children = places[place].children.values
            let waiting = places.parts(at: place, conflictingWithShared: false, limit: .max)
            let own = waiting.count { self[$0]?.interrupts == true }
            let isRight =
                places[place].interrupting == children.reduce(own) { $0 + places[$1].interrupting }
                && [false, true].allSatisfy { isShared in
                    let layer = places[place, isShared: isShared]
                    let below = children.map { places[$0, isShared: isShared] }
                    let holders = places.holders(of: place, conflictingWithShared: false)
                        .compactMap { self[$0] }.filter { $0.isShared == isShared }
                    return layer.granted == below.reduce(holders.count) { $0 + $1.granted }
                        && layer.yielding == below.reduce(holders.count(where: \.yields)) { $0 + $1.yielding }
                        && layer.interrupted
                            == below.reduce(holders.count(where: \.isInterrupted)) { $0 + $1.interrupted }
                }
            guard isRight else { return "\(places.path(to: place)) counts other parts than there are" }
        }
        return nil
    }

    /// All waiting transitions that interrupt.
    var interrupters: [TransitionID] {
        guard interrupting > 0 else { return [] }
        return entries.values.filter { $0.interrupts && !$0.isGranted }.map(\.id)
    }
}
