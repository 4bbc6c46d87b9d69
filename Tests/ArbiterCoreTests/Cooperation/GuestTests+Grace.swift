import Testing

@testable import ArbiterCore

// How long a session lives whose client has closed its last stream.

extension GuestTests {
    /// Runs an event of a client that had closed its connection when its request was read.
    private func gone<Answer>(
        in arbiter: inout Arbiter,
        _ event: (inout ArbiterStateMachine, inout Step) throws(ArbiterError) -> Answer
    ) throws -> Answer {
        try arbiter.perform { machine, step throws(ArbiterError) in
            step.restart(at: step.moment, client: .gone)
            return try event(&machine, &step)
        }
    }

    @Test mutating func `a request of a client that is gone gives its session no time in another shard either`() throws
    {
        let session = try lend(timeToLive: .seconds(60))
        let holder = try other.start(TransitionRequest(lease: .seconds(300), session: session.token))
        try home.attach(session)
        try report()
        try home.detach(session)
        advance(by: .seconds(1))
        _ = try gone(in: &other) { machine, step throws(ArbiterError) in
            try machine.renew(holder.id, token: holder.token, in: &step)
        }
        _ = try gone(in: &home) { machine, step throws(ArbiterError) in
            try machine.lend(session.token, to: 1, in: &step)
        }
        try report()
        advance(by: .seconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a request whose client does not wait is a word where no stream was closed`() throws {
        let session = try lend(timeToLive: .seconds(4))
        let holder = try other.start(TransitionRequest(lease: .seconds(300), session: session.token))
        for _ in 0..<20 {
            advance(by: .seconds(1))
            _ = try gone(in: &other) { machine, step throws(ArbiterError) in
                try machine.renew(holder.id, token: holder.token, in: &step)
            }
            try report()
        }
        #expect(home.machine.knows(session.token))
    }

    @Test mutating func `a client that leaves after it has not waited for an answer is reported`() throws {
        let session = try lend(timeToLive: .seconds(60))
        _ = try gone(in: &other) { machine, step throws(ArbiterError) in
            try machine.renewSession(session.token, in: &step)
        }
        let reports = try reports()
        #expect(reports.map(\.isHeard) == [true])
        try other.attach(session)
        try other.detach(session)
        try other.perform { machine, step in for report in reports { machine.confirm(report, in: &step) } }
        #expect(try self.reports().map(\.client) == [.gone])
    }

    @Test mutating func `a shard that is silent since the client left its home has the session live on`() throws {
        let session = try lend(timeToLive: .seconds(60))
        try home.attach(session)
        try other.attach(session)
        try report()
        advance(by: .milliseconds(500))
        try home.detach(session)
        // The next report hangs for four seconds.
        advance(by: .seconds(4))
        #expect(home.machine.knows(session.token))
        try report()
        advance(by: .seconds(1))
        #expect(home.machine.knows(session.token))
    }

    @Test mutating func `a client that leaves its home ends after the grace time where every shard reports`() throws {
        let session = try lend(timeToLive: .seconds(60))
        let grace = home.machine.limits.grace
        try home.attach(session)
        try report()
        try home.detach(session)
        advance(by: grace / 2)
        try report()
        advance(by: grace / 2 - .milliseconds(1))
        #expect(home.machine.knows(session.token))
        advance(by: .milliseconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a shard that is silent for ever has the session live for its time once more`() throws {
        let session = try lend(timeToLive: .seconds(4))
        try home.attach(session)
        try home.detach(session)
        // The grace time, four seconds, and three pauses of a second.
        home.advance(by: home.machine.limits.grace + .milliseconds(6999))
        #expect(home.machine.knows(session.token))
        home.advance(by: .milliseconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a guest whose client has left waits for its home`() throws {
        let session = try lend(timeToLive: .seconds(30))
        try other.attach(session)
        try other.detach(session)
        // The home is failing over, and its next owner knows the session.
        other.advance(by: .seconds(6))
        #expect(other.machine.knows(session.token))
        try report(heard: true)
        #expect(other.machine.knows(session.token))
    }

    @Test mutating func `after a takeover a closed stream leaves a session its full time`() throws {
        let session = try lend(timeToLive: .seconds(9))
        try home.attach(session)
        try home.restart(hasTakenOver: true)
        try home.perform { machine, step in machine.expectGuests(where: { _ in false }, in: &step) }
        home.advance(by: .seconds(1))
        // The client has given it up before, and believes in the stream of the earlier owner.
        try home.attach(session)
        try home.detach(session)
        home.advance(by: .seconds(8) - .milliseconds(1))
        #expect(home.machine.knows(session.token))
        // With the three pauses of a second.
        home.advance(by: .seconds(3) + .milliseconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `long after a takeover a closed stream leaves a session its grace`() throws {
        let session = try lend(timeToLive: .seconds(9))
        try home.restart(hasTakenOver: true)
        try home.attach(session)
        home.advance(by: .seconds(10))
        try home.detach(session)
        home.advance(by: home.machine.limits.grace - .milliseconds(1))
        #expect(home.machine.knows(session.token))
        home.advance(by: .milliseconds(1))
        #expect(!home.machine.knows(session.token))
    }

    @Test mutating func `a guest waits for its home also after its shard has got another owner`() throws {
        let session = try lend(timeToLive: .seconds(30))
        try other.restart()
        try other.perform { machine, step in machine.expectGuests(where: { $0 == session.id }, in: &step) }
        try other.attach(session)
        try other.detach(session)
        other.advance(by: .seconds(6))
        #expect(other.machine.knows(session.token))
    }
}
