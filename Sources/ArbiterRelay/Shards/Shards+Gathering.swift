package import ArbiterEngine

// What concerns all shards, here and at other nodes.

extension Shards {
    /// Some shards, and where they run.
    package struct Group: Sendable {
        /// The address of their node; `nil` if they run here, or nowhere.
        package let owner: String?
        package let shards: [Int]
        /// Their engines, in the order of the shards; empty if they do not run here.
        package let engines: [Engine]

        /// Whether no node serves them at the moment.
        package var isLost: Bool { owner == nil && engines.isEmpty }
    }

    /// All shards, by where they run: those here, those of each other node, and those that nobody serves.
    package var groups: [Group] {
        if let only { return [Group(owner: nil, shards: [0], engines: [only])] }
        let (engines, owners) = state.withLock { ($0.engines, $0.owners) }
        let here = engines.sorted { $0.key < $1.key }
        let elsewhere = Dictionary(grouping: (0..<count).filter { engines[$0] == nil }) { owners[$0]?.address ?? "" }
        return (here.isEmpty ? [] : [Group(owner: nil, shards: here.map(\.key), engines: here.map(\.value))])
            + elsewhere.sorted { $0.key < $1.key }.map { owner, shards in
                Group(owner: owner.isEmpty ? nil : owner, shards: shards, engines: [])
            }
    }

    /// Some shards that run here.
    ///
    /// - Throws: `Misplaced` if one of them runs elsewhere, or nowhere.
    package func group(of shards: [Int]) throws(Misplaced) -> Group {
        var engines: [Engine] = []
        for shard in shards { engines.append(try engine(of: shard)) }
        return Group(owner: nil, shards: shards, engines: engines)
    }
}
