import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// After a temporary failure, an engine continues from the contents of its journal.
struct JournalRecoveryTests {
    private let failure = JournalError(reason: "The disk is full: make room.")

    /// The journals that an engine gets when it opens its journal again, and what it reports.
    private final class Recoveries: Sendable {
        struct State {
            var journals: [Result<HeldJournal, JournalError>] = []
            var resumed: [EventNumber] = []
            var losses: [JournalError] = []
        }

        let state = Guarded(State())

        var recovery: JournalRecovery {
            JournalRecovery { [self] () throws(JournalError) in
                let next = state.withLock { $0.journals.isEmpty ? nil : $0.journals.removeFirst() }
                guard let next else { throw JournalError(reason: "The disk is still full.") }
                return try next.get()
            } whenResumed: { [self] lastEvents in
                state.withLock { $0.resumed.append(lastEvents.overall) }
            } whenLost: { [self] error in
                state.withLock { $0.losses.append(error) }
            }
        }

        func offer(_ journal: Result<HeldJournal, JournalError>) {
            state.withLock { $0.journals.append(journal) }
        }
    }

    private func bench(_ recoveries: Recoveries) throws -> (Bench<HeldJournal>, TransitionView) {
        let bench = try Bench(HeldJournal(), recovery: recoveries.recovery)
        bench.start("holder", try request("kept", lease: .seconds(60)))
        bench.journal.commit()
        return (bench, try bench.answers.view("holder"))
    }

    /// The failure with which requests are refused.
    private func refusal(_ bench: Bench<HeldJournal>) throws -> JournalError? {
        let answers = Answers()
        bench.engine.start(TransitionRequest(), completion: answers.note("asked"))
        guard case .journalUnavailable(let error) = try answers.refusal("asked") else { return nil }
        return error
    }

    @Test func `a failed journal is opened again at growing intervals, and refusals name the next try`() throws {
        let recoveries = Recoveries()
        let (bench, _) = try bench(recoveries)
        bench.serialize("parked", try request("kept"), wait: .seconds(60))
        bench.journal.commit()
        bench.journal.fail(failure)
        #expect(throws: EngineError.self) { try bench.answers.view("parked") }
        for seconds in [1, 2, 4, 8, 10, 10] {
            let refusal = try refusal(bench)
            #expect(refusal?.retryAfter == .seconds(seconds))
            #expect(refusal?.reason.contains("tries again within \(seconds) s") == true)
            bench.pass(.seconds(seconds))
        }
        #expect(try refusal(bench)?.reason.contains("still full") == true)
        #expect(recoveries.state.withLock { $0.losses }.isEmpty)
    }

    @Test func `an engine continues from the contents of the journal opened again`() throws {
        let recoveries = Recoveries()
        let (bench, holder) = try bench(recoveries)
        bench.start("lost", try request("lost"))
        bench.journal.fail(failure)
        #expect(throws: EngineError.self) { try bench.answers.view("lost") }

        let journal = HeldJournal(records: try bench.journal.records())
        recoveries.offer(.success(journal))
        bench.pass(.seconds(1))

        #expect(recoveries.state.withLock { $0.resumed.count } == 1)
        let kept = try bench.view(holder.id)
        #expect(kept.transition == holder.transition)
        #expect(try bench.all().map(\.id) == [holder.id])
        bench.end("end", holder)
        #expect(bench.answers["end"].isEmpty, "not committed yet")
        journal.commit()
        #expect(try bench.answers.view("end").outcome == .completed)
    }

    @Test func `an engine recovers from a second failure`() throws {
        let recoveries = Recoveries()
        let (bench, holder) = try bench(recoveries)
        bench.journal.fail(failure)
        let second = HeldJournal(records: try bench.journal.records())
        recoveries.offer(.success(second))
        bench.pass(.seconds(1))
        bench.end("end", holder)
        second.fail(failure)
        let third = HeldJournal(records: try second.records())
        recoveries.offer(.success(third))
        bench.pass(.seconds(2))
        bench.end("again", holder)
        #expect(bench.answers["again"].isEmpty)
        third.commit()
        #expect(try bench.answers.view("again").outcome == .completed)
    }

    @Test(arguments: [JournalError.Kind.damaged, .vanished, .inUse, .unknownForm])
    func `a journal that is lost is reported once, at the failure or at the next try`(kind: JournalError.Kind) throws {
        let lost = JournalError(kind, reason: "It is lost.")
        let recoveries = Recoveries()
        let (bench, _) = try bench(recoveries)
        bench.journal.fail(failure)
        recoveries.offer(.failure(lost))
        bench.pass(.seconds(1))
        #expect(recoveries.state.withLock { $0.losses } == [lost])
        #expect(try refusal(bench) == lost)
        bench.pass(.seconds(60))
        #expect(recoveries.state.withLock { $0.losses } == [lost])

        let others = Recoveries()
        let (other, _) = try self.bench(others)
        other.journal.fail(lost)
        #expect(others.state.withLock { $0.losses } == [lost])
    }

    @Test func `a stopped engine does not open its journal again`() throws {
        let recoveries = Recoveries()
        let (bench, holder) = try bench(recoveries)
        bench.journal.fail(failure)
        bench.engine.stop()
        recoveries.offer(.success(HeldJournal(records: try bench.journal.records())))
        bench.pass(.seconds(60))
        bench.read("read", holder.id)
        #expect(throws: EngineError.self) { try bench.answers.view("read") }
    }

    @Test(arguments: [true, false])
    func `an engine that drains parks nothing after it has opened its journal again`(drainsBefore: Bool) throws {
        let recoveries = Recoveries()
        let (bench, holder) = try bench(recoveries)
        if drainsBefore { bench.engine.drain() }
        bench.journal.fail(failure)
        if !drainsBefore { bench.engine.drain() }
        recoveries.offer(.success(HeldJournal(records: try bench.journal.records())))
        bench.pass(.seconds(1))
        let parked = bench.engine.wait(on: holder.id, token: nil, until: .ended, wait: .seconds(60)) { _ in }
        #expect(parked == nil)
    }

    @Test func `the close of a connection of an earlier era does not detach a later one`() throws {
        let recoveries = Recoveries()
        let bench = try Bench(HeldJournal(), recovery: recoveries.recovery)
        let session = Guarded(SessionView?.none)
        bench.engine.openSession(client: ClientName("view"), timeToLive: .seconds(30)) { answer in
            if case .success(let view) = answer { session.withLock { $0 = view } }
        }
        bench.journal.commit()
        let token = try #require(session.withLock { $0?.session.token })
        let attachments = Guarded([Engine.Attachment]())
        let attach = {
            bench.engine.attach(token) { answer in
                attachments.withLock { $0 += [try? answer.get()].compactMap(\.self) }
            }
        }
        attach()
        bench.journal.fail(failure)
        let journal = HeldJournal(records: try bench.journal.records())
        recoveries.offer(.success(journal))
        bench.pass(.seconds(1))
        attach()
        let before = try #require(attachments.withLock { $0.first })
        bench.engine.detach(before)
        bench.pass(.seconds(60))
        journal.commit()
        attach()
        #expect(attachments.withLock { $0.count } == 3, "the second connection keeps the session alive")
    }
}
