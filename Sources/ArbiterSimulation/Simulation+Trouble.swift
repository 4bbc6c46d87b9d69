internal import ArbiterCore

// Time, commits and the ends of processes.

extension Simulation {
    // MARK: - Time

    mutating func letTimePass(upTo limit: Duration? = nil) throws(Broken) {
        let most =
            if chance.isOnce(in: 150) {
                chance.milliseconds(upTo: 700_000)
            } else if chance.isOnce(in: 9) {
                chance.milliseconds(upTo: 6_000)
            } else {
                chance.milliseconds(upTo: 500)
            }
        let hop = min(most, limit ?? most)
        if chance.isOnce(in: 3) {
            // The alarm is late: what is due is decided before the next command.
            try pass(until: now.advanced(by: hop))
        } else {
            try passOnTime(until: now.advanced(by: hop))
        }
    }

    /// Lets time pass in which the process runs, until the arbiter's clock shows an instant.
    private mutating func pass(until instant: Instant) throws(Broken) {
        var left = max(.zero, now.duration(to: instant))
        if left > .zero { left += clock.standstill }
        while left > .zero {
            let beat = min(left, Limits.heartbeat)
            readClock(after: beat)
            left -= beat
        }
        guard now >= instant else { throw Broken(.time, "the arbiter's clock shows \(now), and not \(instant)") }
        note(.time(now))
    }

    private mutating func readClock(after duration: Duration) {
        outside = outside.advanced(by: duration)
        _ = clock.read(outside)
    }

    private mutating func passOnTime(until target: Instant) throws(Broken) {
        while let next = machine.nextDeadline, next <= target {
            try pass(until: next)
            try decide()
            guard machine.nextDeadline != next || configuration.fault == .missedDeadline else {
                throw Broken(.decision, "what is due at \(next) is not decided then")
            }
            if configuration.fault == .missedDeadline { break }
        }
        try pass(until: target)
        guard machine.nextDecision(at: now) == nil || configuration.fault == .missedDeadline else {
            throw Broken(.decision, "something was due that nobody had announced")
        }
        try decide()
    }

    /// The process is stopped or swapped out, or its machine suspended, while everybody else goes on.
    mutating func stopRunning() throws(Broken) {
        try decide()
        let wasDue = machine.nextDecision(at: now) != nil
        let renewals = renewalsOfHolders()
        // It may have run for a moment since its clock was read.
        let gap =
            Limits.longestBetweenReadings + .milliseconds(1)
            + chance.milliseconds(upTo: chance.isOnce(in: 4) ? 700_000 : 20_000)
        let before = now
        readClock(after: gap)
        // The fault: the time in which it did not run counts like any other.
        if configuration.fault == .countedPause {
            clock = ArbiterClock(showing: before.advanced(by: gap), at: outside)
        }
        statistics.count(.pauses)
        note(.paused(gap))
        let isDue = machine.nextDecision(at: now) != nil
        for (id, renewal) in renewals {
            statistics.count(.renewalsInPauses)
            try submit(renewal)
            guard oracle[id]?.isGranted == true else {
                throw Broken(.promise, "\(id) was renewed within its lease, and lost it while the arbiter did not run")
            }
        }
        guard wasDue || !isDue else {
            throw Broken(.decision, "something has fallen due while the arbiter did not run")
        }
    }

    /// What holders send while the process does not run, before their leases are over by their own clocks.
    private mutating func renewalsOfHolders() -> [(TransitionID, Request)] {
        var renewals: [(TransitionID, Request)] = []
        for (client, process) in clients.enumerated() {
            for owned in process.owned where oracle[owned.id]?.isGranted == true {
                guard holds.isHeld(owned.id, at: outside), chance.isOnce(in: 2) else { continue }
                let ask = Ask.renew(owned.id, token: owned.token)
                renewals.append((owned.id, Request(client: client, life: process.life, ask: ask)))
            }
        }
        return renewals
    }

    mutating func jumpWallClock() {
        let jump = Duration.seconds(Int.random(in: -100_000...100_000, using: &chance))
        statistics.count(.wallClockJumps)
        note(.wallClock(jump))
        if configuration.jumpsWallClock { wallOffset += jump }
    }

    // MARK: - The journal

    mutating func commitEverything() {
        guard journal.committed < journal.last else { return }
        journal.commit(upTo: journal.last)
        note(.committed(journal.committed))
    }

    mutating func commit() {
        journal.commit(upTo: UInt64.random(in: journal.committed...journal.last, using: &chance))
        note(.committed(journal.committed))
        guard !chance.isOnce(in: 3) else { return }
        journal.sync(upTo: UInt64.random(in: journal.synced...journal.committed, using: &chance))
        ledger.compact(upTo: journal.synced)
    }

    mutating func save() throws(Broken) {
        if configuration.comparesReplays { try compareReplay(passing: journal.last) }
        journal.save(machine, oracle)
        note(.saved(journal.last))
    }

    // MARK: - Ends

    mutating func drain() throws(Broken) {
        statistics.count(.drains)
        try decide()
        try perform(.drain)
        isDraining = true
        guard parked.isEmpty else { throw Broken(.wake, "\(parked.count) awaits wait through a drain") }
    }

    /// The process dies, or the machine under it, and a new one takes over what the journal has kept.
    mutating func crash(isMachineDead: Bool = false) throws(Broken) {
        let last = journal.last
        let surviving = UInt64.random(
            in: (isMachineDead ? journal.synced : journal.committed)...last, using: &chance)
        note(.crashed(surviving: surviving, last: last, isMachineDead: isMachineDead))
        statistics.count(isMachineDead ? .machineDeaths : .crashes)
        let bytes = configuration.comparesReplays ? try compareReplay(passing: surviving) : nil
        withheld.removeAll()
        parked.removeAll()
        connections.removeAll()
        isDraining = false
        let downtime = chance.milliseconds(upTo: isMachineDead && chance.isOnce(in: 2) ? 700_000 : 2_000)
        outside = outside.advanced(by: downtime)
        clock = ArbiterClock(showing: outside, at: outside)
        note(.time(now))

        journal.truncate(to: surviving)
        try restore()
        guard bytes.map({ machine.snapshot() == $0 }) ?? true else {
            throw Broken(.replay, "two ways to replay the records up to \(surviving) differ")
        }
        if isMachineDead { ledger.releasePromises(after: surviving) }
        try ledger.checkPromises(machine, after: surviving)
        statistics.count(.revivals, ledger.truncate(to: surviving))
        if configuration.fault != .repeatedFence {
            let holdsGrants = downtime <= Limits.leaseDurations.upperBound
            try makeUp(by: isMachineDead ? .distrust(holdsGrants: holdsGrants) : .skipFences)
        }
        machine.recover(at: now)
        ledger.hearEverybody(at: now)
        vigils.begin(oracle.sessions.values, at: now)
        heldSince = now
        try check()
        try decide()
    }

    private mutating func restore() throws(Broken) {
        let savepoint: SimulatedJournal.Savepoint
        var end = journal.last
        if configuration.fault == .skippedReplay, let newest = journal.savepoints.last {
            savepoint = newest
            end = newest.sequence
        } else {
            savepoint = journal.savepoints[Int.random(in: 0..<journal.savepoints.count, using: &chance)]
        }
        (machine, oracle) = try journal.restored(from: savepoint, upTo: end, limits: configuration.limits)
    }

    /// Synced before anything else happens, or a second death could give the same fences again.
    private mutating func makeUp(by command: Command) throws(Broken) {
        let outcome = machine.apply(command, at: moment)
        guard outcome.isDurable else { throw Broken(.reply, "\(command) leaves no trace") }
        journal.append(command, at: moment, [])
        journal.commit(upTo: journal.last)
        journal.sync(upTo: journal.last)
        follow(command)
        note(.applied(command, .done, isDurable: true, sequence: journal.last))
    }
}
