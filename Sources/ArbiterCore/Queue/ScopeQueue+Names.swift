// Controllers that the places of transitions depend on, or that are coming.

internal import HeapModule

extension ScopeQueue {
    /// The waiting transitions that depend on one of the controllers, in the order of the line.
    func waiting(on names: some Sequence<ControllerID>) -> [TransitionID] {
        guard !dependants.isEmpty else { return [] }
        let found = names.reduce(into: Set<LinePlace>()) { $0.formUnion(dependants[$1] ?? []) }
        return found.sorted().compactMap { entries[$0] }.filter { !$0.isGranted }.map(\.id)
    }

    mutating func note(_ names: [ControllerID], of order: LinePlace) {
        for name in names { dependants[name, default: []].insert(order) }
    }

    mutating func forget(_ names: [ControllerID], of order: LinePlace) {
        for name in names {
            dependants[name]?.remove(order)
            if dependants[name]?.isEmpty == true { dependants.removeValue(forKey: name) }
        }
    }

    /// Makes later transitions that name these controllers wait for the transition that brings them in.
    mutating func bringIn(_ ids: [ControllerID], by order: LinePlace) {
        for id in ids {
            for namer in coming.addBringer(order, of: id) { entries[namer]?.waiting += 1 }
        }
    }

    /// Makes everything that waits and names what a granted transition brings in wait for it; under the first rules only what
    /// stands behind it in the line did.
    mutating func comeFirst(_ order: LinePlace, under rules: Rules) {
        guard rules > .first, let brought = entries[order]?.arrivals.brought, !brought.isEmpty else { return }
        keepAway(brought, by: order)
        for id in brought {
            for namer in coming.addGrantedBringer(order, of: id) { entries[namer]?.waiting += 1 }
        }
    }

    /// Ends the wait of later transitions that name these controllers, because the earlier one no longer brings them in.
    mutating func keepAway(_ ids: [ControllerID], by order: LinePlace) {
        for id in ids {
            for namer in coming.removeBringer(order, of: id) {
                entries[namer]?.waiting -= 1
                if entries[namer]?.waiting == 0 { ready.insert(namer) }
            }
        }
    }

    /// Makes a transition wait for the controllers that it names and earlier transitions bring in.
    mutating func waitForArrivals(_ order: LinePlace) {
        for id in entries[order]?.arrivals.named ?? [] where coming.addNamer(order, of: id) {
            entries[order]?.waiting += 1
        }
    }

    /// Ends the wait of a transition for controllers, because it is granted, is renamed or has ended.
    mutating func stopWaitingForArrivals(_ order: LinePlace) {
        for id in entries[order]?.arrivals.named ?? [] where coming.removeNamer(order, of: id) {
            entries[order]?.waiting -= 1
        }
    }
}
