// Interruptions: whom a transition would have to interrupt, and who may interrupt somebody now.

extension ScopeQueue {
    /// The granted transitions in the way of one at a place in the line, if nothing else is, and all consent to be interrupted.
    ///
    /// That something in the way waits, or does not consent, shows at the places of the scope and above them.
    ///
    /// - Returns: their places, in the order of the line; `nil` if something else is in the way.
    func yielding(to scope: [ScopePath], naming ids: [ControllerID], at order: LinePlace) -> [LinePlace]? {
        var found: Set<LinePlace> = []
        for path in scope {
            var place = PlaceTree.top
            var isReached = true
            for name in path {
                guard places[place].parts.first.map({ order <= $0 }) ?? true else { return nil }
                if let holder = places[place].holder {
                    guard places[place].holderYields else { return nil }
                    found.insert(holder)
                }
                guard let child = places[place].children[name] else {
                    isReached = false
                    break
                }
                place = child
            }
            guard isReached else { continue }
            guard places[place].earliest.map({ order <= $0 }) ?? true,
                places[place].granted == places[place].yielding
            else { return nil }
            collectHolders(atOrBelow: place, &found)
        }
        for id in ids {
            for bringer in coming.bringers(of: id, before: order) {
                guard let entry = self[bringer], entry.isGranted, entry.yields else { return nil }
                found.insert(bringer)
            }
        }
        return found.sorted()
    }

    private func collectHolders(atOrBelow place: Int, _ found: inout Set<LinePlace>) {
        if let holder = places[place].holder { found.insert(holder) }
        for child in places[place].grantedChildren { collectHolders(atOrBelow: child, &found) }
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
            let holds = places[place].holder.map { self[$0]?.yields == true } ?? false
            let isRight =
                places[place].interrupting == below.reduce(own) { $0 + $1.interrupting }
                && places[place].yielding == below.reduce(holds ? 1 : 0) { $0 + $1.yielding }
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
