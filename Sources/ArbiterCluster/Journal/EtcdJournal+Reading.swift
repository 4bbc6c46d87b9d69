package import ArbiterEngine

// Reads a journal from etcd, on a thread that may wait.

extension EtcdJournal {
    /// The most keys that are read at once.
    private static let keysInPage = 256
    /// About how many bytes are read at once.
    private static let bytesInPage = 2 << 20

    package func contents() throws(JournalError) -> JournalContents { try replayedContents() }

    package func replay(
        _ begin: (JournalSnapshot?) throws(JournalError) -> Void, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> JournalContents.Ending {
        let found = try read(through: .max, begin, take)
        state.withLock { state in
            state.last = found.last
            (state.manifest, state.snapshotBytes, state.bytes) = (found.manifest, found.snapshotBytes, found.bytes)
        }
        // etcd loses nothing that it has committed, so nothing is ever missing at the end.
        return .closed
    }

    /// What was read besides the snapshot and the records.
    struct Found {
        /// The last record, or the last in the snapshot.
        var last: UInt64 = 0
        var manifest: [UInt8]?
        var snapshotBytes = 0
        var bytes = 0
    }

    /// Reads the newest snapshot, and the groups after it up to a record.
    ///
    /// Only the owner of the shard changes these keys, so they need not be read at one revision: if the tenure ends
    /// meanwhile, that is what is wrong with them.
    func read(
        through limit: UInt64, _ begin: (JournalSnapshot?) throws(JournalError) -> Void,
        _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> Found {
        do throws(JournalError) {
            var found = Found()
            let (snapshot, manifest) = try newestSnapshot()
            (found.last, found.manifest) = (snapshot?.sequence ?? 0, manifest)
            found.snapshotBytes = snapshot?.state.count ?? 0
            try begin(snapshot)
            try readLog(through: limit, &found, take)
            return found
        } catch {
            guard error.kind == .damaged, !isStillOwner() else { throw error }
            tenure.lose()
            throw Self.lost
        }
    }

    private func newestSnapshot() throws(JournalError) -> (JournalSnapshot?, manifest: [UInt8]?) {
        guard let key = try get(.key(keys.manifest(of: shard))).keys.first else { return (nil, nil) }
        let manifest = try SnapshotManifest(in: key)
        var state: [UInt8] = []
        state.reserveCapacity(Int(clamping: manifest.byteCount))
        for index in 0..<Int(manifest.chunkCount) {
            let name = keys.chunk(index, of: shard, after: manifest.sequence)
            guard let chunk = try get(.key(name)).keys.first else { throw LogValue.damaged(name) }
            state += chunk.value
        }
        let snapshot = JournalSnapshot(sequence: manifest.sequence, moment: manifest.moment, state: state)
        guard SnapshotManifest(snapshot, chunks: Int(manifest.chunkCount)).bytes == key.value else {
            throw LogValue.damaged(key.name)
        }
        return (snapshot, key.value)
    }

    private func readLog(
        through limit: UInt64, _ found: inout Found, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) {
        var pageSize = 4
        while found.last < limit {
            var range = keys.logs(of: shard, from: found.last + 1)
            range.limit = pageSize
            let page = try get(range)
            for key in page.keys {
                let batch = try LogValue.batch(in: key)
                guard batch.first == found.last + 1, key.name == keys.log(of: shard, from: batch.first),
                    let records = try batch.records(of: key.name)
                else { throw LogValue.damaged(key.name) }
                guard batch.last <= limit else { return }
                try take(records)
                found.last = batch.last
                found.bytes += key.value.count
            }
            guard page.hasMore else { break }
            let largest = page.keys.map(\.value.count).max() ?? 1
            pageSize = min(Self.keysInPage, max(4, Self.bytesInPage / max(1, largest)))
        }
        // The head says whether the end is missing.
        guard limit == .max else { return }
        let head = try get(.key(keys.head(of: shard))).keys.first
        guard String(decoding: head?.value ?? [0x30], as: UTF8.self) == String(found.last) else {
            throw LogValue.damaged(keys.head(of: shard))
        }
    }

    private func isStillOwner() -> Bool {
        let owner = try? get(EtcdRange(start: tenure.key, keysOnly: true)).keys.first
        return owner?.created == tenure.created
    }

    /// Reads keys, and again until etcd answers, for as long as the tenure may last.
    func get(_ range: EtcdRange) throws(JournalError) -> EtcdKeys {
        let outcome = try carryOut(.read(range))
        return outcome.found.first ?? EtcdKeys([])
    }

    /// Carries out a transaction that may be carried out more than once, and again until etcd answers, for as long as the
    /// tenure may last.
    func carryOut(_ transaction: EtcdTransaction) throws(JournalError) -> EtcdOutcome {
        var pause = Duration.milliseconds(20)
        while true {
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
