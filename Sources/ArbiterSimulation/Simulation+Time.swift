internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// Time, in which the process runs or does not.

extension Simulation {
    mutating func letTimePass(upTo limit: Duration? = nil) throws(Broken) {
        let most =
            if chance.isOnce(in: 150) {
                chance.milliseconds(upTo: 700_000)
            } else if isDown || chance.isOnce(in: 9) {
                chance.milliseconds(upTo: 6_000)
            } else {
                chance.milliseconds(upTo: 500)
            }
        let hop = min(most, limit ?? most)
        let target = now.advanced(by: hop)
        try renewSessionsSecretly(before: target)
        let end = outside.advanced(by: hop > .zero ? hop + process.time.standstill : .zero)
        // Otherwise the alarm is late, and the next turn does what is due.
        if !chance.isOnce(in: 3) { try ringUntil(end) }
        run(until: end)
        guard now >= target else { throw Broken(.time, "the arbiter's clock shows \(now), and not \(target)") }
        note(.time(now))
    }

    /// Lets time pass in which the process runs and reads its clock at every heartbeat.
    private func run(until end: Instant) {
        while outside < end {
            machineClock.advance(by: min(outside.duration(to: end), Limits.heartbeat))
            _ = process.time.instant
        }
    }

    /// Lets time pass, and rings the alarm on time.
    private mutating func ringUntil(_ end: Instant) throws(Broken) {
        while let next = process.alarm.next {
            let instant = outside.advanced(by: machineClock.now().instant.duration(to: next))
            guard instant <= end else { break }
            run(until: instant)
            _ = try ring()
        }
        run(until: end)
        guard !isDown, let next = process.engine.inspect({ $0.nextDeadline }), next <= now else { return }
        throw Broken(.decision, "something was due at \(next) that nobody had announced")
    }

    private mutating func ringWhatIsLate() throws(Broken) {
        while try ring() {}
    }

    /// The process does not run for a while, for example because the machine is suspended; the clients' time goes on.
    mutating func stopRunning() throws(Broken) {
        try ringWhatIsLate()
        // What was due when the process began or its journal was opened again, a moment after another pause, waits for that moment.
        let wasDue = isSomethingDue
        let renewals = renewalsOfHolders()
        // Shorter gaps count as time in which the process runs.
        let gap =
            Limits.longestBetweenReadings + .milliseconds(1)
            + chance.milliseconds(upTo: chance.isOnce(in: 4) ? 700_000 : 20_000)
        machineClock.advance(by: gap)
        // The planted fault: the pause counts as time in which the process ran.
        if configuration.fault == .countedPause { process.time.skew(by: gap) }
        statistics.count(.pauses)
        note(.paused(gap))
        for (id, renewal) in renewals {
            statistics.count(.renewalsInPauses)
            try submit(renewal)
            guard isDown || oracle[id]?.isGranted == true else {
                throw Broken(.promise, "\(id) was renewed within its lease, and lost it while the arbiter did not run")
            }
        }
        guard wasDue || !isSomethingDue else {
            throw Broken(.decision, "something has fallen due while the arbiter did not run")
        }
    }

    private var isSomethingDue: Bool {
        !isDown && process.engine.inspect { $0.nextDeadline.map { $0 <= now } ?? false }
    }

    /// Renewals that holders send during a pause, before their leases are over by their own clocks.
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
        if configuration.jumpsWallClock { machineClock.jumpWall(by: jump) }
    }
}
