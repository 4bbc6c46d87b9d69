import ArbiterCore
import ArbiterEngine
import ArbiterRelay
import ArbiterTestKit
import Testing

/// What a node reports of a session that is at home in its first shard or elsewhere, and a guest in its second one.
struct GuestReportsTests {
    private let homeShard = Shard(0, of: 2)
    private let guestShard = Shard(1, of: 2)
    private let home: Engine
    private let guest: Engine
    private let reports = GuestReports()
    private let session: Session
    private let holder: TransitionView

    init() throws {
        let time = ManualTime()
        home = try Engine(journal: MemoryJournal(keepsRecords: true), time: time, alarm: ManualAlarm(time: time))
        guest = try Engine(journal: MemoryJournal(keepsRecords: true), time: time, alarm: ManualAlarm(time: time))
        let slot = try #require(homeShard.slots.first)
        let opened: SessionView = try Self.answer { [home] in
            home.openSession(
                client: nil, timeToLive: .seconds(30), homeAt: Slot(number: slot), completion: $0)
        }
        session = opened.session
        let lent: LentSession = try Self.answer { [home, session] in
            home.lend(session.token, to: 1, for: .anyone, completion: $0)
        }
        let _: Void = try Self.answer { [guest] in guest.admit(guest: lent, completion: $0) }
        holder = try Self.answer { [guest, session] in
            guest.start(TransitionRequest(lease: .seconds(300), session: session.token), completion: $0)
        }
        // The engine is new, so everything is reported as heard.
        _ = reports.gather(from: [(guestShard, guest)])
    }

    private static func answer<Value: Sendable>(
        _ call: (@escaping Engine.Answer<Value>) -> Void
    ) throws -> Value {
        let answers = Guarded([Result<Value, EngineError>]())
        call { answer in answers.withLock { $0.append(answer) } }
        return try #require(answers.withLock { $0 }.first).get()
    }

    private func gather() -> [ReportedGuest] { reports.gather(from: [(guestShard, guest)]).reports }

    /// The owner of the transition says something with its token alone.
    private func renew() throws {
        let held = holder.transition
        let _: TransitionView = try Self.answer { guest.renew(held.id, token: held.token, completion: $0) }
    }

    /// A client attaches its only connection in the guest's shard, and closes it.
    private func leave() throws {
        let attachment: Engine.Attachment = try Self.answer { guest.attach(session.token, completion: $0) }
        guest.detach(attachment)
    }

    @Test func `a word with only the token of a transition is reported once`() throws {
        #expect(gather().map(\.report.isHeard) == [false])
        try renew()
        #expect(gather().map(\.report.isHeard) == [true])
        #expect(gather().map(\.report.isHeard) == [false])
    }

    @Test func `a word whose report failed is reported again`() throws {
        try renew()
        reports.keep(gather())
        #expect(gather().map(\.report.isHeard) == [true])
        #expect(gather().map(\.report.isHeard) == [false])
    }

    @Test func `an answer of the home is no word`() throws {
        reports.finish(gather(), ended: [])
        #expect(gather().map(\.report.isHeard) == [false])
    }

    @Test func `a word that names the session is reported with the guest`() throws {
        reports.hear(session.token, from: .anyone)
        let found = gather()
        #expect(found.map(\.report) == [GuestReport(session.token, from: 1, isHeard: true, client: .present)])
    }

    @Test func `a word of a client that is gone is reported as that, unless another one was not`() throws {
        let gone = Asker(.anyone, .gone)
        reports.hear(session.token, from: gone)
        #expect(gather().map(\.report) == [GuestReport(session.token, from: 1, isHeard: true, client: .gone)])
        reports.hear(session.token, from: gone)
        let alone = reports.gather(from: []).reports
        #expect(alone.map(\.report.client) == [.gone])
        reports.keep(alone)
        #expect(reports.gather(from: []).reports.map(\.report.client) == [.gone])
        reports.hear(session.token, from: .anyone)
        reports.hear(session.token, from: gone)
        #expect(gather().map(\.report) == [GuestReport(session.token, from: 1, isHeard: true, client: .present)])
    }

    @Test func `a word in a session that is no guest here is reported alone`() throws {
        reports.hear(session.token, from: .anyone)
        let found = reports.gather(from: []).reports
        #expect(found.map(\.report.caller) == [.anyone])
    }

    @Test func `a word that the home here has heard takes back that the client has left, and is not reported`() throws {
        try leave()
        reports.hear(session.token, from: .anyone, isKnown: true)
        let found = gather()
        #expect(found.map(\.report) == [GuestReport(session.token, from: 1, isHeard: false, client: .present)])
    }

    @Test func `a word that the home here has heard is not reported to itself`() throws {
        reports.hear(session.token, from: .anyone, isKnown: true)
        #expect(reports.gather(from: [(homeShard, home)]).reports.isEmpty)
    }

    @Test func `a word of another principal is not reported with the guest`() throws {
        try leave()
        let stranger = Asker(Caller(principal: PrincipalName("token:x")))
        reports.hear(session.token, from: stranger, isKnown: true)
        #expect(gather().map(\.report.client) == [.gone])
    }
}
