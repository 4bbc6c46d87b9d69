package import ArbiterCore
package import ArbiterEngine

/// Sessions that are used in other shards than that of their home: has them admitted there, and reports them to their
/// homes.
///
/// Every node asks the homes of the guests that it serves; a home only remembers which shards have reported some. So what a
/// lost node or a lost answer leaves behind is found by the next report.
package final class Guests: Sendable {
    /// How long to wait for the answer to reports.
    ///
    /// No longer than until the next reports, which are not sent meanwhile.
    private static let patienceForReports = Duration.seconds(1)
    /// How many reports a request has: with the longest names of principals it fits into `ServerLimits.bodyBytes`.
    package static let reportsInRequest = 400

    private let shards: Shards
    private let peers: any Peers
    /// How long a home may take to lend a session.
    private let lending: Duration
    private let alarm: any Alarm
    private let reports = GuestReports()
    /// The requests with reports that are under way, by the address of the node and their first report.
    private let underWay = Guarded<Set<String>>([])

    package init(_ shards: Shards, _ peers: any Peers, lending: Duration, alarm: any Alarm = SystemAlarm()) {
        (self.shards, self.peers, self.lending, self.alarm) = (shards, peers, lending, alarm)
        ringAgain(after: Limits.longestReportPause)
    }

    // MARK: - Words

    /// Notes that the client of a session has said something here.
    package func hear(_ token: Token, from asker: Asker) {
        let home = try? shards.engine(at: token.slot)
        home?.hear(token, from: asker)
        // Its guests are told even so, or they might report that their client has left.
        reports.hear(token, from: asker, isKnown: home != nil)
    }

    // MARK: - Admission

    /// Has a session admitted as a guest of a shard that runs here.
    ///
    /// - Parameters:
    ///   - token: the session.
    ///   - shard: the index of the shard.
    ///   - engine: its engine.
    ///   - asker: who uses it.
    ///   - completion: called with a success once the session is a guest, and also if there is no such session; then
    ///     the engine refuses the request.
    func admit(
        _ token: Token, to shard: Int, _ engine: Engine, for asker: Asker,
        completion: @escaping @Sendable (Result<Void, RelayRefusal>) -> Void
    ) {
        let word = GuestReport(
            token, from: UInt16(shard), isHeard: true, client: asker.presence, caller: asker.caller)
        borrow(word) { result in
            switch result {
            case .failure(let refusal): completion(.failure(refusal))
            case .success(nil): completion(.success(()))
            case .success(let session?):
                engine.admit(guest: session) { completion($0.mapError { .engine($0) }) }
            }
        }
    }

    /// Borrows a session from its home; `nil` if there is no such session.
    private func borrow(
        _ word: GuestReport, completion: @escaping @Sendable (Result<LentSession?, RelayRefusal>) -> Void
    ) {
        let home = shards.home(of: word.token)
        let place = shards.place(of: home.index)
        if let engine = place.engine {
            return Self.lend(word, by: engine) { completion($0.mapError { .engine($0) }) }
        }
        guard let owner = place.owner else { return completion(.failure(.lost(shards: [home.index]))) }
        peers.lend(word, by: owner, within: lending) { result in
            completion(result.mapError { .homeUnreachable(reason: $0.reason) })
        }
    }

    // MARK: - For the nodes that ask

    /// Lends a session that is at home here to another node; `nil` if there is no such session.
    ///
    /// - Throws: `Misplaced` if its home is elsewhere.
    package func lend(
        _ word: GuestReport, completion: @escaping @Sendable (Result<LentSession?, EngineError>) -> Void
    ) throws(Misplaced) {
        Self.lend(word, by: try shards.engine(at: word.token.slot), completion)
    }

    private static func lend(
        _ word: GuestReport, by home: Engine,
        _ completion: @escaping @Sendable (Result<LentSession?, EngineError>) -> Void
    ) {
        home.lend(word.token, to: word.shard, for: Asker(word.caller ?? .anyone, word.client)) { result in
            switch result {
            case .success(let session): completion(.success(session))
            case .failure(.refused(.unknownSession)): completion(.success(nil))
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Takes the reports of homes that are here, and names the homes that are not.
    ///
    /// - Parameters:
    ///   - reports: what was heard.
    ///   - completion: called with what has come of it.
    /// - Throws: `Misplaced` at once, if none of the homes is here.
    package func take(
        _ reports: [GuestReport], completion: @escaping @Sendable (Result<TakenReports, EngineError>) -> Void
    ) throws(Misplaced) {
        var (engines, missing) = ([(Engine, [GuestReport])](), Set<Int>())
        var misplaced: Misplaced?
        for (shard, reports) in grouped(reports, byHomeOf: \.token) {
            do throws(Misplaced) {
                engines.append((try shards.engine(of: shard), reports))
            } catch {
                missing.insert(shard)
                misplaced = error
            }
        }
        if let misplaced, engines.isEmpty { throw misplaced }
        GuestReports.take(engines) { [missing] result in
            completion(result.map { TakenReports(ended: $0, missing: missing) })
        }
    }

    /// What is about sessions, by the shards of their homes and in the order of these.
    private func grouped<Element>(
        _ elements: [Element], byHomeOf token: (Element) -> Token
    ) -> [(shard: Int, elements: [Element])] {
        Dictionary(grouping: elements) { shards.home(of: token($0)).index }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value) }
    }

    // MARK: - Reports

    private func ringAgain(after pause: Duration) {
        alarm.ring(after: pause) { [weak self] in
            guard let self else { return }
            ringAgain(after: report())
        }
    }

    /// Reports everything to every home.
    ///
    /// - Returns: the time until the next report.
    private func report() -> Duration {
        let (guests, pause) = reports.gather(from: shards.enginesHere)
        send(guests)
        return pause
    }

    private func send(_ reports: [ReportedGuest]) {
        var (here, elsewhere) = ([(Engine, [ReportedGuest])](), [String: [ReportedGuest]]())
        for (shard, reports) in grouped(reports, byHomeOf: \.report.token) {
            let place = shards.place(of: shard)
            if let engine = place.engine {
                here.append((engine, reports))
            } else if let owner = place.owner {
                elsewhere[owner, default: []] += reports
            } else {
                self.reports.keep(reports)
            }
        }
        for (engine, reports) in here {
            GuestReports.take([(engine, reports.map(\.report))]) { result in
                switch result {
                case .success(let ended): self.reports.finish(reports, ended: Set(ended))
                case .failure: self.reports.keep(reports)
                }
            }
        }
        for (owner, reports) in elsewhere.sorted(by: { $0.key < $1.key }) {
            for first in stride(from: 0, to: reports.count, by: Self.reportsInRequest) {
                let part = Array(reports[first..<min(first + Self.reportsInRequest, reports.count)])
                send(part, to: owner, as: "\(owner) \(first)")
            }
        }
    }

    /// Reports to another node, unless an earlier report of the same name is still under way.
    private func send(_ reports: [ReportedGuest], to owner: String, as name: String) {
        guard underWay.withLock({ $0.insert(name).inserted }) else { return self.reports.keep(reports) }
        peers.report(reports.map(\.report), to: owner, within: Self.patienceForReports) { [self] result in
            underWay.withLock { _ = $0.remove(name) }
            guard case .success(let taken) = result else { return self.reports.keep(reports) }
            let isMissing = reports.map { taken.missing.contains(shards.home(of: $0.report.token).index) }
            self.reports.keep(zip(reports, isMissing).filter(\.1).map(\.0))
            self.reports.finish(zip(reports, isMissing).filter { !$1 }.map(\.0), ended: Set(taken.ended))
        }
    }
}
