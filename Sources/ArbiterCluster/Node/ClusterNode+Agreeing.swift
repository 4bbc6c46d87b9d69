internal import ArbiterCore
internal import ArbiterEngine
internal import Logging

// What all nodes of a cluster have in common, and how that changes; all on the node's queue.

extension ClusterNode.Settings {
    /// The rules under which the node can, and may, make records.
    var rules: ClosedRange<Rules> {
        let lowest = Rules.supported.lowerBound
        return lowest...max(lowest, Rules(rawValue: UInt8(clamping: form.rules)) ?? .newest)
    }
}

extension ClusterNode {
    /// Makes the cluster if there is none yet, and checks that this node fits into it.
    ///
    /// - Returns: the form of the cluster.
    /// - Throws: `EtcdError` if the node cannot take part, or not yet.
    func agree(on found: Found) throws(EtcdError) -> ClusterForm {
        guard !found.isCopied else {
            state.withLock { state in
                if !state.isRegistered {
                    state.become(
                        .outside(waitsFor: "the end of a copy of the cluster's journal (key \(keys.copy) in etcd)"))
                }
            }
            throw EtcdError(.refused, "the journal of the cluster is being copied")
        }
        guard let key = found.form else {
            _ = try transact(
                EtcdTransaction(
                    if: [.isAbsent(keys.form), .isAbsent(keys.copy)], then: [.put(keys.form, settings.form.bytes)]))
            throw EtcdError(.refused, "the cluster has just been made")
        }
        guard let form = ClusterForm(key.value) else {
            throw refuse("was made by another version of arbiterd: \(String(decoding: key.value, as: UTF8.self))")
        }
        guard form.shards == settings.form.shards else {
            throw refuse("has \(form.shards) shards, and this node was started with --shards \(settings.form.shards)")
        }
        let rules = settings.rules
        guard let inForce = UInt8(exactly: form.rules).flatMap(Rules.init), rules.contains(inForce) else {
            let highest = rules.upperBound
            throw refuse(
                "is under the rules \(form.rules), and this node supports \(rules.lowerBound.rawValue) to "
                    + "\(highest.rawValue): "
                    + (highest < .newest && form.rules <= Rules.newest.rawValue
                        ? "start it with a higher --highest-rules" : "run the version of the other nodes"))
        }
        try agree(on: form, in: key)
        return form
    }

    /// Checks that this node has the limits of the cluster, or may wait until the cluster has those of this node.
    private func agree(on form: ClusterForm, in key: EtcdKey) throws(EtcdError) {
        guard let own = settings.form.limits else { return }
        guard let inForce = form.limits else {
            var named = form
            named.limits = own
            _ = try transact(
                EtcdTransaction(if: [.changed(keys.form, at: key.changed)], then: [.put(keys.form, named.bytes)]))
            throw EtcdError(.refused, "the limits of the cluster have just been named")
        }
        guard inForce.applied(to: Limits()) != nil else {
            throw refuse("has limits that this version does not know: \(String(decoding: key.value, as: UTF8.self))")
        }
        let differences = inForce.differences(from: own)
        guard differences.isEmpty || settings.adoptsLimits else {
            throw refuse(
                "has other limits than this node (\(differences.joined(separator: "; "))): start it with the same, or change "
                    + "those of the cluster by starting every node with the new ones and --adopt-limits")
        }
        let before = state.withLock { state in
            defer { state.otherLimits = differences }
            return state.otherLimits
        }
        guard differences != before else { return }
        if differences.isEmpty {
            logger.notice("the cluster has the limits of this node")
        } else {
            logger.warning(
                "serves with the limits of the cluster, until every node has the new ones",
                metadata: ["limits": "\(differences.joined(separator: "; "))"])
        }
    }

    /// Ends the node's part in the cluster for good.
    ///
    /// - Returns: what to throw.
    private func refuse(_ reason: String) -> EtcdError {
        let error = JournalError(.unknownForm, reason: "the cluster at \(keys.prefix) \(reason)")
        let isFirst = state.withLock { $0.become(.over(waitsFor: error.reason)) }
        if isFirst { whenFailed(error) }
        return EtcdError(.refused, error.reason)
    }

    /// Raises the rules of the cluster if every registered node supports higher ones, and changes its limits if all were
    /// started with the same other ones; the owner of the first shard that is served does that.
    ///
    /// The transaction compares that the form is the one that was read, and that no node has registered since. A node that
    /// registers later compares the form, and so sees the higher rules before it takes part.
    func raiseIfPossible(_ found: Found, _ form: ClusterForm) throws(EtcdError) {
        guard let first = firstTenure(in: found), let key = found.form, !found.hasStrangers,
            found.map.nodes[settings.address] != nil, let highest = found.map.nodes.values.map(\.newestRules).min()
        else { return }
        var raised = form
        raised.rules = max(form.rules, highest)
        let wanted = Set(found.map.nodes.values.map(\.limits))
        if wanted.count == 1, let limits = wanted.first, let limits { raised.limits = limits }
        guard raised != form else { return }
        let outcome = try transact(
            EtcdTransaction(
                if: [
                    first.condition, .changed(keys.form, at: key.changed),
                    .noneCreated(in: .prefix(keys.nodes), after: found.revision),
                ], then: [.put(keys.form, raised.bytes)]))
        guard outcome.succeeded else { return }
        if raised.rules != form.rules {
            logger.notice("the cluster goes on under newer rules", metadata: ["rules": "\(raised.rules)"])
        }
        if raised.limits != form.limits { logger.notice("the cluster goes on with other limits") }
        look()
    }
}
