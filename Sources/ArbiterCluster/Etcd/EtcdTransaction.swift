/// What etcd does at once, if its conditions hold: then `success`, else `failure`.
package struct EtcdTransaction: Hashable, Sendable {
    package var conditions: [EtcdCondition]
    package var success: [EtcdOperation]
    package var failure: [EtcdOperation]

    package init(
        if conditions: [EtcdCondition] = [], then success: [EtcdOperation], else failure: [EtcdOperation] = []
    ) {
        (self.conditions, self.success, self.failure) = (conditions, success, failure)
    }

    /// Reads keys, linearizably.
    package static func read(_ range: EtcdRange) -> EtcdTransaction { EtcdTransaction(then: [.read(range)]) }

    /// The most operations of a transaction that etcd takes by default (`--max-txn-ops`).
    package static let mostOperations = 128
}

/// What has to hold for a transaction to succeed.
package enum EtcdCondition: Hashable, Sendable {
    /// The key was created at this revision.
    case created(String, at: EtcdRevision)
    /// The key was last changed at this revision.
    case changed(String, at: EtcdRevision)
    /// The key has this value.
    case holds(String, [UInt8])
    /// No key of the range was created after this revision.
    case noneCreated(in: EtcdRange, after: EtcdRevision)

    /// There is no such key.
    package static func isAbsent(_ key: String) -> EtcdCondition { .created(key, at: 0) }
}

/// A part of a transaction.
package enum EtcdOperation: Hashable, Sendable {
    /// Sets a key; with a lease, until that ends.
    case put(String, [UInt8], lease: EtcdLeaseID? = nil)
    case delete(EtcdRange)
    case read(EtcdRange)
    /// A transaction with conditions of its own, which are compared before anything of the whole is carried out.
    case nested(EtcdTransaction)
}

/// Keys in their order, which is that of their bytes.
package struct EtcdRange: Hashable, Sendable {
    package var start: String
    /// The first key behind the range; `nil` if it is the single key `start`.
    package var end: String?
    /// The most keys to read; `nil` if there is no limit.
    package var limit: Int?
    /// Whether the values are not read.
    package var keysOnly = false

    /// A single key.
    package static func key(_ key: String) -> EtcdRange { EtcdRange(start: key) }

    /// Every key that begins with a prefix, which ends with an ASCII character.
    package static func prefix(_ prefix: String) -> EtcdRange {
        guard let last = prefix.utf8.last, last < 0x7f else { preconditionFailure("\(prefix) ends with no ASCII") }
        let end = String(decoding: prefix.utf8.dropLast() + [last + 1], as: UTF8.self)
        return EtcdRange(start: prefix, end: end)
    }

    /// The keys from one up to another, which is not among them.
    package static func keys(from start: String, to end: String) -> EtcdRange { EtcdRange(start: start, end: end) }
}

/// What became of a transaction.
package struct EtcdOutcome: Hashable, Sendable {
    /// Whether its conditions held.
    package let succeeded: Bool
    /// The revision of etcd then.
    package let revision: EtcdRevision
    /// What its reads found, in their order.
    package let found: [EtcdKeys]
    /// What became of the transactions in it, in their order.
    package let nested: [EtcdOutcome]

    package init(succeeded: Bool, revision: EtcdRevision, found: [EtcdKeys], nested: [EtcdOutcome] = []) {
        (self.succeeded, self.revision, self.found, self.nested) = (succeeded, revision, found, nested)
    }
}

/// What a read has found.
package struct EtcdKeys: Hashable, Sendable {
    package var keys: [EtcdKey]
    /// Whether there is more behind them, because of the limit.
    package var hasMore: Bool

    package init(_ keys: [EtcdKey], hasMore: Bool = false) {
        (self.keys, self.hasMore) = (keys, hasMore)
    }
}

/// A key, as it was read.
package struct EtcdKey: Hashable, Sendable {
    package let name: String
    package let value: [UInt8]
    /// The revision at which it was created; another one after it was deleted and put again.
    package let created: EtcdRevision
    /// The revision at which it was changed last.
    package let changed: EtcdRevision

    package init(name: String, value: [UInt8], created: EtcdRevision, changed: EtcdRevision) {
        (self.name, self.value, self.created, self.changed) = (name, value, created, changed)
    }
}
