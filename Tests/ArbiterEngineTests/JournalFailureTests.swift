import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct JournalFailureTests {
    private let failure = JournalError(reason: "The disk is full: make room and restart.")

    @Test func `all unanswered requests are refused when the journal fails`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.serialize("parked", wait: .seconds(60))
        bench.journal.commit()
        bench.start("withheld", try request("other"))
        bench.read("withheld read", holder.id)
        bench.wait("parked too", for: holder, until: .ended)

        bench.journal.fail(failure)

        for label in ["parked", "withheld", "withheld read", "parked too"] {
            #expect(try bench.answers.refusal(label) == .journalUnavailable(failure))
        }
        #expect(bench.answers.labels.prefix(3) == ["holder", "withheld", "withheld read"])
    }

    @Test func `a waiter whose grant was not committed is refused when the journal fails`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.serialize("waiter", wait: .seconds(60))
        bench.journal.commit()
        bench.end("end", holder)

        bench.journal.fail(failure)

        #expect(try bench.answers.refusal("waiter") == .journalUnavailable(failure))
        #expect(try bench.answers.refusal("end") == .journalUnavailable(failure))
    }

    @Test func `after a failure all requests and reads are refused and nothing is journalled`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.journal.fail(failure)

        bench.start("start")
        #expect(bench.serialize("serialize", wait: .seconds(1)) == nil)
        #expect(bench.wait("wait", for: holder, until: .ended) == nil)
        bench.end("end", holder)
        bench.renew("renew", holder)
        bench.read("read", holder.id)
        bench.engine.leave(WaiterID(rawValue: 1))
        bench.engine.drain()
        bench.pass(.seconds(60))

        let asked = ["start", "serialize", "wait", "end", "renew", "read"]
        #expect(bench.answers.labels == ["holder"] + asked)
        for label in asked { #expect(try bench.answers.refusal(label) == .journalUnavailable(failure)) }
        #expect(bench.journal.appended.count == 1)
    }

    @Test(arguments: [nil, JournalError(.stalled, reason: "etcd has no room")])
    func `an engine that is abandoned answers everything once, and nothing is journalled any more`(
        earlier: JournalError?
    ) throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.serialize("recorded", wait: .seconds(60))
        bench.journal.commit()
        bench.start("withheld", try request("other"))
        bench.read("withheld read", holder.id)
        bench.wait("parked", for: holder, until: .ended)
        if let earlier { bench.journal.fail(earlier) }

        bench.engine.abandon()
        bench.engine.abandon()

        // What may have been committed is not called undone.
        for label in ["recorded", "withheld"] {
            guard case .journalUnavailable = try bench.answers.refusal(label) else {
                Issue.record("\(label)")
                continue
            }
        }
        guard case .notOwner = try bench.answers.refusal("parked") else {
            Issue.record("parked")
            return
        }
        let count = bench.journal.appended.count
        bench.start("later")
        guard case .notOwner = try bench.answers.refusal("later") else {
            Issue.record("later")
            return
        }
        bench.engine.stop()
        #expect(bench.journal.appended.count == count)
        #expect(bench.answers.labels.count == Set(bench.answers.labels).count)
        #expect(Set(bench.answers.labels) == ["holder", "recorded", "withheld", "withheld read", "parked", "later"])
    }

    @Test func `a connection that was refused in a stall keeps no session alive`() throws {
        let (bench, _) = try Bench<HeldJournal>.withHolder()
        let opened = Guarded<Token?>(nil)
        bench.engine.openSession(client: nil, timeToLive: .seconds(10)) { result in
            let session = try? result.get().session
            opened.withLock { $0 = session?.token }
        }
        bench.journal.commit()
        let token = try #require(opened.withLock { $0 })
        bench.start("uncommitted", try request("other"))
        let refused = Guarded(false)
        bench.engine.attach(token) { result in
            if case .failure(.journalUnavailable) = result { refused.withLock { $0 = true } }
        }
        bench.journal.fail(JournalError(.stalled, reason: "etcd has no room"))
        #expect(refused.withLock { $0 })
        bench.journal.commit()
        #expect(bench.engine.inspect { $0.knows(token) })
        bench.pass(.seconds(11))
        #expect(!bench.engine.inspect { $0.knows(token) })
    }

    @Test func `an engine cannot be made from a journal that cannot be read`() {
        #expect(throws: JournalError(reason: "unreadable")) { try Engine(journal: UnreadableJournal()) }
    }

    @Test func `a stopped engine refuses every request`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.start("under way", try request("other"))
        bench.serialize("parked", wait: .seconds(60))

        bench.engine.stop()
        #expect(try bench.answers.view("under way").state == .running)
        #expect(throws: EngineError.self) { try bench.answers.view("parked") }

        bench.end("end", holder)
        #expect(throws: EngineError.self) { try bench.answers.view("end") }
        let records = try bench.journal.records().map(\.record)
        #expect(records.count == 4)
        #expect(records.last == .stop)
    }

    @Test func `a stop after a failure of the journal does not replace the failure`() throws {
        let (bench, _) = try Bench<HeldJournal>.withHolder()
        bench.journal.fail(failure)
        bench.engine.stop()
        bench.start("after")
        #expect(try bench.answers.refusal("after") == .journalUnavailable(failure))
    }
}

private struct UnreadableJournal: Journal {
    func contents() throws(JournalError) -> JournalContents { throw JournalError(reason: "unreadable") }
    func begin(_ committed: @escaping @Sendable (Result<UInt64, JournalError>) -> Void) {}
    func append(_ record: JournalEntry) -> Bool { false }
    var ownership: (any Ownership)? { nil }

    func close() {}
}
