internal import ArbiterCore
internal import ArbiterEngine
internal import ArbiterTransfers

/// Sessions that are used in other shards than that of their home: has them admitted there, and reports them to their
/// homes.
///
/// Every node asks the homes of the guests that it serves; a home only remembers which shards have reported some. So what a
/// lost node or a lost answer leaves behind is found by the next report.
final class Guests: Sendable {
    /// How long a session is waited for, which a client waits for meanwhile: longer than its home may hold the request.
    private static let patience = Duration.seconds(5)
    /// How long the answer to reports is waited for: not longer than until the next ones, which it holds up.
    private static let patienceForReports = Duration.seconds(1)
    /// How many reports a request has: with the longest names of principals it fits into `ServerLimits.bodyBytes`.
    private static let reportsInRequest = 400

    private let shards: Shards
    private let forwarder: Forwarder
    private let alarm: any Alarm
    private let reports = GuestReports()
    /// The requests with reports that are under way, by the address of the node and their first report.
    private let underWay = Guarded<Set<String>>([])

    init(_ shards: Shards, _ forwarder: Forwarder, alarm: any Alarm = SystemAlarm()) {
        (self.shards, self.forwarder, self.alarm) = (shards, forwarder, alarm)
        ringAgain(after: Limits.longestReportPause)
    }

    // MARK: - Words

    /// Notes that the client of a session has said something here.
    func hear(_ token: Token, from caller: Caller) {
        let home = try? shards.engine(of: token)
        home?.hear(token, from: caller)
        // Its guests are told even so, or they might report that their client has left.
        reports.hear(token, from: caller, isKnown: home != nil)
    }

    // MARK: - Admission

    /// Has a session admitted as a guest of a shard that runs here.
    ///
    /// - Parameters:
    ///   - token: the session.
    ///   - shard: the index of the shard.
    ///   - engine: its engine.
    ///   - caller: who uses it.
    ///   - completion: called with nothing also if there is no such session, which the engine says then.
    func admit(
        _ token: Token, to shard: Int, _ engine: Engine, for caller: Caller,
        completion: @escaping @Sendable (Result<Void, Problem>) -> Void
    ) {
        let word = GuestReport(token, from: UInt16(shard), isHeard: true, hasLeft: caller.isGone, caller: caller)
        lend(word) { result in
            switch result {
            case .failure(let problem): completion(.failure(problem))
            case .success(nil): completion(.success(()))
            case .success(let session?):
                engine.admit(guest: session) { result in
                    completion(result.mapError { Problem($0) })
                }
            }
        }
    }

    /// Borrows a session from its home; `nil` if there is no such session.
    private func lend(
        _ word: GuestReport, completion: @escaping @Sendable (Result<LentSession?, Problem>) -> Void
    ) {
        let home = shards.home(of: word.token)
        let place = shards.place(of: home.index)
        if let engine = place.engine { return Self.lend(word, by: engine, completion) }
        guard let owner = place.owner else { return completion(.failure(Problem(lost: [home.index]))) }
        var request = forwarder.request(to: owner, GuestMessages.lending, within: Self.patience)
        request.body = GuestMessages.bytes(of: [word])
        forwarder.fetch(request) { result in
            switch result {
            case .success(let answer) where answer.head.status == 200:
                // No other answer says that there is no such session: a living one would count as ended.
                guard !answer.body.isEmpty else { return completion(.success(nil)) }
                let session = GuestMessages.values(answer.body, of: LentSession.self)?.first
                completion(
                    session.map { .success($0) } ?? .failure(.homeUnreachable("its answer cannot be read")))
            case .success(let answer): completion(.failure(.homeUnreachable("it answered \(answer.head.status)")))
            case .failure(let failure): completion(.failure(.homeUnreachable(failure.reason)))
            }
        }
    }

    private static func lend(
        _ word: GuestReport, by home: Engine,
        _ completion: @escaping @Sendable (Result<LentSession?, Problem>) -> Void
    ) {
        var caller = word.caller ?? .anyone
        caller.isGone = word.hasLeft
        home.lend(word.token, to: word.shard, for: caller) { result in
            switch result {
            case .success(let session): completion(.success(session))
            case .failure(.refused(.unknownSession)): completion(.success(nil))
            case .failure(let error): completion(.failure(Problem(error)))
            }
        }
    }

    // MARK: - For the nodes that ask

    /// Answers another node.
    func answer(_ request: Request, _ call: Call) throws(Problem) {
        guard let reports = GuestMessages.values(request.body, of: GuestReport.self) else {
            throw Problem(.malformedJSON, "The reports cannot be read.")
        }
        switch request.path {
        case GuestMessages.lending:
            guard let word = reports.first, word.caller != nil else {
                throw Problem(.malformedJSON, "The report names nobody.")
            }
            Self.lend(word, by: try shards.engine(of: word.token)) { result in
                switch result {
                case .failure(let problem): call.respond(problem.response)
                case .success(let session):
                    call.respond(Response(200, .text, body: GuestMessages.bytes(of: session.map { [$0] } ?? [])))
                }
            }
        default: try take(reports, for: call)
        }
    }

    /// Takes the reports of homes that are here.
    ///
    /// - Throws: at once, if that is none; the next report comes soon, so this one is neither held nor passed on.
    private func take(_ reports: [GuestReport], for call: Call) throws(Problem) {
        // A node of an earlier version takes what is not named as ended for confirmed.
        let mayBePartial = call.request.query.contains(GuestMessages.partial)
        var (engines, missing) = ([(Engine, [GuestReport])](), Set<Int>())
        var problem: Problem?
        for (shard, reports) in Dictionary(grouping: reports, by: { shards.home(of: $0.token).index }) {
            do throws(Problem) {
                engines.append((try shards.engine(of: shard), reports))
            } catch {
                missing.insert(shard)
                problem = error
            }
        }
        if var problem, !mayBePartial || engines.isEmpty {
            problem.elsewhere = nil
            throw problem
        }
        GuestReports.take(engines) { [missing] result in
            switch result {
            case .success(let ended):
                call.respond(
                    Response(
                        200, .text, body: GuestMessages.bytes(of: ended), headers: GuestMessages.fields(of: missing)))
            case .failure(let error): call.respond(Problem(error).response)
            }
        }
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
        let homes = Dictionary(grouping: reports) { shards.home(of: $0.report.token).index }
        var (here, elsewhere) = ([(Engine, [ReportedGuest])](), [String: [ReportedGuest]]())
        for (shard, reports) in homes {
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
        for (owner, reports) in elsewhere {
            for first in stride(from: 0, to: reports.count, by: Self.reportsInRequest) {
                let part = Array(reports[first..<min(first + Self.reportsInRequest, reports.count)])
                send(part, to: owner, as: "\(owner) \(first)")
            }
        }
    }

    /// Reports to another node, unless an earlier report of the same name is still under way.
    private func send(_ reports: [ReportedGuest], to owner: String, as name: String) {
        guard underWay.withLock({ $0.insert(name).inserted }) else { return self.reports.keep(reports) }
        var request = forwarder.request(to: owner, GuestMessages.reportingInPart, within: Self.patienceForReports)
        request.body = GuestMessages.bytes(of: reports.map(\.report))
        forwarder.fetch(request) { [self] result in
            underWay.withLock { _ = $0.remove(name) }
            guard case .success(let answer) = result, answer.head.status == 200,
                let ended = GuestMessages.values(answer.body, of: Token.self),
                let missing = GuestMessages.missing(saidBy: answer.head)
            else { return self.reports.keep(reports) }
            let isMissing = reports.map { missing.contains(shards.home(of: $0.report.token).index) }
            self.reports.keep(zip(reports, isMissing).filter(\.1).map(\.0))
            self.reports.finish(zip(reports, isMissing).filter { !$1 }.map(\.0), ended: Set(ended))
        }
    }
}

extension Problem {
    /// The home of a session did not answer; nothing of the request was carried out.
    fileprivate static func homeUnreachable(_ reason: String) -> Problem {
        Problem(
            .notOwner, "The node where the session is at home cannot be asked (\(reason)); ask again.",
            retryAfter: briefly)
    }
}
