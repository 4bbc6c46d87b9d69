package import ArbiterEngine

// Reads a journal from etcd, on a thread that may wait.

extension EtcdJournal {
    package func contents() throws(JournalError) -> JournalContents { try replayedContents() }

    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let progress = try read { reader throws(JournalError) in
            let ahead = state.withLock { $0.ahead }
            let whole: ShardReader.Progress
            if let ahead, let more = try reader.read(after: ahead.progress, take) {
                whole = more
            } else {
                ahead?.beginAgain()
                whole = try reader.read(begin, take)
            }
            // The head says whether the end is missing.
            let head = try get(.key(keys.head(of: shard))).keys.first
            guard let last = UInt64(String(decoding: head?.value ?? [0x30], as: UTF8.self)), last >= whole.last else {
                throw LogValue.damaged(keys.head(of: shard))
            }
            guard last == whole.last else { throw LogValue.missing(keys.log(of: shard, from: whole.last + 1)) }
            return whole
        }
        state.withLock { state in
            state.last = progress.last
            (state.manifest, state.snapshotBytes) = (progress.manifest, progress.snapshotBytes)
            state.bytes = progress.bytes
        }
        // etcd loses nothing that it has committed, so nothing is ever missing at the end.
        return .closed
    }

    /// Reads in the tenure.
    ///
    /// If the journal seems to be damaged, and the tenure has ended meanwhile, the end of the tenure is the error: the
    /// next owner may have changed the keys.
    ///
    /// - Parameters:
    ///   - endsWithJournal: whether reading is given up when the journal is closed.
    ///   - body: reads.
    /// - Returns: what the closure returns.
    /// - Throws: `JournalError`, and what the closure throws.
    func read<Value>(
        endsWithJournal: Bool = false, _ body: (ShardReader) throws(JournalError) -> Value
    ) throws(JournalError) -> Value {
        do throws(JournalError) {
            let reader = ShardReader(shard: shard, keys: keys) { [self] range throws(JournalError) in
                try get(range, endsWithJournal: endsWithJournal)
            }
            return try body(reader)
        } catch {
            guard error.kind == .damaged, !isStillOwner() else { throw error }
            tenure.lose()
            throw Self.lost
        }
    }

    private func isStillOwner() -> Bool {
        let owner = try? get(EtcdRange(start: tenure.key, keysOnly: true)).keys.first
        return owner?.created == tenure.created
    }

    /// Reads keys, and again until etcd answers, for as long as the tenure may last.
    func get(_ range: EtcdRange, endsWithJournal: Bool = false) throws(JournalError) -> EtcdKeys {
        let outcome = try carryOut(.read(range), endsWithJournal: endsWithJournal)
        return outcome.found.first ?? EtcdKeys([])
    }

    /// Carries out a transaction that may be carried out more than once, and again until etcd answers, for as long as the
    /// tenure may last.
    ///
    /// - Parameters:
    ///   - transaction: the transaction.
    ///   - endsWithJournal: whether it is given up when the journal is closed; else that waits until etcd has room.
    /// - Returns: what came of it.
    /// - Throws: `JournalError`.
    func carryOut(
        _ transaction: EtcdTransaction, endsWithJournal: Bool = false
    ) throws(JournalError) -> EtcdOutcome {
        var pause = Duration.milliseconds(20)
        while true {
            guard !endsWithJournal || state.withLock({ $0.life == .open }) else { throw Self.closed }
            do throws(EtcdError) {
                return try Answer.wait(workers) { etcd.transact(transaction, within: Self.patience, completion: $0) }
            } catch {
                guard !tenure.isOver else { throw Self.lost }
                switch error.kind {
                case .refused, .denied: throw JournalError(reason: "etcd refuses: \(error.reason)")
                case .unknown, .unreachable, .outOfSpace, .leaseNotFound: break
                }
                let bell = workers.bell()
                alarm.ring(after: pause, bell.ring)
                bell.wait()
                pause = min(pause * 2, .milliseconds(500))
            }
        }
    }
}
