internal import ArbiterCore
internal import ArbiterEngine
internal import Foundation
internal import Logging

// Shards that cannot be served, because their journals are damaged or too new; all on the node's queue or its movers.

/// Why nobody serves a shard, as the node says it that has tried last; in JSON.
package struct UnservedShard: Codable, Hashable, Sendable {
    /// The address of the node.
    package let node: String
    /// What is wrong with the journal, in a sentence.
    package let reason: String

    package init(node: String, reason: String) {
        (self.node, self.reason) = (node, reason)
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { preconditionFailure("a reason that cannot be encoded") }
        return [UInt8](data)
    }

    init?(_ bytes: [UInt8]) {
        guard let shard = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = shard
    }
}

extension ClusterNode {
    /// How long a node leaves a shard alone after it could not read its journal for the first time; then twice as long.
    package static let shortestPause = Duration.seconds(1)
    /// The longest of these pauses.
    package static let longestPause = Duration.seconds(60)

    /// When this node tries a shard again.
    struct Pause {
        let length: Duration
        let end: Instant
    }

    /// Gives up a shard whose journal cannot be read, and leaves it to other nodes for a while.
    func giveUp(_ tenure: Tenure, because error: JournalError) {
        let now = time.now().instant
        // The end of a tenure says nothing about the journal.
        let isLasting = !error.kind.isTemporary && error.kind != .notOwner
        let pause = state.withLock { state in
            let earlier = isLasting ? state.pauses[tenure.shard] : nil
            let length = min(earlier.map { $0.length * 2 } ?? Self.shortestPause, Self.longestPause)
            state.pauses[tenure.shard] = Pause(length: length, end: now.advanced(by: length))
            state.tenures[tenure.shard] = nil
            return length
        }
        logger.critical(
            "a shard cannot be served",
            metadata: [
                "shard": "\(tenure.shard)", "reason": "\(error.reason)",
                "retrySeconds": "\(pause.components.seconds)",
            ])
        if isLasting, mark(tenure, because: error) { return tenure.lose() }
        release(tenure)
    }

    /// Releases a shard, and writes down why nobody serves it.
    ///
    /// - Returns: whether that was done.
    private func mark(_ tenure: Tenure, because error: JournalError) -> Bool {
        guard let lease = state.withLock({ $0.lease }) else { return false }
        let mark = UnservedShard(node: settings.address, reason: error.reason)
        do throws(EtcdError) {
            return try transact(
                EtcdTransaction(
                    if: [tenure.condition],
                    then: [
                        .delete(.key(tenure.key)), .put(keys.unserved(tenure.shard), mark.bytes, lease: lease.id),
                    ])
            ).succeeded
        } catch {
            return false
        }
    }

    /// The shards that this node leaves alone at the moment.
    func pausedShards() -> Set<Int> {
        let now = time.now().instant
        return state.withLock { state in Set(state.pauses.filter { now < $0.value.end }.keys) }
    }

    /// Takes back what was written down about shards that this node serves.
    func unmark(_ found: Found) throws(EtcdError) {
        let served = state.withLock { state in
            for shard in found.owners.keys where found.map.unserved[shard] == nil { state.pauses[shard] = nil }
            for shard in state.tenures.keys { state.pauses[shard] = nil }
            return found.map.unserved.keys.filter { state.tenures[$0] != nil }
        }
        guard !served.isEmpty else { return }
        for shard in served { logger.notice("a shard can be served again", metadata: ["shard": "\(shard)"]) }
        _ = try transact(EtcdTransaction(then: served.map { .delete(.key(keys.unserved($0))) }))
    }
}
