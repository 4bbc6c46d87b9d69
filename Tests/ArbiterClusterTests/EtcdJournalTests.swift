import ArbiterCluster
import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// The journal in a real etcd, also where answers are lost and requests arrive late or twice.
struct EtcdJournalTests {
    @Test(arguments: JournalConformance.Check.allCases)
    func `it keeps the promises of a journal`(check: JournalConformance.Check) throws {
        let shard = try OwnedShard()
        let tenure = try shard.claim()
        let open = { shard.journal(tenure) }
        try JournalConformance(make: open, reopen: open).run(check)
    }

    @Test func `a commit whose answer is lost is sent again, and counts once`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim())
        let records = RecordedLife(seed: 1, records: 2).records
        let left = Guarded(2)
        shard.unsure.decide { transaction in
            guard transaction.success.count == 2 else { return .answered }
            return left.withLock { left in
                left -= 1
                return left >= 0 ? .unanswered : .answered
            }
        }
        let commits = Commits(of: journal)
        for record in records { journal.commit(record) }
        try commits.wait(for: UInt64(records.count))
        journal.close()
        #expect(try journal.records() == records)
        let sent = shard.unsure.sent.filter { $0.success.count == 2 }
        #expect(sent.count > Set(sent).count)
    }

    @Test func `what arrives after the tenure changes nothing, though the same node owns the shard again`() throws {
        let shard = try OwnedShard()
        let early = shard.journal(try shard.claim())
        let records = RecordedLife(seed: 1, records: 1).records
        shard.unsure.decide { $0.success.count == 2 ? .late : .answered }
        let commits = Commits(of: early)
        for record in records { early.commit(record) }
        try shard.unsure.wait(for: 1) { $0.success.count == 2 }
        try shard.giveUp()
        let later = shard.journal(try shard.claim())
        #expect(try later.contents().records.isEmpty)
        shard.unsure.decide { _ in .answered }
        #expect(try commits.failure().kind == .notOwner)
        #expect(try shard.unsure.deliverLate().allSatisfy { !$0.succeeded })
        #expect(try later.contents().records.isEmpty)
        early.close()
        later.close()
    }

    @Test func `what was carried out before the tenure ended is reported, although its answer was lost`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim())
        let record = RecordedLife(seed: 1, records: 1).records[0]
        let commits = Commits(of: journal)
        let isFirst = Guarded(true)
        shard.unsure.decide { transaction in
            guard transaction.success.count == 2 else { return .answered }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .unanswered : .lost
            }
        }
        journal.commit(record)
        try shard.unsure.wait(for: 2) { $0.success.count == 2 }
        try shard.giveUp()
        let successor = shard.journal(try shard.claim())
        shard.unsure.decide { _ in .answered }
        try commits.wait(for: 1)
        #expect(try successor.records() == [record])
        journal.close()
        successor.close()
    }

    @Test func `a snapshot replaces the records before it, and the state stays the same`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim(), bytesBetweenSnapshots: 2000)
        let records = RecordedLife(seed: 1, records: 300).records
        let commits = Commits(of: journal)
        for record in records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        journal.close()
        let contents = try journal.contents()
        let snapshot = try #require(contents.snapshot)
        #expect(try state(after: contents) == state(after: JournalContents(records: records)))
        #expect(try shard.count("/arbiter/log/0/") == contents.records.count)
        // One more if the journal was closed while it stored the next one, which the one after that deletes.
        #expect((1...2).contains(try shard.count("/arbiter/chunk/0/")))
        #expect(contents.records.first.map { $0.sequence == snapshot.sequence + 1 } ?? true)
    }

    @Test(arguments: [1 << 20, 2000])
    func `a replay goes on where the shard was read to before, or begins again after a newer snapshot`(
        bytesBetweenSnapshots: Int
    ) throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim(), bytesBetweenSnapshots: bytesBetweenSnapshots)
        let records = RecordedLife(seed: 1, records: 300).records
        let commits = Commits(of: journal)
        let reader = ShardReader(shard: 0, keys: shard.keys) { [unsure = shard.unsure] range throws(JournalError) in
            do {
                let outcome = try Reply.wait { unsure.transact(.read(range), within: .seconds(30), completion: $0) }
                return outcome.found.first ?? EtcdKeys([])
            } catch {
                throw JournalError(reason: "\(error)")
            }
        }
        var (ahead, progress) = (JournalReplay(), ShardReader.Progress?.none)
        for record in records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
            guard record.sequence == 10 else { continue }
            progress = try reader.read { snapshot throws(JournalError) in
                try ahead.begin(snapshot)
            } _: { records throws(JournalError) in
                try ahead.take(records)
            }
        }
        journal.close()
        try shard.giveUp()
        let successor = shard.journal(try shard.claim())
        let isTold = Guarded(false)
        successor.goOn(after: try #require(progress)) { isTold.withLock { $0 = true } }
        var (hasBegunAgain, first) = (false, UInt64?.none)
        _ = try successor.replay { snapshot throws(JournalError) in
            hasBegunAgain = true
            ahead = JournalReplay()
            try ahead.begin(snapshot)
        } _: { records throws(JournalError) in
            first = first ?? records.first?.sequence
            try ahead.take(records)
        }
        #expect(ahead.finished().snapshot() == (try state(after: JournalContents(records: records))))
        #expect(hasBegunAgain == (bytesBetweenSnapshots == 2000))
        #expect(isTold.withLock { $0 } == hasBegunAgain)
        #expect(hasBegunAgain || first == 11)
        successor.close()
    }

    @Test func `a snapshot that arrives late does not take the place of a newer one`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim(), bytesBetweenSnapshots: 2000)
        let records = RecordedLife(seed: 1, records: 300).records
        let manifest = shard.keys.manifest(of: 0)
        let isFirst = Guarded(true)
        shard.unsure.decide { transaction in
            guard transaction.success.contains(where: { $0.puts(manifest) }) else { return .answered }
            return isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .late : .answered
            }
        }
        let commits = Commits(of: journal)
        for record in records {
            journal.commit(record)
            try commits.wait(for: record.sequence)
        }
        journal.close()
        let contents = try journal.contents()
        #expect(try shard.unsure.deliverLate().map(\.succeeded) == [false])
        #expect(try journal.contents() == contents)
        #expect(try state(after: contents) == state(after: JournalContents(records: records)))
    }

    @Test func `a log that lacks a group is damaged, and one that lacks its end is too`() throws {
        for lost in [1, 3] {
            let shard = try OwnedShard()
            let journal = shard.journal(try shard.claim())
            let commits = Commits(of: journal)
            for record in RecordedLife(seed: 1, records: 3).records {
                journal.commit(record)
                try commits.wait(for: record.sequence)
            }
            journal.close()
            _ = try shard.etcd.transact(
                EtcdTransaction(then: [.delete(.key(shard.keys.log(of: 0, from: UInt64(lost))))]))
            let error = #expect(throws: JournalError.self) { try journal.contents() }
            #expect(error?.kind == .damaged)
        }
    }

    @Test func `etcd without room holds commits back, and they go on when there is room`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim())
        let refusals = Guarded(0)
        shard.unsure.decide { transaction in
            guard transaction.success.count == 2 else { return .answered }
            return refusals.withLock { refusals in
                refusals += 1
                return refusals <= 3 ? .refused : .answered
            }
        }
        let commits = Commits(of: journal)
        let records = RecordedLife(seed: 1, records: 2).records
        for record in records { journal.commit(record) }
        try commits.wait(for: 2)
        #expect(refusals.withLock { $0 } >= 4)
        journal.close()
        #expect(try journal.records() == records)
    }

    @Test func `commits are given up when the node's lease may be over`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim())
        shard.unsure.decide { $0.success.count == 2 ? .lost : .answered }
        let commits = Commits(of: journal)
        journal.commit(RecordedLife(seed: 1, records: 1).records[0])
        shard.lease.end()
        #expect(try commits.failure().kind == .notOwner)
        journal.close()
    }

    @Test func `a shard that forgets keys early is compacted, because its records say what is forgotten`() throws {
        let shard = try OwnedShard()
        let journal = shard.journal(try shard.claim(), bytesBetweenSnapshots: 1000)
        var limits = Limits()
        (limits.retainedCount, limits.retainedMaximum) = (0, 1)
        let engine = try Engine(limits: limits, journal: journal, terms: Terms(retention: limits.retention))
        let keyed = TransitionRequest(idempotencyKey: IdempotencyKey(unchecked: "0123456789abcdef"))
        // When the key comes again, it has been forgotten with its transition.
        for request in Array(repeating: [keyed, TransitionRequest()], count: 20).joined() {
            let view: TransitionView = try Reply.wait { engine.start(request, completion: $0) }
            let (id, token) = (view.transition.id, view.transition.token)
            let ended: TransitionView = try Reply.wait { engine.end(id, token: token, as: .completed, completion: $0) }
            #expect(ended.transition.isEnded)
        }
        let before = engine.inspect { $0.snapshot() }
        engine.stop()
        #expect(try shard.count("/arbiter/snapshot/") == 1)
        try shard.giveUp()
        let later = shard.journal(try shard.claim())
        #expect(try state(after: later.contents()) == before)
        later.close()
    }

    private func state(after contents: JournalContents) throws -> [UInt8] {
        var replay = JournalReplay()
        try replay.begin(contents.snapshot)
        try replay.take(contents.records)
        return replay.finished().snapshot()
    }
}

extension EtcdOperation {
    /// Whether it sets a key.
    func puts(_ name: String) -> Bool {
        if case .put(name, _, _) = self { true } else { false }
    }
}
