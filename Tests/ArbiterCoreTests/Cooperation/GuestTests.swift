import Testing

@testable import ArbiterCore

/// Sessions that are used in two shards, each with an arbiter of its own.
struct GuestTests {
    var home = Arbiter()
    var other = Arbiter()

    mutating func advance(by duration: Duration) {
        home.advance(by: duration)
        other.advance(by: duration)
    }

    /// Opens a session at home, and uses it in the other shard.
    mutating func lend(timeToLive: Duration) throws -> Session {
        // Another id than any that the other shard draws by itself.
        for _ in 0..<100 { _ = home.nextID() }
        let session = try home.openSession(client: "menu", timeToLive: timeToLive)
        let lent = try home.perform { machine, step throws(ArbiterError) in
            try machine.lend(session.token, to: 1, in: &step)
        }
        try other.perform { machine, step throws(ArbiterError) in try machine.admit(guest: lent, in: &step) }
        return session
    }

    /// What the other shard has to report of its guests.
    mutating func reports() throws -> [GuestReport] {
        try other.perform { machine, _ in machine.takeGuestReports(from: 1).map(\.report) }
    }

    /// The other shard reports everything, after its client was heard there or not.
    mutating func report(heard: Bool = false) throws {
        let reports = try reports().map { report in
            var report = report
            if heard { (report.isHeard, report.client) = (true, .present) }
            return report
        }
        let alive = try home.perform { machine, step in
            reports.filter { machine.take($0, in: &step) }
        }
        try other.perform { machine, step in
            for report in reports {
                if alive.contains(report) {
                    machine.confirm(report, in: &step)
                } else {
                    machine.end(guest: report.token, in: &step)
                }
            }
        }
    }

    @Test mutating func `a session lives at home by what its client says elsewhere`() throws {
        let session = try lend(timeToLive: .seconds(2))
        for _ in 0..<20 {
            advance(by: .milliseconds(500))
            try report(heard: true)
        }
        #expect(home.machine.knows(session.token))
        #expect(other.machine.knows(session.token))
    }

    @Test mutating func `a word that is heard of late is in time`() throws {
        let session = try lend(timeToLive: .seconds(4))
        // Just after a report the client speaks at home, and then no more than it has to.
        try report()
        try home.renewSession(session)
        advance(by: .milliseconds(3900))
        // It speaks to the guest's shard, which reports it a pause later.
        advance(by: .seconds(1))
        try report(heard: true)
        #expect(home.machine.knows(session.token))
    }

    @Test mutating func `what the home does not know has ended`() throws {
        let session = try lend(timeToLive: .seconds(30))
        let holder = try other.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try home.endSession(session)
        #expect(other.state(of: holder) == .running)
        try report()
        #expect(other.outcome(of: holder) == .expired(.sessionLost))
        #expect(!other.machine.knows(session.token))
    }

    @Test mutating func `a guest waits for its home, however long that is silent`() throws {
        let session = try lend(timeToLive: .seconds(4))
        let holder = try other.start(TransitionRequest(lease: .seconds(300), session: session.token))
        // Many times its four seconds and three pauses.
        other.advance(by: .seconds(100))
        #expect(other.state(of: holder) == .running)
        // Its home has ended it meanwhile, and says so now.
        try home.endSession(session)
        try report()
        #expect(other.outcome(of: holder) == .expired(.sessionLost))
        #expect(!other.machine.knows(session.token))
    }

    @Test mutating func `the silence of a guest's shard gives the session its time once more`() throws {
        let session = try lend(timeToLive: .seconds(4))
        // The shard is lost with what it has heard; seven seconds are over.
        home.advance(by: .seconds(13))
        #expect(home.machine.knows(session.token))
        // Its next owner has not known the session, or there is none.
        home.advance(by: .seconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a shard that reports again may be silent again`() throws {
        let session = try lend(timeToLive: .seconds(4))
        home.advance(by: .seconds(8))
        try report(heard: true)
        home.advance(by: .seconds(13))
        #expect(home.machine.knows(session.token))
        home.advance(by: .seconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `the next owner of a home expects guests`() throws {
        let session = try lend(timeToLive: .seconds(4))
        try home.restart()
        try home.perform { machine, step in machine.expectGuests(where: { _ in false }, in: &step) }
        home.advance(by: .milliseconds(6900))
        #expect(home.machine.knows(session.token))
        home.advance(by: .milliseconds(100))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a client that leaves the guest's shard has the grace time at home`() throws {
        let session = try lend(timeToLive: .seconds(60))
        let grace = home.machine.limits.grace
        try other.attach(session)
        for _ in 0..<100 {
            advance(by: .seconds(1))
            try report()
        }
        #expect(home.machine.knows(session.token))
        try other.detach(session)
        try report()
        advance(by: grace / 2)
        try report()
        advance(by: grace / 2)
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a client that leaves one shard and is heard in the other has its time`() throws {
        let session = try lend(timeToLive: .seconds(60))
        try home.attach(session)
        try other.attach(session)
        try other.detach(session)
        for _ in 0..<10 {
            try report()
            advance(by: .seconds(1))
        }
        #expect(home.machine.knows(session.token))
        #expect(other.machine.knows(session.token))
    }

    @Test mutating func `a client that leaves after the report is reported with the next one`() throws {
        let session = try lend(timeToLive: .seconds(60))
        try other.attach(session)
        let reports = try reports()
        try other.detach(session)
        try other.perform { machine, step in for report in reports { machine.confirm(report, in: &step) } }
        #expect(try self.reports().map(\.client) == [.gone])
    }

    @Test mutating func `a session is admitted once, and survives a restart of its shard`() throws {
        let session = try lend(timeToLive: .seconds(30))
        let lent = try home.perform { machine, step throws(ArbiterError) in
            try machine.lend(session.token, to: 1, in: &step)
        }
        let count = other.journal.count
        try other.perform { machine, step throws(ArbiterError) in try machine.admit(guest: lent, in: &step) }
        #expect(other.journal.count == count)
        try other.restart()
        #expect(other.machine.knows(session.token))
        #expect(try reports().isEmpty)
        try other.perform { machine, step in machine.expectGuests(where: { $0 == session.id }, in: &step) }
        #expect(try reports().map(\.token) == [session.token])
    }

    // MARK: - Words

    @Test mutating func `a word with only the token of a transition is reported`() throws {
        let session = try lend(timeToLive: .seconds(4))
        let holder = try other.start(TransitionRequest(lease: .seconds(300), session: session.token))
        for _ in 0..<20 {
            advance(by: .seconds(1))
            try other.renew(holder)
            try report()
        }
        #expect(home.machine.knows(session.token))
        #expect(other.state(of: holder) == .running)
    }

    @Test mutating func `reports and their answers are no words`() throws {
        let session = try lend(timeToLive: .seconds(4))
        for _ in 0..<6 {
            advance(by: .seconds(1))
            try report()
        }
        #expect(home.machine.knows(session.token))
        advance(by: .seconds(1))
        #expect(!home.machine.knows(session.token))
        #expect(other.machine.knows(session.token))
        try report()
        #expect(!other.machine.knows(session.token))
    }

    @Test mutating func `a word is reported once`() throws {
        let session = try lend(timeToLive: .seconds(30))
        try other.renewSession(session)
        #expect(try reports().map(\.isHeard) == [true])
        #expect(try reports().map(\.isHeard) == [false])
    }

    @Test mutating func `a word that the home has heard itself takes back that the client has left`() throws {
        let session = try lend(timeToLive: .seconds(30))
        try other.attach(session)
        try other.detach(session)
        try other.perform { machine, step in machine.hear(guest: session.token, isKnown: true, in: &step) }
        let report = try #require(try reports().first)
        #expect(report.client == .present)
        #expect(!report.isHeard)
    }

    @Test mutating func `a client that leaves after a word is reported as having left`() throws {
        let session = try lend(timeToLive: .seconds(30))
        try other.attach(session)
        try other.renewSession(session)
        try other.detach(session)
        let report = try #require(try reports().first)
        #expect(report.client == .gone)
        #expect(!report.isHeard)
    }

    @Test mutating func `messages between nodes are read as they were written`() throws {
        let session = try lend(timeToLive: .seconds(30))
        let lent = try home.perform { machine, step throws(ArbiterError) in
            try machine.lend(session.token, to: 1, in: &step)
        }
        let reports = [
            GuestReport(session.token, from: 1, isHeard: true, client: .present),
            GuestReport(
                session.token, from: 2, isHeard: false, client: .gone,
                caller: Caller(principal: PrincipalName("token:x"))),
        ]
        var writer = BinaryWriter()
        writer.write(lent)
        for report in reports { writer.write(report) }
        var reader = BinaryReader(writer.bytes)
        #expect(try LentSession(from: &reader) == lent)
        for report in reports { #expect(try GuestReport(from: &reader) == report) }
        #expect(reader.isAtEnd)
    }
}
