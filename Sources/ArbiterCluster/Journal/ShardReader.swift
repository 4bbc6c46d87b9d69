package import ArbiterEngine

/// Reads a shard's newest snapshot and the groups of records after it from etcd, on a thread that may wait.
///
/// Only the owner of the shard changes these keys. For another node they may seem to be damaged, because they change while
/// it reads them.
package struct ShardReader: Sendable {
    /// The most keys that are read at once.
    private static let keysInPage = 256
    /// About how many bytes are read at once.
    private static let bytesInPage = 2 << 20

    let shard: Int
    let keys: ClusterKeys
    /// Reads keys, and waits for the answer.
    let get: @Sendable (EtcdRange) throws(JournalError) -> EtcdKeys

    package init(
        shard: Int, keys: ClusterKeys, get: @escaping @Sendable (EtcdRange) throws(JournalError) -> EtcdKeys
    ) {
        (self.shard, self.keys, self.get) = (shard, keys, get)
    }

    /// How far a shard has been read.
    package struct Progress: Hashable, Sendable {
        /// The last record, or the last in the snapshot.
        var last: UInt64 = 0
        /// The manifest of the snapshot.
        var manifest: [UInt8]?
        /// The size of the snapshot.
        var snapshotBytes = 0
        /// The size of the records after it.
        var bytes = 0
    }

    /// Reads everything: the newest snapshot, and the groups after it up to a record.
    ///
    /// - Parameters:
    ///   - limit: the last record.
    ///   - begin: called with the snapshot, if there is one.
    ///   - take: called with the records of each group.
    /// - Returns: how far the shard is read.
    /// - Throws: `JournalError`, also of the closures.
    package func read(
        through limit: UInt64 = .max, _ begin: (JournalSnapshot?) throws(JournalError) -> Void,
        _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> Progress {
        var progress = Progress()
        let (snapshot, manifest) = try newestSnapshot()
        (progress.last, progress.manifest) = (snapshot?.sequence ?? 0, manifest)
        progress.snapshotBytes = snapshot?.state.count ?? 0
        try begin(snapshot)
        try readLog(through: limit, &progress, take)
        return progress
    }

    /// Reads what has come since.
    ///
    /// - Parameters:
    ///   - progress: how far the shard was read before.
    ///   - take: called with the records of each group.
    /// - Returns: how far it is read now; `nil` if a newer snapshot has taken the place of records in between.
    /// - Throws: `JournalError`, also of the closure.
    func read(
        after progress: Progress, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) -> Progress? {
        let key = try get(.key(keys.manifest(of: shard))).keys.first
        var progress = progress
        if key?.value != progress.manifest {
            guard let key, try SnapshotManifest(in: key).sequence <= progress.last else { return nil }
            // Its size is that of the earlier one, about; the next snapshot has the right one.
            progress.manifest = key.value
        }
        try readLog(through: .max, &progress, take)
        return progress
    }

    private func newestSnapshot() throws(JournalError) -> (JournalSnapshot?, manifest: [UInt8]?) {
        guard let key = try get(.key(keys.manifest(of: shard))).keys.first else { return (nil, nil) }
        let manifest = try SnapshotManifest(in: key)
        var state: [UInt8] = []
        for index in 0..<Int(manifest.chunkCount) {
            let name = keys.chunk(index, of: shard, after: manifest.sequence)
            guard let chunk = try get(.key(name)).keys.first else { throw LogValue.damaged(name) }
            state += chunk.value
        }
        guard let snapshot = manifest.snapshot(of: state) else { throw LogValue.damaged(key.name) }
        return (snapshot, key.value)
    }

    private func readLog(
        through limit: UInt64, _ progress: inout Progress, _ take: ([JournalEntry]) throws(JournalError) -> Void
    ) throws(JournalError) {
        var pageSize = 4
        while progress.last < limit {
            var range = keys.logs(of: shard, from: progress.last + 1)
            range.limit = pageSize
            let page = try get(range)
            for key in page.keys {
                let batch = try LogValue.batch(in: key)
                let next = keys.log(of: shard, from: progress.last + 1)
                guard key.name <= next else { throw LogValue.missing(next) }
                guard batch.first == progress.last + 1, key.name == keys.log(of: shard, from: batch.first),
                    let records = try batch.records(of: key.name)
                else { throw LogValue.damaged(key.name) }
                guard batch.last <= limit else { return }
                try take(records)
                progress.last = batch.last
                progress.bytes += key.value.count
            }
            guard page.hasMore else { break }
            let largest = page.keys.map(\.value.count).max() ?? 1
            pageSize = min(Self.keysInPage, max(4, Self.bytesInPage / max(1, largest)))
        }
    }
}
