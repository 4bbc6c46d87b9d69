internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine

/// The history of a shard as the store has got it, which is replayed as it grows.
struct StoredShard {
    let shard: Int
    private let keys: ClusterKeys
    private let limits: Limits
    private var replay: JournalReplay

    init(_ shard: Int, _ settings: ClusterSimulationSettings) {
        (self.shard, keys, limits) = (shard, settings.keys, settings.limits)
        replay = JournalReplay(limits: settings.limits)
    }

    /// The last record.
    var last: UInt64 { replay.sequence }

    /// The moment of the last record.
    var moment: Moment? { replay.moment }

    /// Its state after the last record, as an owner has it.
    var state: [UInt8] { Self.state(of: replay) }

    private static func state(of replay: JournalReplay) -> [UInt8] {
        var machine = replay.finished()
        machine.recover(at: Instant(nanoseconds: 0))
        // Where there is no record yet, the owner goes on under the newest rules without one.
        if replay.sequence == 0 { machine.adopt(.newest) }
        return machine.snapshot()
    }

    /// A group of records was put.
    ///
    /// - Returns: the records.
    mutating func take(_ change: EtcdStore.Change) throws(Broken) -> [JournalEntry] {
        guard let value = change.value else { return [] }
        do throws(JournalError) {
            let batch = try LogValue.batch(
                in: EtcdKey(name: change.key, value: value, created: change.created, changed: change.created))
            guard batch.first == last + 1, let entries = try batch.records(of: change.key) else {
                throw JournalError(reason: "record \(batch.first) follows on \(last)")
            }
            try replay.take(entries)
            return entries
        } catch {
            throw Broken(.store, "shard \(shard): \(error.reason)")
        }
    }

    /// Checks that a node which claims the shard now finds the whole history.
    func checkIsWhole(in etcd: SimulatedEtcd) throws(Broken) {
        do throws(JournalError) {
            var next = (try manifest(in: etcd)?.sequence ?? 0) + 1
            for key in etcd.read(keys.logs(of: shard, from: 0)) {
                let batch = try LogValue.batch(in: key)
                guard batch.first <= next else { throw JournalError(reason: "record \(next) is missing") }
                next = max(next, batch.last + 1)
            }
            guard next == last + 1 else { throw JournalError(reason: "record \(next) is missing at the end") }
        } catch {
            throw Broken(.store, "shard \(shard): \(error.reason)")
        }
    }

    private func manifest(in etcd: SimulatedEtcd) throws(JournalError) -> SnapshotManifest? {
        guard let key = etcd.read(.key(keys.manifest(of: shard))).first else { return nil }
        return try SnapshotManifest(in: key)
    }

    /// The state that a node would read now, out of the snapshot and the records after it.
    func stateFromStore(_ etcd: SimulatedEtcd) throws(Broken) -> [UInt8] {
        do throws(JournalError) {
            var replay = JournalReplay(limits: limits)
            let manifest = try manifest(in: etcd)
            if let manifest {
                let parts = (0..<Int(manifest.chunkCount)).flatMap { index in
                    etcd.read(.key(keys.chunk(index, of: shard, after: manifest.sequence)))
                }
                try replay.begin(
                    JournalSnapshot(
                        sequence: manifest.sequence, moment: manifest.moment, state: parts.flatMap(\.value)))
            }
            for key in etcd.read(keys.logs(of: shard, from: (manifest?.sequence ?? 0) + 1)) {
                try replay.take(try LogValue.batch(in: key).records(of: key.name) ?? [])
            }
            return Self.state(of: replay)
        } catch {
            throw Broken(.store, "shard \(shard) cannot be read: \(error.reason)")
        }
    }
}
