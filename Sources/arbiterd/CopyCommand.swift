internal import ArbiterCluster
internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTransfers
internal import ArgumentParser
internal import Glibc

extension JournalCommand {
    struct Copy: JournalSubcommand {
        static let configuration = CommandConfiguration(
            commandName: "copy",
            abstract: "Copies the journal of a daemon into a new cluster on etcd, or that of a cluster to a directory.",
            discussion: """
                No daemon may run on either side, and the target must be empty. The copy is read back and compared before \
                it counts. Afterwards start only the daemon, or the nodes, that have the copy:

                    arbiterd journal copy --from disk --to etcd --data DIR --etcd URL
                    arbiterd journal copy --from etcd --to disk --data DIR --etcd URL

                --shards counts for a new cluster only.
                """)

        @Option(help: "What is copied: disk, the journal in the directory of --data; or etcd.")
        var from: Place

        @Option(help: "Where to: etcd, below --etcd-prefix; or disk, a new journal in the directory of --data.")
        var to: Place

        @OptionGroup var directory: JournalDirectory

        @OptionGroup var store: EtcdOptions

        @Flag(help: "Reach etcd over a network without TLS too: everybody there can read and change the journal.")
        var insecure = false

        enum Place: String, ExpressibleByArgument, CaseIterable {
            case disk
            case etcd
        }

        func validate() throws {
            guard from != to else { throw ValidationError("--from and --to have to differ") }
        }

        func run() throws {
            let path = try directory.path()
            let access = try store.access(for: "journal copy", beyondLoopback: insecure)
            let loop = TransferLoop()
            defer { loop.close() }
            let cluster = ClusterCopy(
                keys: ClusterKeys(prefix: store.etcdPrefix), etcd: EtcdGateway(access, loop: loop))
            switch to {
            case .etcd: try copy(journalOf: path, into: cluster)
            case .disk: try copy(cluster, to: path)
            }
            print("the copy was read back, and is the same")
        }

        private func copy(journalOf path: String, into cluster: ClusterCopy) throws(JournalError) {
            try JournalMaintenance.read(path) { source throws(JournalError) in
                guard source.moment != nil else {
                    throw JournalError(reason: "there is nothing in the journal to copy: start the cluster without it")
                }
                let shards = try Self.refusing { () throws(CopyRefusal) in try source.divided(among: store.shards) }
                try cluster.make(of: shards) { stored throws(JournalError) in
                    try Self.check(stored, against: [source])
                    Self.summarize(stored)
                }
            }
        }

        private func copy(_ cluster: ClusterCopy, to path: String) throws(JournalError) {
            try cluster.read { found, confirm throws(JournalError) in
                let (shards, lost) = ShardState.endingLostGuests(of: found)
                try JournalMaintenance.make(in: path) { () throws(JournalError) in
                    try Self.refusing { () throws(CopyRefusal) in try ShardState.merged(shards) }
                } check: { stored throws(JournalError) in
                    try Self.check([stored], against: shards)
                    try confirm()
                }
                Self.summarize(shards)
                if lost > 0 { print("\(lost) guests had lost their session, and were ended with what they had") }
            }
        }

        private static func refusing<Value>(
            _ body: () throws(CopyRefusal) -> Value
        ) throws(JournalError) -> Value {
            do throws(CopyRefusal) {
                return try body()
            } catch {
                throw JournalError(error)
            }
        }

        private static func check(_ stored: [ShardState], against source: [ShardState]) throws(JournalError) {
            let differences = CopiedFacts(of: source).differences(in: CopiedFacts(of: stored))
            guard differences.isEmpty else {
                let first = differences.prefix(5).joined(separator: ", ")
                throw JournalError(
                    .damaged,
                    reason: "the copy differs, and is not kept: \(first), \(differences.count) differences in all")
            }
        }

        /// Prints how much each shard has, unless it has nothing.
        private static func summarize(_ shards: [ShardState]) {
            row("shard", ["scenes", "unfinished", "ended", "sessions", "guests"])
            var all = ShardCounts.none
            for (index, state) in shards.enumerated() {
                let counts = state.counts(in: Shard(index, of: shards.count))
                if counts != .none { row("\(index)", counts.columns) }
                all = all + counts
            }
            row("all \(shards.count)", all.columns)
        }

        private static func row(_ name: String, _ columns: [String]) {
            let cells = columns.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }
            print(name + String(repeating: " ", count: max(0, 8 - name.count)) + cells.joined())
        }
    }
}

extension ShardCounts {
    fileprivate var columns: [String] { [scenes, unfinished, ended, sessions, guests].map(String.init) }
}
