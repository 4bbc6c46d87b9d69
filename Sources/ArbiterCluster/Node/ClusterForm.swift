package import ArbiterCore
internal import Foundation

/// What every node of a cluster has to agree with; the value of `ClusterKeys.form`, in JSON.
package struct ClusterForm: Codable, Hashable, Sendable {
    /// The number of shards, which never changes.
    package var shards: Int
    /// The rules under which records are made; raised once every node supports newer ones.
    package var rules: Int
    /// The limits of all shards together; `nil` in a cluster that was copied, until the first node names its own.
    package var limits: ClusterLimits?

    package init(shards: Int, rules: Rules = .newest, limits: ClusterLimits? = nil) {
        (self.shards, self.rules, self.limits) = (shards, Int(rules.rawValue), limits)
    }

    /// The rules under which records are made, of a form that a node has agreed on.
    package var rulesInForce: Rules { UInt8(exactly: rules).flatMap(Rules.init) ?? .newest }

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
    /// The lowest rules under which it can make records; `nil` in the keys of shards, like what follows.
    private var lowestRules: Int?
    /// The highest rules under which it can, or may, make records.
    private var highestRules: Int?
    /// The limits with which it was started.
    private(set) var limits: ClusterLimits?

    package init(
        address: String, lease: EtcdLeaseID, version: String, rules: ClosedRange<Rules>, limits: ClusterLimits?
    ) {
        (self.address, self.lease, self.version, self.limits) = (address, lease, version, limits)
        (lowestRules, highestRules) = (Int(rules.lowerBound.rawValue), Int(rules.upperBound.rawValue))
    }

    /// What stands of it in the keys of the shards that it owns.
    var asOwner: NodeRegistration {
        var owner = self
        (owner.lowestRules, owner.highestRules, owner.limits) = (nil, nil, nil)
        return owner
    }

    /// The highest rules that it supports.
    var newestRules: Int { highestRules ?? Int(Rules.first.rawValue) }

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

/// The node that is to own a shard next, as its owner has chosen it; in JSON.
package struct Successor: Codable, Hashable, Sendable {
    let address: String
    /// The lease of its present life, which is that of the key too.
    let lease: EtcdLeaseID
    /// Whether it has read the shard ahead.
    var isReady = false

    init(_ node: NodeRegistration) { (address, lease) = (node.address, node.lease) }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("a successor that cannot be encoded") }
        return [UInt8](data)
    }

    init?(_ bytes: [UInt8]) {
        guard let successor = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = successor
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
    /// The shards whose journals could not be read by the node that tried last.
    ///
    /// They stay here while a node tries again.
    package var unserved: [Int: UnservedShard] = [:]

    package init() {}
}
