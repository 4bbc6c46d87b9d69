internal import ArbiterCluster
internal import ArbiterCore

/// What etcd stores: keys with their revisions, and leases by etcd's own clock.
struct EtcdStore: Sendable {
    /// A key that was put or deleted.
    struct Change: Sendable {
        let key: String
        /// `nil` if it was deleted.
        let value: [UInt8]?
        let created: EtcdRevision
    }

    struct Lease: Sendable {
        let timeToLive: Duration
        /// In the world's time.
        var end: Instant
    }

    private struct Stored {
        var value: [UInt8]
        var created: EtcdRevision
        var changed: EtcdRevision
        var lease: EtcdLeaseID?
    }

    private(set) var revision: EtcdRevision = 1
    private(set) var compacted: EtcdRevision = 0
    private var names: [String] = []
    private var values: [String: Stored] = [:]
    private(set) var leases: [EtcdLeaseID: Lease] = [:]
    private var lastLease: EtcdLeaseID = 0
    private var changes: [Change] = []

    /// Takes what has changed since the last call, in its order.
    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes
    }

    // MARK: - Transactions

    mutating func carryOut(_ transaction: EtcdTransaction) -> Result<EtcdOutcome, EtcdError> {
        let decided = decide(transaction)
        guard puts(of: decided).allSatisfy({ leases[$0] != nil }) else {
            return .failure(EtcdError(.leaseNotFound, "etcdserver: requested lease not found"))
        }
        let before = changes.count
        let next = revision + 1
        let outcome = perform(decided, at: next)
        if changes.count > before { revision = next }
        return .success(outcome.numbered(revision))
    }

    /// A transaction whose conditions are compared.
    private indirect enum Decided {
        case operation(EtcdOperation)
        case transaction(succeeds: Bool, [Decided])
    }

    /// Compares all conditions, also those of transactions within, before anything is carried out.
    private func decide(_ transaction: EtcdTransaction) -> Decided {
        let succeeds = transaction.conditions.allSatisfy(holds)
        return .transaction(
            succeeds: succeeds,
            (succeeds ? transaction.success : transaction.failure).map { operation in
                switch operation {
                case .nested(let nested): decide(nested)
                case .put, .delete, .read: .operation(operation)
                }
            })
    }

    private func holds(_ condition: EtcdCondition) -> Bool {
        switch condition {
        case .created(let key, let revision): values[key]?.created ?? 0 == revision
        case .changed(let key, let revision): values[key]?.changed ?? 0 == revision
        case .holds(let key, let value): values[key]?.value == value
        case .noneCreated(let range, let revision): read(range).keys.allSatisfy { $0.created <= revision }
        }
    }

    private func puts(of decided: Decided) -> [EtcdLeaseID] {
        switch decided {
        case .operation(.put(_, _, let lease?)): [lease]
        case .operation: []
        case .transaction(_, let parts): parts.flatMap { puts(of: $0) }
        }
    }

    private mutating func perform(_ decided: Decided, at revision: EtcdRevision) -> EtcdOutcome {
        guard case .transaction(let succeeds, let parts) = decided else {
            preconditionFailure("a transaction is none: \(decided)")
        }
        var (found, nested) = ([EtcdKeys](), [EtcdOutcome]())
        for part in parts {
            switch part {
            case .operation(.put(let key, let value, let lease)): put(key, value, lease, at: revision)
            case .operation(.delete(let range)): delete(range)
            case .operation(.read(let range)): found.append(read(range))
            case .operation(.nested), .transaction: nested.append(perform(part, at: revision))
            }
        }
        return EtcdOutcome(succeeded: succeeds, revision: revision, found: found, nested: nested)
    }

    private mutating func put(_ key: String, _ value: [UInt8], _ lease: EtcdLeaseID?, at revision: EtcdRevision) {
        let created = values[key]?.created ?? revision
        if values[key] == nil { names.insert(key, at: place(of: key)) }
        values[key] = Stored(value: value, created: created, changed: revision, lease: lease)
        changes.append(Change(key: key, value: value, created: created))
    }

    private mutating func delete(_ range: EtcdRange) {
        for name in names(in: range) { delete(name) }
    }

    private mutating func delete(_ name: String) {
        guard let stored = values.removeValue(forKey: name) else { return }
        names.remove(at: place(of: name))
        changes.append(Change(key: name, value: nil, created: stored.created))
    }

    func read(_ range: EtcdRange) -> EtcdKeys {
        let names = names(in: range)
        let shown = names.prefix(range.limit ?? names.count)
        return EtcdKeys(
            shown.compactMap { name in
                values[name].map { stored in
                    EtcdKey(
                        name: name, value: range.keysOnly ? [] : stored.value, created: stored.created,
                        changed: stored.changed)
                }
            }, hasMore: shown.count < names.count)
    }

    private func names(in range: EtcdRange) -> [String] {
        guard let end = range.end else { return values[range.start] == nil ? [] : [range.start] }
        return Array(names[place(of: range.start)..<place(of: end)])
    }

    /// Where a name is among all, or would be.
    private func place(of name: String) -> Int {
        var (low, high) = (0, names.count)
        while low < high {
            let middle = (low + high) / 2
            if names[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: - Leases

    mutating func grant(for timeToLive: Duration, until end: Instant) -> EtcdLeaseID {
        lastLease += 7919
        leases[lastLease] = Lease(timeToLive: timeToLive, end: end)
        return lastLease
    }

    mutating func extend(_ lease: EtcdLeaseID, until end: Instant) { leases[lease]?.end = end }

    /// Ends a lease, and deletes the keys that are attached to it.
    mutating func end(_ lease: EtcdLeaseID) {
        guard leases.removeValue(forKey: lease) != nil else { return }
        let attached = names.filter { values[$0]?.lease == lease }
        if !attached.isEmpty { revision += 1 }
        for name in attached { delete(name) }
    }

    mutating func compact(to revision: EtcdRevision) -> Result<Void, EtcdError> {
        guard revision > compacted, revision <= self.revision else {
            return .failure(EtcdError(.refused, "etcdserver: mvcc: required revision has been compacted"))
        }
        compacted = revision
        return .success(())
    }

    /// The bytes that are stored.
    var byteCount: Int { values.reduce(0) { $0 + $1.key.utf8.count + $1.value.value.count } }
}

extension EtcdOutcome {
    /// The same with the revision that etcd has after it.
    fileprivate func numbered(_ revision: EtcdRevision) -> EtcdOutcome {
        EtcdOutcome(
            succeeded: succeeded, revision: revision, found: found, nested: nested.map { $0.numbered(revision) })
    }
}
