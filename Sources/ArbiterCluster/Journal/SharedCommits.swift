internal import ArbiterEngine

/// Sends the commits of a node's shards to etcd; those that are ready at the same time share one transaction.
///
/// The members of etcd agree on all of them together and write them once, which is most of what a commit costs them. The
/// conditions of all are those of the shared transaction, because etcd reads that faster than transactions within one. If one
/// of the conditions fails, nothing of it was carried out. Then each commit is sent as a transaction of its own within the
/// next one, so a shard that is lost does not hold up another.
package final class SharedCommits: Sendable {
    /// How long an answer of etcd is waited for.
    static let patience = Duration.seconds(2)
    /// The most bytes of a shared transaction; etcd takes 1.5 MiB (`--max-request-bytes`).
    static let mostBytes = 1 << 20
    /// The most commits of a shared transaction.
    ///
    /// etcd counts their operations against `--max-txn-ops`.
    static let mostCommits = EtcdTransaction.mostOperations / 2
    /// The most transactions that are on their way: what becomes ready meanwhile gathers for the next one.
    static let mostOnTheirWay = 2
    /// How many transactions have to succeed before larger ones are tried again.
    static let successesBeforeMore = 100

    private struct Commit: Sendable {
        let tenure: Tenure
        let transaction: EtcdTransaction
        let byteCount: Int
        let completion: @Sendable (Result<EtcdOutcome, EtcdError>, _ turn: UInt64) -> Void
    }

    private struct State {
        var waiting: [Commit] = []
        var onTheirWay = 0
        /// The most commits that a transaction has from now on.
        var mostCommits = SharedCommits.mostCommits
        /// How many transactions have succeeded since that was changed.
        var successes = 0
    }

    private let etcd: any Etcd
    private let state = Guarded(State())

    package init(etcd: any Etcd) { self.etcd = etcd }

    /// Sends a commit, with those of other shards.
    ///
    /// - Parameters:
    ///   - transaction: the commit; a shard has one at a time.
    ///   - byteCount: about how many bytes it has.
    ///   - tenure: the tenure that its success shows.
    ///   - completion: called with what came of it, and with the tenure's last turn when it was sent.
    func send(
        _ transaction: EtcdTransaction, of byteCount: Int, in tenure: Tenure,
        completion: @escaping @Sendable (Result<EtcdOutcome, EtcdError>, _ turn: UInt64) -> Void
    ) {
        let commit = Commit(tenure: tenure, transaction: transaction, byteCount: byteCount, completion: completion)
        state.withLock { $0.waiting.append(commit) }
        sendNext()
    }

    /// Sends what waits, unless enough is on its way.
    private func sendNext() {
        let commits = state.withLock { state -> [Commit] in
            guard state.onTheirWay < Self.mostOnTheirWay, !state.waiting.isEmpty else { return [] }
            var (count, byteCount) = (0, 0)
            for commit in state.waiting.prefix(state.mostCommits) {
                byteCount += commit.byteCount
                guard count == 0 || byteCount <= Self.mostBytes else { break }
                count += 1
            }
            defer { state.waiting.removeFirst(count) }
            state.onTheirWay += 1
            return Array(state.waiting.prefix(count))
        }
        guard !commits.isEmpty else { return }
        let transactions = commits.map(\.transaction)
        guard transactions.count > 1 else { return send(transactions[0], of: commits) }
        let joined = EtcdTransaction(if: transactions.flatMap(\.conditions), then: transactions.flatMap(\.success))
        send(joined, of: commits) { [self] in
            send(EtcdTransaction(then: transactions.map { .nested($0) }), of: commits)
        }
    }

    /// Sends a transaction that has commits.
    ///
    /// - Parameters:
    ///   - transaction: the commits together.
    ///   - commits: the commits.
    ///   - divide: called instead of their completions if the conditions of the transaction do not hold; by default that is
    ///     an outcome like another.
    private func send(
        _ transaction: EtcdTransaction, of commits: [Commit], divide: (@Sendable () -> Void)? = nil
    ) {
        let turns = commits.map(\.tenure.lastTurn)
        etcd.transact(transaction, within: Self.patience) { [self] result in
            if let divide, case .success(let outcome) = result, !outcome.succeeded { return divide() }
            let outcomes = Self.outcomes(of: commits.count, in: result)
            // First, because what follows on them goes into the next transaction together.
            for (index, commit) in commits.enumerated() { commit.completion(outcomes[index], turns[index]) }
            note(result, of: commits.count)
            sendNext()
        }
    }

    /// What came of each commit of a transaction.
    private static func outcomes(
        of count: Int, in result: Result<EtcdOutcome, EtcdError>
    ) -> [Result<EtcdOutcome, EtcdError>] {
        // Which of them etcd refuses is not known, so each is sent again, in a smaller transaction.
        if count > 1, case .failure(let error) = result, error.kind == .refused {
            return Array(repeating: .failure(EtcdError(.unreachable, error.reason)), count: count)
        }
        guard count > 1, case .success(let outcome) = result, !outcome.nested.isEmpty else {
            return Array(repeating: result, count: count)
        }
        guard outcome.nested.count == count else {
            let error = EtcdError(.unknown, "etcd answers \(count) commits with \(outcome.nested.count) outcomes")
            return Array(repeating: .failure(error), count: count)
        }
        return outcome.nested.map { .success($0) }
    }

    /// Notes that a transaction is answered; if etcd refuses it, as it does one that is too large for its settings, the next
    /// ones are smaller for a while.
    private func note(_ result: Result<EtcdOutcome, EtcdError>, of count: Int) {
        state.withLock { state in
            state.onTheirWay -= 1
            switch result {
            case .success:
                state.successes += 1
                guard state.successes >= Self.successesBeforeMore else { return }
                (state.successes, state.mostCommits) = (0, min(Self.mostCommits, state.mostCommits * 2))
            case .failure(let error):
                guard error.kind == .refused, count > 1 else { return }
                (state.successes, state.mostCommits) = (0, min(state.mostCommits, count / 2))
            }
        }
    }
}
