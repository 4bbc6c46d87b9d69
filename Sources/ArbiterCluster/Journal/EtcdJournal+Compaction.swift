internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

// Keeps the journal bounded: a snapshot replaces the records before it.

extension EtcdJournal {
    /// Makes a snapshot if enough bytes of records have gathered and none is being made.
    func compactIfDue() {
        let sequence = state.withLock { state -> UInt64? in
            let isDue = state.bytes >= max(bytesBetweenSnapshots, state.snapshotBytes)
            guard isDue, !state.isCompacting, state.life == .open else { return nil }
            state.isCompacting = true
            return state.last
        }
        guard let sequence else { return }
        compaction.add {
            do throws(JournalError) {
                if self.state.withLock({ $0.life == .open }) { try self.compact(through: sequence) }
            } catch  where error.kind == .closed || error.kind == .notOwner {
                self.logger.debug(
                    "a snapshot is given up", metadata: ["shard": "\(self.shard)", "reason": "\(error.reason)"])
            } catch {
                self.metrics.failedCompactions.add()
                self.logger.error(
                    "the journal was not compacted", metadata: ["shard": "\(self.shard)", "reason": "\(error.reason)"])
                // The next attempt comes after as many records again: an immediate one would probably fail too.
                self.state.withLock { $0.bytes = 0 }
            }
            self.state.withLock { $0.isCompacting = false }
            self.compactIfDue()
        }
    }

    /// Makes a snapshot of the state after a record, while commits go on, and deletes what it makes superfluous.
    private func compact(through sequence: UInt64) throws(JournalError) {
        var replay = JournalReplay(limits: state.withLock { $0.limits })
        let found = try read(endsWithJournal: true) { reader throws(JournalError) in
            try reader.read(through: sequence) { snapshot throws(JournalError) in
                try replay.begin(snapshot)
            } _: { records throws(JournalError) in
                try replay.take(records)
            }
        }
        guard replay.sequence == sequence, let moment = replay.moment else {
            throw LogValue.damaged(keys.log(of: shard, from: found.last + 1))
        }
        let machine = replay.finished()
        let snapshot = JournalSnapshot(sequence: sequence, moment: moment, state: machine.snapshot())
        // The records before it will be deleted, so make sure that the snapshot can be decoded.
        guard (try? ArbiterStateMachine(snapshot: snapshot.state))?.matches(snapshot.state) == true else {
            throw JournalError(reason: "the snapshot up to record \(sequence) cannot be read back, and is not kept")
        }
        let manifest = try store(snapshot, after: found.manifest)
        metrics.compactions.add()
        state.withLock { state in
            (state.manifest, state.snapshotBytes) = (manifest, snapshot.state.count)
            state.bytes = max(0, state.bytes - found.bytes)
        }
    }

    /// Stores the parts of a snapshot, and then in one transaction what makes it the newest one.
    ///
    /// That transaction deletes the earlier snapshot and the records that this one has. It compares the earlier manifest, so
    /// that it does nothing if it arrives late, when there is a newer snapshot already.
    private func store(_ snapshot: JournalSnapshot, after earlier: [UInt8]?) throws(JournalError) -> [UInt8] {
        let parts = SnapshotParts(snapshot, of: shard, keys)
        for put in parts.puts {
            let part = EtcdTransaction(if: [tenure.condition], then: [put])
            try check(try carryOut(part, endsWithJournal: true).succeeded)
        }
        let manifest = parts.manifest
        let key = keys.manifest(of: shard)
        let outcome = try carryOut(
            EtcdTransaction(
                if: [tenure.condition, earlier.map { .holds(key, $0) } ?? .isAbsent(key)],
                then: [
                    .put(key, manifest), .delete(keys.chunks(of: shard, before: snapshot.sequence)),
                    .delete(
                        .keys(
                            from: keys.log(of: shard, from: 0), to: keys.log(of: shard, from: snapshot.sequence + 1))),
                ], else: [.read(.key(key))]), endsWithJournal: true)
        // If it was carried out although its answer was lost, its manifest is there.
        try check(outcome.succeeded || outcome.found.first?.keys.first?.value == manifest)
        return manifest
    }

    private func check(_ hasSucceeded: Bool) throws(JournalError) {
        guard hasSucceeded else { throw Self.lost }
    }
}
