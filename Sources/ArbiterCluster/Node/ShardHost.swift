package import ArbiterEngine
package import ArbiterRelay

/// What runs the shards that a node owns.
package protocol ShardHost: AnyObject, Sendable {
    /// Begins to serve a shard, as a cluster of this form does; reads its journal, and may take as long as that does.
    ///
    /// Called for several shards at the same time, but not twice for one.
    ///
    /// - Throws: `JournalError` if its journal cannot be read.
    func begin(_ tenure: Tenure, _ journal: EtcdJournal, as form: ClusterForm) throws(JournalError)

    /// Goes on with every shard as a cluster of this form does; called again and again, also if nothing is different.
    func adopt(_ form: ClusterForm)

    /// Reads a shard that another node owns and will hand over to this one, so that little is left to read in `begin`.
    ///
    /// Called for several shards at the same time.
    ///
    /// - Throws: `JournalError` if it cannot be read; then `begin` reads all of it.
    func readAhead(_ shard: Int, _ reader: ShardReader) throws(JournalError)

    /// Forgets what was read of a shard ahead, because this node does not get it.
    func forget(_ shard: Int)

    /// Stops serving a shard because its tenure has ended; nothing that its clients do may be submitted any more.
    ///
    /// Nothing if the shard is served in another tenure: this may be called late, on any thread.
    func drop(_ tenure: Tenure)

    /// Stops serving a shard so that another node can go on: answers everyone who waits, and commits everything.
    ///
    /// Called for several shards at the same time.
    func handOver(_ shard: Int)

    /// Takes notice of who owns what.
    func note(_ map: ShardMap)

    /// Takes notice of how much etcd stores, and of what that means.
    func note(_ size: StoredSize, _ room: EtcdRoom)
}
