package import ArbiterCore
package import ArbiterEngine

/// What a node has to report of the guests that it serves, and what comes of the answers of their homes.
///
/// How a report gets to the home of its session is not decided here.
package final class GuestReports: Sendable {
    /// How many sessions without a guest here may be reported at once.
    private static let wordLimit = 100_000

    private struct State {
        /// The words since the last report, by their sessions.
        var heard: [Token: Word] = [:]
        /// The engines whose guests have been reported before.
        var known: Set<ObjectIdentifier> = []
    }

    /// The last word of a session.
    private struct Word {
        let asker: Asker
        /// Whether its home has heard it itself.
        let isKnown: Bool
    }

    private let state = Guarded(State())

    package init() {}

    /// Notes that the client of a session has said something on this node.
    ///
    /// Neither the home of the session nor a guest of it need be on this node.
    ///
    /// - Parameters:
    ///   - token: the session.
    ///   - asker: who said it.
    ///   - isKnown: whether its home has heard it itself; then only its guests here are told.
    package func hear(_ token: Token, from asker: Asker, isKnown: Bool = false) {
        state.withLock { state in
            guard state.heard.count < Self.wordLimit else { return }
            // A client that was there is not gone because of a request that it did not wait for.
            if asker.presence == .gone, state.heard[token]?.asker.presence == .present { return }
            state.heard[token] = Word(asker: asker, isKnown: isKnown)
        }
    }

    /// Gathers what there is to report now.
    ///
    /// - Parameter engines: the shards that run here.
    /// - Returns: the reports, and the time until the next ones.
    package func gather(
        from engines: [(shard: Shard, engine: Engine)]
    ) -> (reports: [ReportedGuest], pause: Duration) {
        let (words, known) = state.withLock { state in
            defer {
                state.heard = [:]
                state.known = Set(engines.map { ObjectIdentifier($0.engine) })
            }
            return (state.heard, state.known)
        }
        var (reports, pause) = ([ReportedGuest](), Limits.longestReportPause)
        var others = words.filter { !$0.value.isKnown }
        for (shard, engine) in engines {
            // A new owner does not know when clients were heard; it counts from now on.
            let isNew = !known.contains(ObjectIdentifier(engine))
            let spoken = words.isEmpty ? [] : engine.inspect { Self.guests(of: $0, in: words) }
            engine.hear(guests: spoken)
            var heard: [Token: ClientPresence] = [:]
            for (token, isKnown, client) in spoken where !isKnown {
                others.removeValue(forKey: token)
                heard[token] = client
            }
            for (report, session) in engine.takeGuestReports(of: shard) {
                var report = report
                // An engine that carries out nothing at the moment has not heard them.
                if isNew || heard[report.token] == .present {
                    (report.isHeard, report.client) = (true, .present)
                } else if heard[report.token] == .gone, report.client == .present, !report.isHeard {
                    (report.isHeard, report.client) = (true, .gone)
                }
                pause = min(pause, Limits.reportPause(ofGuestFor: session.timeToLive))
                reports.append(ReportedGuest(report: report, caller: session.caller, engine: engine))
            }
        }
        reports += others.map { token, word in
            ReportedGuest(
                report: GuestReport(
                    token, from: 0, isHeard: true, client: word.asker.presence, caller: word.asker.caller),
                caller: word.asker.caller, engine: nil)
        }
        // In an order that does not change from run to run.
        reports.sort { ($0.report.token.high, $0.report.token.low) < ($1.report.token.high, $1.report.token.low) }
        return (reports, pause)
    }

    /// The guests of a shard that have a word in `words`, if the caller who said it may use the session.
    private static func guests(
        of machine: borrowing ArbiterStateMachine, in words: [Token: Word]
    ) -> [(token: Token, isKnown: Bool, client: ClientPresence)] {
        var spoken: [(token: Token, isKnown: Bool, client: ClientPresence)] = []
        for token in machine.guestTokens {
            guard let word = words[token], machine.own(token, of: word.asker.caller) != nil else { continue }
            spoken.append((token, word.isKnown, word.asker.presence))
        }
        return spoken
    }

    /// Has homes take reports.
    ///
    /// - Parameters:
    ///   - homes: the engines of the homes, each with the reports of its sessions.
    ///   - completion: called with the tokens of the sessions that have ended.
    package static func take(
        _ homes: [(Engine, [GuestReport])], completion: @escaping @Sendable (Result<[Token], EngineError>) -> Void
    ) {
        guard !homes.isEmpty else { return completion(.success([])) }
        let gathered = Guarded((awaited: homes.count, ended: [Token](), failure: EngineError?.none))
        for (engine, reports) in homes {
            engine.take(reports) { result in
                let whole = gathered.withLock { gathered in
                    gathered.awaited -= 1
                    switch result {
                    case .success(let ended): gathered.ended += ended
                    case .failure(let error): gathered.failure = error
                    }
                    return gathered.awaited == 0 ? gathered : nil
                }
                guard let whole else { return }
                completion(whole.failure.map { .failure($0) } ?? .success(whole.ended))
            }
        }
    }

    /// Has the guests end whose homes do not know them, and the others live on.
    package func finish(_ reports: [ReportedGuest], ended: Set<Token>) {
        var rest = reports[...]
        while let engine = rest.first(where: { $0.engine != nil })?.engine {
            let reports = rest.filter { $0.engine === engine }.map(\.report)
            rest.removeAll { $0.engine == nil || $0.engine === engine }
            engine.end(guests: reports.map(\.token).filter { ended.contains($0) })
            engine.confirm(reports.filter { !ended.contains($0.token) })
        }
    }

    /// Keeps what was heard, from reports that were not taken, for the next reports.
    package func keep(_ reports: [ReportedGuest]) {
        state.withLock { state in
            for reported in reports where reported.report.isHeard && state.heard[reported.report.token] == nil {
                let asker = Asker(reported.caller, reported.report.client)
                state.heard[reported.report.token] = Word(asker: asker, isKnown: false)
            }
        }
    }
}

/// A report of a session, with where it is from.
package struct ReportedGuest: Sendable {
    package let report: GuestReport
    /// Whose session it is.
    package let caller: Caller
    /// Where it is a guest; `nil` if it is nowhere here.
    package let engine: Engine?
}
