import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct JournalFailureTests {
    private let failure = JournalError(reason: "The disk is full: make room and restart.")

    @Test func `a journal that fails has everybody answered that it cannot be relied on`() throws {
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

    @Test func `a wake that was not committed when the journal failed is not told`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.serialize("waiter", wait: .seconds(60))
        bench.journal.commit()
        bench.end("end", holder)

        bench.journal.fail(failure)

        #expect(try bench.answers.refusal("waiter") == .journalUnavailable(failure))
        #expect(try bench.answers.refusal("end") == .journalUnavailable(failure))
    }

    @Test func `after a failure everything is refused, reads too, and nothing is journalled`() throws {
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

    @Test func `a journal that cannot be read makes no engine`() {
        #expect(throws: JournalError(reason: "unreadable")) { try Engine(journal: UnreadableJournal()) }
    }

    @Test func `who asks an engine that was stopped is refused instead of forgotten`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.start("under way", try request("other"))
        bench.serialize("parked", wait: .seconds(60))

        bench.engine.stop()
        #expect(try bench.answers.view("under way").state == .running)
        #expect(throws: EngineError.self) { try bench.answers.view("parked") }

        bench.end("end", holder)
        #expect(throws: EngineError.self) { try bench.answers.view("end") }
        #expect(try bench.journal.records().count == 3)
    }

    @Test func `stopping an engine whose journal has failed leaves the failure as it was`() throws {
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
    func append(_ record: JournalRecord) -> Bool { false }
    func close() {}
}
