/// The names of a cluster's keys in etcd, all of which begin with its prefix.
package struct ClusterKeys: Hashable, Sendable {
    /// What all of them begin with; several clusters can share one etcd.
    package let prefix: String

    package init(prefix: String) { self.prefix = prefix }

    /// What the cluster was made with: `ClusterForm`.
    package var form: String { prefix + "meta" }

    /// There while the journal of the cluster is copied; no node serves then.
    package var copy: String { prefix + "copy" }

    /// The registration of a node, for as long as its lease lives.
    package func node(_ name: String) -> String { nodes + name }

    /// What the registrations of all nodes begin with.
    package var nodes: String { prefix + "node/" }

    /// The owner of a shard, for as long as its lease lives.
    package func owner(of shard: Int) -> String { prefix + "owner/\(shard)" }

    /// What the owners of all shards begin with.
    package var owners: String { prefix + "owner/" }

    /// The node that is to own a shard next: `Successor`, for as long as its lease lives.
    package func successor(of shard: Int) -> String { successors + "\(shard)" }

    /// What the successors of all shards begin with.
    package var successors: String { prefix + "next/" }

    /// Why nobody serves a shard, for as long as the node lives that has tried last.
    package func unserved(_ shard: Int) -> String { unserved + "\(shard)" }

    /// What is written about all shards that nobody can serve.
    package var unserved: String { prefix + "unserved/" }

    /// The sequence of the last record of a shard.
    package func head(of shard: Int) -> String { prefix + "head/\(shard)" }

    /// The group of a shard's records that begins with a sequence; so written that groups are in their order.
    package func log(of shard: Int, from sequence: UInt64) -> String { "\(prefix)log/\(shard)/\(padded(sequence))" }

    /// The groups of a shard that begin with a sequence or a later one.
    package func logs(of shard: Int, from sequence: UInt64) -> EtcdRange {
        EtcdRange(start: log(of: shard, from: sequence), end: EtcdRange.prefix("\(prefix)log/\(shard)/").end)
    }

    /// What a shard's newest snapshot consists of.
    package func manifest(of shard: Int) -> String { prefix + "snapshot/\(shard)" }

    /// A part of the snapshot that a shard has after a record.
    package func chunk(_ index: Int, of shard: Int, after sequence: UInt64) -> String {
        "\(prefix)chunk/\(shard)/\(padded(sequence))/\(padded(UInt64(index)))"
    }

    /// The parts of a shard's snapshots that were made before a record.
    package func chunks(of shard: Int, before sequence: UInt64) -> EtcdRange {
        .keys(from: "\(prefix)chunk/\(shard)/", to: "\(prefix)chunk/\(shard)/\(padded(sequence))")
    }

    /// All parts of all snapshots, and the heads, of all shards.
    var snapshots: [EtcdRange] { ["chunk/", "snapshot/", "head/"].map { .prefix(prefix + $0) } }

    private func padded(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 20 - digits.count) + digits
    }
}
