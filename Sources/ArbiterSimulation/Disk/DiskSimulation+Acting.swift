internal import ArbiterEngine
internal import ArbiterTestKit

// What happens to a process that writes the journal.

extension DiskSimulation {
    mutating func act() throws(BrokenPromise) {
        switch Int.random(in: 0..<100, using: &chance) {
        case ..<70: try commit()
        case ..<76: planTrouble(within: 40)
        case ..<79:
            disk.limit(toRoom: Int.random(in: 0..<6000, using: &chance))
            note("room is short")
            statistics.count(.fullDisks)
        case ..<83: disk.calm()
        case ..<88: try die()
        case ..<93: try close()
        default: try commitInBetween()
        }
    }

    /// Has one of the next operations go wrong.
    mutating func planTrouble(within operations: Int) {
        let trouble: SimulatedDisk.Trouble = chance.isOnce(in: 3) ? .failure : .death
        let count = Int.random(in: 1...operations, using: &chance)
        note("\(trouble) at operation \(count)")
        disk.plan(trouble, at: count)
    }

    private mutating func someRecords() -> ArraySlice<JournalEntry> {
        let most = [1, 1, 3, 10, 60].randomElement(using: &chance) ?? 1
        return records(Int.random(in: 1...most, using: &chance))
    }

    private mutating func records(_ count: Int) -> ArraySlice<JournalEntry> {
        let last = life.last
        life.live(count, size: chance.isOnce(in: 3) ? 200 : 10, &chance)
        return life.records[last...]
    }

    private mutating func commit() throws(BrokenPromise) {
        guard let journal = writer?.journal else { return }
        let records = someRecords()
        if writer?.firstGroup == nil { writer?.firstGroup = life.last }
        noteAppending()
        for record in records { _ = journal.append(record) }
        journal.flush(mayCommit: !chance.isOnce(in: 3))
        journal.settle()
        try hear()
    }

    /// Commits a group, and another one while a compaction runs, if one does.
    private mutating func commitInBetween() throws(BrokenPromise) {
        guard let writer, writer.hasBegun else { return try commit() }
        // So many that a snapshot is due.
        let records = records(Int.random(in: 20...60, using: &chance))
        noteAppending()
        for record in records { _ = writer.journal.append(record) }
        let later = Array(someRecords())
        writer.reports.plan(later, at: Int.random(in: 1...25, using: &chance))
        writer.journal.flush(mayCommit: !chance.isOnce(in: 3))
        writer.journal.settle()
        if writer.reports.hasInterlude {
            writer.reports.plan([], at: 0)
            for record in later { _ = writer.journal.append(record) }
            writer.journal.flush(mayCommit: !chance.isOnce(in: 3))
            writer.journal.settle()
        } else {
            statistics.count(.interludes)
        }
        try hear()
    }

    private mutating func noteAppending() {
        facts.isClosed = false
        if writer?.hasBegun == false, facts.durability != writer?.durability { facts.durability = nil }
    }

    /// Notes what the journal has reported, and whether its process still lives.
    private mutating func hear() throws(BrokenPromise) {
        guard let writer else { return }
        let committed = writer.reports.committed
        guard committed <= life.last else {
            throw BrokenPromise(.report, "record \(committed) is committed, of \(life.last)")
        }
        if committed > facts.told { noteCommit(of: committed) }
        if disk.isDead { return try endProcess("is killed by its disk") }
        if let failure = writer.reports.failure {
            guard disk.mishaps > writer.mishaps else {
                throw BrokenPromise(.report, "the journal fails although the disk did not: \(failure.reason)")
            }
            statistics.count(.failures)
            writer.journal.close()
            if disk.isDead { return try endProcess("is killed at its end") }
            return leave("fails: \(failure.reason)")
        }
        guard committed == life.last else {
            throw BrokenPromise(.report, "record \(life.last) is neither committed nor refused, only \(committed)")
        }
    }

    private mutating func noteCommit(of committed: Int) {
        guard let writer else { return }
        statistics.count(.records, by: committed - facts.told)
        facts.told = committed
        if !writer.hasBegun {
            self.writer?.hasBegun = true
            life.goOn()
            (facts.hasMachineDied, facts.isFlipAccepted) = (false, false)
            (facts.suspected, facts.mayBeClosed) = (nil, false)
            facts.durability = writer.durability
            facts.safe = min(writer.firstGroup ?? 0, committed)
        }
        if writer.durability == .power { facts.safe = committed }
    }

    private mutating func die() throws(BrokenPromise) {
        disk.killProcess()
        try endProcess("is killed")
    }

    private mutating func close() throws(BrokenPromise) {
        guard let writer else { return }
        if chance.isOnce(in: 3) { planTrouble(within: 6) }
        let before = disk.mishaps
        writer.journal.close()
        facts.mayBeClosed = facts.mayBeClosed || facts.told == life.last
        if disk.isDead { return try endProcess("is killed while it closes") }
        statistics.count(.closes)
        if disk.mishaps == before, writer.hasBegun { (facts.isClosed, facts.safe) = (true, facts.told) }
        leave("is closed")
        if chance.isOnce(in: 3) { killMachine() }
    }

    /// The process has been killed, and perhaps its machine with it.
    private mutating func endProcess(_ how: String) throws(BrokenPromise) {
        statistics.count(.kills)
        writer?.journal.close()
        leave(how)
        if chance.isOnce(in: 2) { killMachine() }
    }

    /// Notes that there is no process any more.
    mutating func leave(_ how: String) {
        statistics.count(.groups, by: writer?.reports.groups ?? 0)
        statistics.count(.compactions, by: writer?.metrics.compactions.count ?? 0)
        note("the process \(how); \(facts.told) of \(life.last) are reported")
        writer = nil
        disk.calm()
    }

    mutating func killMachine() {
        statistics.count(.machineDeaths)
        disk.killMachine()
        facts.hasMachineDied = true
        facts.boot = UInt128(chance.next())
        note("the machine dies; \(facts.safe) are safe")
    }
}
