package import ArbiterCore
internal import Foundation

/// What a cluster was made with, and what every node of it has to agree with; the value of `ClusterKeys.form`, in JSON.
package struct ClusterForm: Codable, Hashable, Sendable {
    /// The number of shards, which never changes.
    package var shards: Int
    /// The rules under which records are made.
    package var rules: Int

    package init(shards: Int, rules: Rules = .newest) {
        (self.shards, self.rules) = (shards, Int(rules.rawValue))
    }

    /// The value of the key.
    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(self) else { preconditionFailure("a form that cannot be encoded") }
        return [UInt8](data)
    }

    /// The form in a key; `nil` if it is none.
    init?(_ bytes: [UInt8]) {
        guard let form = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = form
    }
}

/// A node as it registers itself, and as it stands in the keys of the shards it owns; in JSON.
package struct NodeRegistration: Codable, Hashable, Sendable {
    /// Where other nodes reach it; also its name.
    package let address: String
    /// The lease of its present life.
    package let lease: EtcdLeaseID
    /// The version of its program.
    package let version: String

    package init(address: String, lease: EtcdLeaseID, version: String) {
        (self.address, self.lease, self.version) = (address, lease, version)
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("a node that cannot be encoded") }
        return [UInt8](data)
    }

    package init?(_ bytes: [UInt8]) {
        guard let node = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = node
    }
}

/// Who owns which shard, as it was last read from etcd.
package struct ShardMap: Hashable, Sendable {
    /// The node that owns a shard, and in which tenure.
    package struct Owner: Hashable, Sendable {
        package let node: NodeRegistration
        /// The revision at which the owner's key was created.
        package let tenure: EtcdRevision
    }

    /// The owners, by their shards; a shard that nobody owns is missing.
    package var owners: [Int: Owner] = [:]
    /// The registered nodes, by their addresses.
    package var nodes: [String: NodeRegistration] = [:]

    package init() {}
}
