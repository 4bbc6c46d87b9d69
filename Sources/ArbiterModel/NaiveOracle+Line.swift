package import ArbiterCore

// The line: where a request stands in it, and which tickets it is coalesced with.

extension NaiveOracle {
    /// The priority of a request, or of a scene's requests that name none, as far as its principal may have it.
    package func priority(of request: TransitionRequest) -> Int {
        if ignoresPriorities { return 0 }
        if let priority = request.priority { return priority.value }
        let standard = scene(request.scene).storyboard.defaults.priority.value
        return request.highestPriority.map { min(standard, $0.value) } ?? standard
    }

    /// The index in `line` of one that counts from an order among those of its priority.
    package func index(since order: Int, priority: Int) -> Int {
        line.firstIndex { $0.priority < priority || $0.priority == priority && $0.since > order } ?? line.count
    }

    /// The indices of the older tickets that a new request is coalesced with, in their order.
    package func coalesced(_ request: TransitionRequest) -> [Int] {
        guard let coalescing = request.coalescing else { return [] }
        let priority = priority(of: request)
        let place = index(since: .max, priority: priority)
        let scene = scene(request.scene)
        let scope = scene.resolvedScope(of: request)
        let own = scene.locked(by: request, scope)
        var found: [Int] = []
        var seen = 0
        for older in line.indices.reversed() {
            let other = line[older]
            guard other.scene == request.scene, other.request.coalescing?.key == coalescing.key else { continue }
            seen += 1
            guard seen <= Limits.coalesced else { break }
            let mayStay = coalescing.keep == .first && coalescing.among == .unfinished && other.gesture != .cancel
            guard other.state == .queued, mayStay || !other.hasRememberedEnd && other.gesture == nil else { continue }
            // The one that stays has no lower priority.
            guard coalescing.keep == .latest ? other.priority <= priority : priority <= other.priority else { continue }
            // Between the two, or between them and the place that would be taken.
            let first = min(older, self.index(since: other.since, priority: priority))
            let between = first..<max(place, older)
            let isSeparated = between.contains { index in
                guard line[index].scene == request.scene, !line[index].isGranted, stands(line[index]), index != older,
                    !found.contains(index)
                else { return false }
                let between = line[index]
                if conflicts(between, own, isShared: request.mode == .shared) || conflicts(between, other) {
                    return true
                }
                return waits(between.request, between.scope, for: other.request)
                    || waits(between.request, between.scope, for: request)
                    || waits(request, scope, for: between.request)
            }
            if !isSeparated { found.insert(older, at: 0) }
        }
        return granted(coalescedWith: request, replacing: found, at: place) + found
    }

    /// The indices of the granted transitions that a new request is coalesced with, in their order.
    private func granted(coalescedWith request: TransitionRequest, replacing queued: [Int], at place: Int) -> [Int] {
        guard let coalescing = request.coalescing, coalescing.among == .unfinished else { return [] }
        let scene = scene(request.scene)
        let scope = scene.resolvedScope(of: request)
        let (own, priority) = (scene.locked(by: request, scope), priority(of: request))
        let known = line.indices.filter {
            line[$0].scene == request.scene && line[$0].request.coalescing?.key == coalescing.key
        }.suffix(Limits.coalesced)
        var found: [Int] = []
        for older in known.reversed() where line[older].isGranted {
            let other = line[older]
            let isAbsent = other.interruption != nil || other.gesture == .cancel
            let isShown = other.state == .running || other.hasRememberedEnd || other.gesture != nil
            guard coalescing.keep == .latest ? !isShown : !isAbsent,
                coalescing.keep == .latest ? other.priority <= priority : priority <= other.priority
            else { continue }
            let isSeparated = line.indices.contains { index in
                let between = line[index]
                guard between.scene == request.scene, stands(between), index != older, !found.contains(index),
                    !queued.contains(index), between.isGranted ? index > older : index < place
                else { return false }
                return conflicts(between, own, isShared: request.mode == .shared) || conflicts(between, other)
                    || waits(between.request, between.scope, for: other.request)
                    || waits(between.request, between.scope, for: request)
                    || waits(request, scope, for: between.request)
            }
            if !isSeparated { found.insert(older, at: 0) }
        }
        return found
    }
}
