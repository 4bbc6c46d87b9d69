package import ArbiterCore

/// The nodes of a cluster and the owners of its shards, as a node has read them last.
package struct ClusterMap: Sendable {
    /// A node that is registered.
    package struct Node: Sendable {
        /// Where other nodes reach it; also its name.
        package let address: String
        /// The version of its program.
        package let version: String

        package init(address: String, version: String) {
            (self.address, self.version) = (address, version)
        }
    }

    /// Who serves a shard, since it was claimed.
    package struct Owner: Hashable, Sendable {
        /// The address of the node.
        package let address: String
        /// The number of the tenure: the revision of etcd at which the shard was claimed.
        package let tenure: UInt64

        package init(address: String, tenure: UInt64) {
            (self.address, self.tenure) = (address, tenure)
        }
    }

    /// Why nobody serves a shard.
    package struct Unserved: Hashable, Sendable {
        /// The address of the node that has tried last.
        package let node: String
        /// What is wrong with the journal, in a sentence.
        package let reason: String

        package init(node: String, reason: String) {
            (self.node, self.reason) = (node, reason)
        }
    }

    package var nodes: [Node]
    /// The owners, by their shards; a shard that nobody owns is missing.
    package var owners: [Int: Owner]

    /// The shards whose journals no node can read.
    package var unserved: [Int: Unserved]

    package init(nodes: [Node] = [], owners: [Int: Owner] = [:], unserved: [Int: Unserved] = [:]) {
        (self.nodes, self.owners, self.unserved) = (nodes, owners, unserved)
    }
}

/// How much a member of etcd stores, in bytes.
package struct StoredSize: Hashable, Sendable {
    /// The size of its file, which etcd compares with its quota.
    package let file: Int
    /// The pages of the file that are in use; the others are used again.
    package let used: Int

    package init(file: Int, used: Int) {
        (self.file, self.used) = (file, used)
    }
}

/// A shard that has got another owner, or the same one again.
package struct ShardMove: Sendable {
    /// When this node has seen it.
    package let at: Timestamp
    package let shard: Int
    /// The address of the owner before; `nil` if this node has not seen one.
    package let origin: String?
    package let owner: ClusterMap.Owner
}

/// The newest moves of shards, out of the maps that a node reads.
struct ShardMoves: Sendable {
    /// How many moves are kept.
    static let most = 256

    /// The newest ones, the oldest of these first.
    private(set) var newest: [ShardMove] = []
    /// The last owner of each shard, also after it has gone; `nil` before anything was read.
    private var last: [Int: ClusterMap.Owner]?

    /// Takes notice of who owns what; the first time nothing counts as a move.
    mutating func note(_ owners: [Int: ClusterMap.Owner], at time: Timestamp) {
        if let last {
            for (shard, owner) in owners.sorted(by: { $0.key < $1.key }) where last[shard] != owner {
                newest.append(ShardMove(at: time, shard: shard, origin: last[shard]?.address, owner: owner))
            }
            newest.removeFirst(max(0, newest.count - Self.most))
        }
        last = (last ?? [:]).merging(owners) { $1 }
    }
}
