import ArbiterCore
import ArbiterTestKit
import Testing

@testable import ArbiterEngine

struct CommitBeforeAnswerTests {
    @Test func `an answer is sent only when its record is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start")
        #expect(bench.answers.labels == [])
        #expect(bench.journal.appended.count == 1)

        bench.journal.commit()

        #expect(try bench.answers.view("start").state == .running)
    }

    @Test func `a refusal is sent only when the grant that caused it is committed`() throws {
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

    @Test func `the answer to a read is sent only when the state that it shows is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.serialize("ticket")
        let id = try #require(bench.journal.appended.first?.record.id)
        bench.read("read", id)
        #expect(bench.answers.labels == [])

        bench.journal.commit()

        #expect(bench.answers.labels == ["ticket", "read"])
        #expect(try bench.answers.view("read").state == .running)
    }

    @Test func `the refusal of a read is sent only when the state that caused it is committed`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start")
        bench.read("read", TransitionID(rawValue: 1))
        #expect(bench.answers.labels == [])

        bench.journal.commit()

        #expect(try bench.answers.refusal("read") == .refused(.unknownTransition(TransitionID(rawValue: 1))))
    }

    @Test func `a waiter is answered at its grant only when the end before it is committed`() throws {
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

    @Test func `a thread that would have many answers to give may not commit`() throws {
        for (waiters, mayCommit) in [(Engine.answersOnThread - 2, true), (Engine.answersOnThread, false)] {
            let (bench, holder) = try Bench<HeldJournal>.withHolder()
            for number in 1...waiters { bench.wait("waiter \(number)", for: holder, until: .ended) }
            bench.end("end", holder)
            #expect(bench.journal.flushes.last == mayCommit)
        }
    }

    @Test func `a waiter that parks before any commit is answered at its grant`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("holder")
        bench.serialize("waiter", wait: .seconds(60))
        bench.journal.commit()
        #expect(bench.answers.labels == ["holder"])

        bench.end("end", try bench.answers.view("holder"))
        bench.journal.commit()

        #expect(try bench.answers.view("waiter").state == .running)
    }

    @Test func `each commit releases the answers that it covers, in order`() throws {
        let bench = try Bench(HeldJournal())
        bench.start("start", try request("a"))
        let first = try #require(bench.journal.appended.first?.record.id)
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

    @Test func `one commit of several records releases all their answers in order`() throws {
        let bench = try Bench(HeldJournal())
        for label in ["1", "2", "3", "4", "5"] { bench.start(label, try request(label)) }

        bench.journal.commit()

        #expect(bench.answers.labels == ["1", "2", "3", "4", "5"])
    }

    @Test func `a request that changes nothing is answered at once if everything is committed`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.renew("renew", holder)
        bench.read("read", holder.id)
        bench.start("refusal")
        bench.wait("wait", for: holder)
        #expect(bench.answers.labels == ["holder", "renew", "read", "refusal", "wait"])
        #expect(bench.journal.appended.count == 1)
    }

    @Test func `the answers of a drain wait for records that are not committed`() throws {
        let (bench, _) = try Bench<HeldJournal>.withHolder()
        bench.serialize("waiter", wait: .seconds(60))
        bench.engine.drain()
        #expect(bench.answers.labels == ["holder"])

        bench.journal.commit()

        #expect(try bench.answers.view("waiter").position == 1)
    }

    @Test func `an expiry is committed before any answer shows it`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.wait("watcher", for: holder, isOwner: false, until: .ended)
        bench.pass(Limits.defaultLease)
        bench.read("read", holder.id)
        #expect(bench.answers.labels == ["holder"])

        bench.journal.commit()

        #expect(try bench.answers.view("watcher").outcome == .expired(.lease))
        #expect(try bench.answers.view("read").outcome == .expired(.lease))
    }

    @Test func `records are numbered from one without gaps, and refusals and reads have no record`() throws {
        let (bench, holder) = try Bench<HeldJournal>.withHolder()
        bench.start("refusal")
        bench.renew("renew", holder)
        bench.serialize("ticket")
        bench.end("end", holder)
        #expect(bench.journal.appended.map(\.sequence) == [1, 2, 3])
    }
}

extension Record {
    /// The id of the transition that the record creates.
    var id: TransitionID? {
        switch self {
        case .start(_, let id, _), .serialize(_, let id, _): id
        default: nil
        }
    }
}
