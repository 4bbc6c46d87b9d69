import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct CommitBeforeAnswerTests {
    @Test func `an answer leaves only when its command is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start")
        #expect(bench.answers.labels == [])
        #expect(bench.journal.appended.count == 1)

        bench.journal.commit()

        #expect(try bench.answers.view("start").state == .running)
    }

    @Test func `a refusal leaves only when the grant it tells of is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("first")
        bench.start("second")
        #expect(bench.answers.labels == [])

        bench.journal.commit()

        #expect(bench.answers.labels == ["first", "second"])
        guard case .refused(.busy(let busy)) = try bench.answers.refusal("second") else {
            Issue.record("the second start was not refused as busy")
            return
        }
        #expect(busy.holder.id == (try bench.answers.view("first").id))
    }

    @Test func `a read leaves only when what it saw is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.serialize("ticket")
        let id = try #require(bench.journal.appended.first?.command.id)
        bench.read("read", id)
        #expect(bench.answers.labels == [])

        bench.journal.commit()

        #expect(bench.answers.labels == ["ticket", "read"])
        #expect(try bench.answers.view("read").state == .running)
    }

    @Test func `a read of what is not there leaves only when that is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start")
        bench.read("read", TransitionID(rawValue: 1))
        #expect(bench.answers.labels == [])

        bench.journal.commit()

        #expect(try bench.answers.refusal("read") == .refused(.unknownTransition(TransitionID(rawValue: 1))))
    }

    @Test func `a waiter is told of its grant only when the end before it is committed`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.serialize("waiter", wait: .seconds(60))
        bench.journal.commit()
        bench.end("end", holder)
        #expect(bench.answers.labels == ["holder"])

        bench.journal.commit()

        #expect(Set(bench.answers.labels) == ["holder", "end", "waiter"])
        #expect(try bench.answers.view("waiter").state == .running)
        #expect(try bench.answers.view("end").outcome == .completed)
    }

    @Test func `a waiter who parks while nothing is committed is told of its grant too`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("holder")
        bench.serialize("waiter", wait: .seconds(60))
        bench.journal.commit()
        #expect(bench.answers.labels == ["holder"])

        bench.end("end", try bench.answers.view("holder"))
        bench.journal.commit()

        #expect(try bench.answers.view("waiter").state == .running)
    }

    @Test func `each commit releases what it covers, in the order it came about`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start", try request("a"))
        let first = try #require(bench.journal.appended.first?.command.id)
        bench.read("read", first)
        bench.start("refusal", try request("a"))
        bench.serialize("ticket", try request("a"))
        bench.read("later read", first)
        bench.start("other scene", try request("b"))
        bench.read("last read", first)
        #expect(bench.answers.labels == [])

        bench.journal.commit(upTo: 1)
        #expect(bench.answers.labels == ["start", "read", "refusal"])
        bench.journal.commit(upTo: 2)
        #expect(bench.answers.labels == ["start", "read", "refusal", "ticket", "later read"])
        bench.journal.commit(upTo: 3)
        #expect(bench.answers.labels.suffix(2) == ["other scene", "last read"])
    }

    @Test func `one commit of several records releases all of them in order`() throws {
        let bench = try Bench(HeldJournal())
        for label in ["1", "2", "3", "4", "5"] { bench.start(label, try request(label)) }

        bench.journal.commit()

        #expect(bench.answers.labels == ["1", "2", "3", "4", "5"])
    }

    @Test func `what changes nothing is answered at once when all is committed`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.renew("renew", holder)
        bench.read("read", holder.id)
        bench.start("refusal")
        bench.wait("wait", for: holder)
        #expect(bench.answers.labels == ["holder", "renew", "read", "refusal", "wait"])
        #expect(bench.journal.appended.count == 1)
    }

    @Test func `the answer to a drain waits for what is not committed`() throws {
        let (bench, _) = try Bench<HeldJournal>.withHolder()
        bench.serialize("waiter", wait: .seconds(60))
        bench.engine.drain()
        #expect(bench.answers.labels == ["holder"])

        bench.journal.commit()

        #expect(try bench.answers.view("waiter").position == 1)
    }

    @Test func `what the arbiter decided by itself is committed before anybody sees it`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.wait("watcher", for: holder, isOwner: false, until: .ended)
        bench.pass(Limits.defaultLease)
        bench.read("read", holder.id)
        #expect(bench.answers.labels == ["holder"])

        bench.journal.commit()

        #expect(try bench.answers.view("watcher").outcome == .expired(.lease))
        #expect(try bench.answers.view("read").outcome == .expired(.lease))
    }

    @Test func `records are numbered from one without a gap, and refusals and reads leave none`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.start("refusal")
        bench.renew("renew", holder)
        bench.serialize("ticket")
        bench.end("end", holder)
        #expect(bench.journal.appended.map(\.sequence) == [1, 2, 3])
    }
}

extension Command {
    /// The id of the transition that it brings about.
    var id: TransitionID? {
        switch self {
        case .start(_, let id, _), .serialize(_, let id, _, _): id
        default: nil
        }
    }
}
