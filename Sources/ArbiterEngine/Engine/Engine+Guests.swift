package import ArbiterCore

// Sessions that are used in several shards, each of which has an engine.

extension Engine {
    /// At home: lends a session to another shard, whose guest it becomes.
    ///
    /// - Parameters:
    ///   - token: the token of the session.
    ///   - shard: the index of the other shard.
    ///   - asker: who uses the session.
    ///   - completion: called with the session, or with `unknownSession`.
    package func lend(
        _ token: Token, to shard: UInt16, for asker: Asker, completion: @escaping Answer<LentSession>
    ) {
        ask(by: asker, completion) { machine, step throws(ArbiterError) in
            try machine.check(asker.caller, owns: token)
            return try machine.lend(token, to: shard, in: &step)
        }
    }

    /// At home: takes reports of another shard.
    ///
    /// - Parameters:
    ///   - reports: what the other shard has heard.
    ///   - completion: called with the tokens of sessions that have ended; that is certain.
    package func take(_ reports: [GuestReport], completion: @escaping Answer<[Token]>) {
        ask(completion) { machine, step throws(ArbiterError) in
            reports.filter { !machine.take($0, in: &step) }.map(\.token)
        }
    }

    /// When the engine begins: any session may have guests, or be one.
    package func expectGuests(of shard: Shard) {
        tellOnce { machine, step in machine.expectGuests(where: { !shard.contains($0.slot) }, in: &step) }
    }

    /// In another shard: uses a session as a guest.
    package func admit(guest session: LentSession, completion: @escaping Answer<Void>) {
        ask(completion) { machine, step throws(ArbiterError) in
            try machine.admit(guest: session, in: &step)
        }
    }

    /// In another shard: their homes know the sessions of these reports.
    package func confirm(_ reports: [GuestReport]) {
        guard !reports.isEmpty else { return }
        tell { machine, step in for report in reports { machine.confirm(report, in: &step) } }
    }

    /// In another shard: the clients of these guests have said something on this node.
    ///
    /// - Parameter words: the sessions, each with whether its home has heard the word itself, and whether the client was there.
    package func hear(guests words: [(token: Token, isKnown: Bool, client: ClientPresence)]) {
        guard !words.isEmpty else { return }
        tell { machine, step in
            for word in words {
                machine.hear(guest: word.token, isKnown: word.isKnown, client: word.client, in: &step)
            }
        }
    }

    /// In another shard: what there is to report of its guests, whose words are not reported again.
    package func takeGuestReports(of shard: Shard) -> [(report: GuestReport, session: Session)] {
        state.withLock { $0.machine.takeGuestReports(from: UInt16(shard.index)) }
    }

    /// In another shard: the sessions of these guests have ended.
    package func end(guests tokens: [Token]) {
        guard !tokens.isEmpty else { return }
        tell { machine, step in for token in tokens { machine.end(guest: token, in: &step) } }
    }
}
