internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterModel
internal import ArbiterTestKit

// Commits, failures of the journal, and restarts.

extension Simulation {
    // MARK: - The journal

    mutating func commitEverything() throws(Broken) {
        guard journal.committed < journal.last else { return }
        try commit(upTo: journal.last)
    }

    mutating func commit() throws(Broken) {
        guard journal.isOpen else { return }
        try commit(upTo: UInt64.random(in: journal.committed...journal.last, using: &chance))
        guard !chance.isOnce(in: 3) else { return }
        journal.sync(upTo: UInt64.random(in: journal.synced...journal.committed, using: &chance))
        ledger.compact(upTo: journal.synced)
    }

    private mutating func commit(upTo sequence: UInt64) throws(Broken) {
        journal.commit(upTo: sequence)
        note(.committed(journal.committed))
        try absorb(isTurn: false)
    }

    mutating func save() throws(Broken) {
        guard !isDown, let observedAt, journal.last == observed else { return }
        try compareReplays()
        journal.save(replica.machine.snapshot(), at: observedAt)
        replica.save(after: observed, savepoints: journal.savepoints)
        note(.saved(observed))
    }

    /// The journal fails, and may lose records that are not committed; mostly it can be opened again later.
    mutating func failJournal() throws(Broken) {
        guard !isDown else { return }
        let (committed, last) = (journal.committed, journal.last)
        let surviving = UInt64.random(in: committed...last, using: &chance)
        try compareReplays()
        statistics.count(.journalFailures)
        note(.failed(surviving: surviving, last: last))
        isDown = true
        let isLost = chance.isOnce(in: 8)
        let error = JournalError(isLost ? .vanished : .inaccessible, reason: "it fails")
        journal.fail(keeping: surviving, refusals: chance.isOnce(in: 4) ? 2 : 0, error)
        try absorb(isTurn: false)
        // It will not work again by itself, so the daemon ends.
        if isLost { try crash() }
    }

    /// The engine has opened the journal again.
    mutating func takeUp() throws(Broken) {
        isDown = false
        process.era += 1
        statistics.count(.resumptions)
        note(.resumed(journal.opened.last))
        _ = try restore(isMachineDead: false)
        resumedAfter = (replica.machine.lastEvents(), replica.machine.lastEvent)
        // The engine has to ignore the earlier writer, whatever it reports.
        journal.tellLate(chance.isOnce(in: 2) ? .success(.max) : .failure(JournalError(reason: "it has failed before")))
    }

    // MARK: - Ends

    /// Stops the daemon cleanly, and starts another one.
    mutating func restart() throws(Broken) {
        statistics.count(.restarts)
        let wasDown = isDown
        isDown = true
        process.engine.stop()
        try readMail()
        if !wasDown, let announcement = events.first ?? notices.first {
            throw Broken(.event, "\(announcement.announcement) is not told before the end")
        }
        try absorb(isTurn: false)
        guard wasDown || journal.last == 0 || observedAt?.instant == now else {
            throw Broken(.time, "the moment of a clean stop is not kept")
        }
        // A stopped engine answers that it is stopped.
        try give(Request(client: 0, life: clients[0].life, ask: .renewSession(Token(high: 0, low: 0))))
        note(.restarted(journal.last))
        // If the journal had failed, it works again by then.
        journal.lose(after: journal.last, isMachineDead: false)
        try begin(after: someDowntime())
    }

    /// The process or its machine dies, and another process opens the rest of the journal.
    mutating func crash(isMachineDead: Bool = false) throws(Broken) {
        let last = journal.last
        // A failed journal has lost its records already.
        let surest = isMachineDead ? journal.synced : isDown ? last : journal.committed
        let surviving = UInt64.random(in: surest...last, using: &chance)
        if !isDown { try compareReplays() }
        note(.crashed(surviving: surviving, last: last, isMachineDead: isMachineDead))
        statistics.count(isMachineDead ? .machineDeaths : .crashes)
        isDown = true
        journal.lose(after: surviving, isMachineDead: isMachineDead)
        _ = process.mailbox.takeAll()
        let downtime = someDowntime(isMachineDead: isMachineDead)
        if isMachineDead, chance.isOnce(in: 2) {
            machineClock.restart(showing: Instant(nanoseconds: Int64.random(in: 0...60_000_000_000, using: &chance)))
        }
        try begin(after: downtime, isMachineDead: isMachineDead)
    }

    /// A time in which no process runs, now and then longer than any lease.
    private mutating func someDowntime(isMachineDead: Bool = false) -> Duration {
        let mayBeLong = isMachineDead || oracle.isHoldingGrants
        return chance.milliseconds(upTo: mayBeLong && chance.isOnce(in: 2) ? 700_000 : 2_000)
    }

    /// Starts a process that opens the journal.
    private mutating func begin(after downtime: Duration, isMachineDead: Bool = false) throws(Broken) {
        machineClock.advance(by: downtime)
        let trusts = downtime > configuration.limits.longestSilence && !chance.isOnce(in: 4)
        let savepoints = journal.savepoints.count
        let savepoint =
            configuration.fault == .skippedReplay ? savepoints - 1 : Int.random(in: 0..<savepoints, using: &chance)
        (owedAnswers, parked, idlers, connections) = ([], [], [], [])
        events.removeAll()
        notices.removeAll()
        do throws(JournalError) {
            try journal.open(at: savepoint, isImmediate: chance.isOnce(in: 6))
            process = try Process(
                configuration, journal, machineClock, seed: chance.next(), trustsLeasesOver: trusts)
        } catch {
            throw Broken(.replay, "the journal cannot be read: \(error.reason)")
        }
        (isDown, isDraining) = (false, false)
        let opened = journal.opened.last
        for event in try restore(isMachineDead: isMachineDead) { events.expect(.event(event), after: opened) }
        try absorb(isTurn: true, isFirst: true)
        try compareReplays()
        note(.time(now))
    }

    /// Resets the replica, the oracle, the ledger and the vigils to the records that are left.
    ///
    /// - Returns: the events of the records after the savepoint, which a replay tells again.
    private mutating func restore(isMachineDead: Bool) throws(Broken) -> [KeptEvent] {
        let opened = journal.opened
        let told = try replica.restore(from: opened.savepoint, upTo: opened.last, of: journal)
        (observed, observedAt) = (opened.last, opened.moment)
        restartRecords = restartRecords(after: opened.ending)
        if isMachineDead { ledger.releasePromises(after: observed) }
        try checkPromises()
        statistics.count(.revivals, ledger.truncate(to: observed))
        ledger.restartMomentary(at: now)
        for entry in oracle.line where entry.interruption != nil { _ = ledger.noteInterruption(of: entry.id, at: now) }
        vigils.begin(oracle.sessions.values, at: now)
        idleTimes.begin(at: now)
        heldSince = now
        return told
    }

    /// The records that a restart has to make first.
    private func restartRecords(after ending: JournalContents.Ending) -> [Record] {
        let trusts = process.trustsLeasesOver
        let records: [Record] =
            switch ending {
            case .closed: []
            case .killed, .commitCutShort: [.skipFences]
            case .machineDied, .incomplete: [.distrust(holdsGrants: !trusts)]
            }
        // The record is only made if grants are withheld.
        return records + (trusts && oracle.isHoldingGrants ? [.resume] : [])
    }

    /// Checks that all answers are still true, in the replica and in the engine.
    private func checkPromises() throws(Broken) {
        try ledger.checkPromises(replica.machine, after: observed)
        // What ends by the grants of a resumption, or because revisions jump, may have made the engine forget ended transitions.
        let mayForget = restartRecords.contains { record in
            switch record {
            case .resume, .distrust: true
            default: false
            }
        }
        guard !mayForget else { return }
        let (ledger, observed) = (ledger, observed)
        let broken = process.engine.inspect { machine -> Broken? in
            do throws(Broken) {
                try ledger.checkPromises(machine, after: observed)
                return nil
            } catch {
                return error
            }
        }
        if let broken { throw broken }
    }
}
