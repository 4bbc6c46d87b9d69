internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTestKit

// Starts of processes, and what they find.

extension DiskSimulation {
    mutating func start() throws(BrokenPromise) {
        disk.beginProcess()
        if facts.flipped == nil, chance.isOnce(in: 10), let flipped = disk.flipBit() {
            facts.flipped = flipped
            statistics.count(.flips)
            note("a bit of \(flipped.name) flips")
        }
        if chance.isOnce(in: 6) { planTrouble(within: 12) }
        let mishaps = disk.mishaps
        let other: LogJournal.Durability = facts.mostly == .power ? .crash : .power
        let durability = chance.isOnce(in: 5) ? other : facts.mostly
        let storage: any JournalStorage = fault == .none ? disk : PlantedStorage(disk, fault)
        statistics.count(.starts)
        let metrics = JournalMetrics()
        let opened: (journal: LogJournal, contents: JournalContents)
        do throws(JournalError) {
            let journal = try LogJournal(
                storage, durability: durability, logger: Self.silentLogger,
                recordsBetweenSnapshots: UInt64(Int.random(in: 20...60, using: &chance)),
                bytesBetweenSnapshots: 1 << 20, boot: facts.boot, lookEvery: nil, metrics: metrics)
            opened = (journal, try journal.contents())
        } catch {
            return try refused(error, mishaps)
        }
        try check(opened.contents)
        begin(opened.journal, durability, metrics)
    }

    private mutating func begin(
        _ journal: LogJournal, _ durability: LogJournal.Durability, _ metrics: JournalMetrics
    ) {
        let reports = DiskReports()
        writer = DiskWriter(
            journal: journal, durability: durability, reports: reports, metrics: metrics, mishaps: disk.mishaps)
        journal.begin { reports.hear($0) }
        disk.interruptCompactions { [weak journal] in
            guard let journal else { return }
            // Otherwise what a compaction does and what a commit does would come in any order.
            journal.settle(compactionToo: false)
            let records = reports.next()
            guard !records.isEmpty else { return }
            for record in records { _ = journal.append(record) }
            // This thread compacts, so another one has to commit.
            journal.flush(mayCommit: false)
            journal.settle(compactionToo: false)
        }
    }

    /// A start has failed.
    private mutating func refused(_ error: JournalError, _ mishaps: Int) throws(BrokenPromise) {
        if disk.isDead {
            statistics.count(.deathsInStarts)
            leave("is killed at its start")
            if chance.isOnce(in: 2) { killMachine() }
            return
        }
        if disk.mishaps > mishaps, error.kind == .inaccessible {
            statistics.count(.failedStarts)
            return leave("cannot start: \(error.reason)")
        }
        guard let flipped = facts.flipped else {
            throw BrokenPromise(.start, "the journal is refused: \(error.reason)")
        }
        statistics.count(.refusals)
        disk.mend(flipped)
        facts.flipped = nil
        leave("is refused: \(error.reason)")
    }

    /// Checks what a start has found.
    private mutating func check(_ contents: JournalContents) throws(BrokenPromise) {
        let snapshot = Int(contents.snapshot?.sequence ?? 0)
        let last = snapshot + contents.records.count
        note("a start finds \(last), \(snapshot) in a snapshot: \(contents.ending)")
        guard snapshot <= life.last, life.includes(contents.records, behind: snapshot) else {
            throw BrokenPromise(.content, "the records up to \(last) are not those that were appended")
        }
        let replay = try replayed(contents, snapshot)
        try check(contents.ending, last)
        life.goBack(to: last, with: replay.finished())
        if last < facts.told {
            statistics.count(.losses)
            statistics.count(.lost, by: facts.told - last)
        }
        (facts.told, facts.safe, facts.found) = (min(facts.told, last), min(facts.safe, last), last)
        facts.suspected = contents.ending.mayLackRecords ? last : nil
        (facts.isFlipAccepted, facts.flipped) = (facts.hasFlipped, nil)
    }

    /// The state after everything that was found.
    private mutating func replayed(
        _ contents: JournalContents, _ snapshot: Int
    ) throws(BrokenPromise) -> JournalReplay {
        do throws(JournalError) {
            var replay = JournalReplay()
            try replay.begin(contents.snapshot)
            let found = replay
            try replay.take(contents.records)
            guard let state = contents.snapshot?.state else { return replay }
            // From an earlier snapshot that was as it should be, if there is one.
            var expected = facts.replay.sequence > found.sequence ? JournalReplay() : facts.replay
            try expected.take(Array(life.records[Int(expected.sequence)..<snapshot]))
            facts.replay = found
            if expected.finished().snapshot() == state { return replay }
        } catch {
            throw BrokenPromise(.content, error.reason)
        }
        throw BrokenPromise(.content, "the snapshot after \(snapshot) is another state")
    }

    private mutating func check(_ ending: JournalContents.Ending, _ last: Int) throws(BrokenPromise) {
        let must = facts.hasMachineDied ? facts.told : max(facts.told, facts.found)
        if last < must {
            let isExcused = facts.hasMachineDied && ending == .machineDied && last >= facts.safe
            guard isExcused || (facts.hasFlipped && ending.mayLackRecords) else {
                throw BrokenPromise(.durability, "\(must) were there, and a start finds \(last), which is \(ending)")
            }
        }
        // With another record there, a log was begun, and its first group has what makes up for the missing ones.
        if let suspected = facts.suspected, last <= suspected, !ending.mayLackRecords {
            throw BrokenPromise(.ending, "records after \(suspected) may be missing, but the ending is \(ending)")
        }
        switch ending {
        case .closed where facts.mayBeClosed: break
        case .killed where !facts.isClosed || facts.hasFlipped: break
        case .commitCutShort where facts.hasMachineDied && facts.durability != .crash: break
        case .machineDied where facts.hasMachineDied && facts.durability != .power: break
        case .incomplete where facts.hasFlipped: break
        case .closed, .killed, .commitCutShort, .machineDied, .incomplete:
            throw BrokenPromise(.ending, "nothing has happened that would be \(ending): \(facts)")
        }
        if facts.hasMachineDied, facts.durability == .crash, ending == .killed, !facts.hasFlipped {
            guard last > max(facts.told, facts.found) else {
                throw BrokenPromise(.ending, "the machine has died, and the ending is \(ending)")
            }
            // A log was begun since, although its process was killed before it could report that.
            facts.hasMachineDied = false
        }
    }
}
