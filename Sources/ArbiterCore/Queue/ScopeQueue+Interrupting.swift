// Interruptions: whom a transition would have to interrupt, and who may interrupt somebody now.

extension ScopeQueue {
    /// The granted transitions in the way of one at a place in the line, if nothing else is, all of them may be interrupted, and the
    /// interruption of one has yet to begin.
    ///
    /// That something in the way waits, does not consent, or is interrupted already, shows at the places of the scope and above them.
    ///
    /// - Parameters:
    ///   - scope: the paths of its parts.
    ///   - ids: the controllers that it names.
    ///   - order: its place in the line.
    ///   - mayBeInterrupted: whether a granted one that consents may be interrupted for it.
    /// - Returns: their places, in the order of the line; `nil` if it is not so.
    func yielding(
        to scope: [ScopePath], naming ids: [ControllerID], at order: LinePlace,
        where mayBeInterrupted: (TransitionID) -> Bool
    ) -> [LinePlace]? {
        guard let ends = ends(of: scope, yieldingTo: order) else { return nil }
        let bringers = ids.flatMap { coming.bringers(of: $0, before: order) }
        guard bringers.allSatisfy({ self[$0]?.isGranted == true && self[$0]?.yields == true }) else { return nil }
        let isNew =
            ends.above.contains { self[$0]?.isInterrupted == false }
            || ends.places.contains { places[$0].interrupted < places[$0].granted }
            || bringers.contains { self[$0]?.isInterrupted == false }
        guard isNew else { return nil }
        var found: Set<LinePlace> = []
        guard (ends.above + bringers).allSatisfy({ note($0) }), ends.places.allSatisfy(collect) else { return nil }
        return found.sorted()

        func note(_ holder: LinePlace) -> Bool {
            guard found.insert(holder).inserted, let entry = self[holder] else { return true }
            return mayBeInterrupted(entry.id)
        }

        func collect(atOrBelow place: Int) -> Bool {
            guard places[place].holder.map(note) ?? true else { return false }
            return places[place].grantedChildren.allSatisfy(collect)
        }
    }

    /// The places at the ends of paths, as far as they exist, and the granted parts above them.
    ///
    /// - Returns: `nil` if something in the way there waits, or does not consent.
    private func ends(of scope: [ScopePath], yieldingTo order: LinePlace) -> (places: [Int], above: [LinePlace])? {
        var ends: (places: [Int], above: [LinePlace]) = ([], [])
        for path in scope {
            var place: Int? = PlaceTree.top
            for name in path {
                guard let above = place else { break }
                guard places[above].parts.first.map({ order <= $0 }) ?? true else { return nil }
                if let holder = places[above].holder {
                    guard places[above].holderYields else { return nil }
                    ends.above.append(holder)
                }
                place = places[above].children[name]
            }
            guard let place else { continue }
            guard places[place].earliest.map({ order <= $0 }) ?? true,
                places[place].granted == places[place].yielding
            else { return nil }
            ends.places.append(place)
        }
        return ends
    }

    /// The waiting transitions that interrupt, and that wait for granted ones only, apart from one that is about to end.
    ///
    /// There may be some among them that wait for others too.
    func interrupters(behind order: LinePlace) -> [TransitionID] {
        guard let leaving = self[order] else { return [] }
        var found: Set<TransitionID> = []
        for place in leaving.places {
            var first: LinePlace?
            for above in Array(places.ancestors(of: place)).reversed() { note(above, behind: &first) }
            look(atOrBelow: place, behind: first)
        }
        for id in leaving.arrivals.brought {
            for namer in coming.namers(of: id, waitingFor: order) { note(namer) }
        }
        return Array(found)

        func note(_ other: LinePlace) {
            guard leaving.isGranted || order < other, let entry = self[other] else { return }
            if entry.interrupts, !entry.isGranted { found.insert(entry.id) }
        }

        // What waits behind another part here or above waits for more than granted ones.
        func note(_ place: Int, behind first: inout LinePlace?) {
            let parts = places[place].parts
            let own = parts.first == order ? parts.first(after: order) : parts.first
            guard let own, first.map({ own < $0 }) ?? true else { return }
            note(own)
            first = own
        }

        func look(atOrBelow place: Int, behind above: LinePlace?) {
            var first = above
            note(place, behind: &first)
            for child in places[place].children.values where places[child].interrupting > 0 {
                guard let earliest = places[child].earliest, first.map({ earliest < $0 }) ?? true else { continue }
                look(atOrBelow: child, behind: first)
            }
        }
    }

    /// Describes a count that is wrong; `nil` if all are right.
    func brokenCount() -> String? {
        let waiting = entries.values.filter { $0.interrupts && !$0.isGranted }
        guard interrupting == waiting.count else {
            return "\(waiting.count) interrupt, and \(interrupting) are counted"
        }
        for place in Set(entries.values.flatMap(\.places)) {
            let below = places[place].children.values.map { places[$0] }
            let own = places[place].parts.all.count { self[$0]?.interrupts == true }
            let holder = places[place].holder.flatMap { self[$0] }
            let isRight =
                places[place].interrupting == below.reduce(own) { $0 + $1.interrupting }
                && places[place].yielding == below.reduce(holder?.yields == true ? 1 : 0) { $0 + $1.yielding }
                && places[place].interrupted
                    == below.reduce(holder?.isInterrupted == true ? 1 : 0) { $0 + $1.interrupted }
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
