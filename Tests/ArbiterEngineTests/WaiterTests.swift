import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

struct WaiterTests {
    private let bench: Bench<MemoryJournal>
    private let holder: TransitionView

    init() throws {
        bench = try Bench(MemoryJournal(keepsRecords: true))
        holder = try bench.started(request("main", lease: .seconds(600)))
    }

    @Test func `a parked serialize is answered once, at its grant`() throws {
        let ticket = try bench.serialized()
        bench.wait("owner", for: ticket)
        bench.wait("owner again", for: ticket)
        bench.wait("somebody", for: ticket, isOwner: false)
        bench.wait("patient", for: ticket, until: .ended)
        #expect(bench.answers.labels == [])

        bench.end("end", holder)
        #expect(Set(bench.answers.labels) == ["owner", "owner again", "somebody", "end"])
        #expect(bench.answers.labels.count == 4)

        bench.end("second end", ticket)
        bench.pass(.seconds(200))
        #expect(bench.answers.labels.count == 6)
        #expect(try bench.answers.view("patient").outcome == .completed)
    }

    @Test func `a request that parks and whose ticket ends in the same turn is answered`() throws {
        let waiter = bench.serialize("impatient", TransitionRequest(queue: .zero), wait: .seconds(60))
        #expect(waiter == nil, "no waiter is parked after the turn")
        #expect(try bench.answers.view("impatient").outcome == .expired(.queueTimeout))
    }

    @Test func `a wait for a milestone that is reached is answered at once and parks no waiter`() throws {
        #expect(bench.wait("granted", for: holder) == nil)
        #expect(bench.answers.labels == ["granted"])
        #expect(bench.wait("without wait", for: holder, until: .ended, wait: .zero) == nil)
        #expect(bench.answers.labels == ["granted", "without wait"])
    }

    @Test func `a waiter that leaves is not answered, and its ticket is abandoned at once`() throws {
        let leaver = try #require(bench.serialize("leaver", wait: .seconds(60)))
        bench.serialize("next", wait: .seconds(60))
        let abandoned = try #require(try bench.all().first { $0.position == 1 })

        bench.engine.leave(leaver)
        #expect(try bench.view(abandoned.id).outcome == .expired(.abandoned))

        bench.end("end", holder)
        bench.pass(.seconds(60))
        #expect(bench.answers["leaver"].isEmpty)
        #expect(try bench.answers.view("next").state == .running)
    }

    @Test func `the completion of a waiter that leaves is released at once`() throws {
        final class Connection: Sendable {}
        var connection: Connection? = Connection()
        weak let gone = connection
        let waiter = bench.engine.serialize(TransitionRequest(), wait: .seconds(60)) { [connection] _ in
            withExtendedLifetime(connection) {}
        }
        connection = nil
        #expect(gone != nil)
        bench.engine.leave(try #require(waiter))
        #expect(gone == nil)
    }

    @Test func `a waiter that has left is not answered when the engine stops`() throws {
        bench.serialize("stayer", wait: .seconds(60))
        bench.engine.leave(try #require(bench.serialize("leaver", wait: .seconds(60))))
        bench.engine.stop()
        #expect(bench.answers.labels == ["stayer"])
    }

    @Test func `a ticket is not abandoned while another waiter of its owner is parked`() throws {
        let ticket = try bench.serialized()
        let leaver = try #require(bench.wait("leaver", for: ticket))
        bench.wait("stayer", for: ticket)

        bench.engine.leave(leaver)
        #expect(try bench.view(ticket.id).state == .queued)

        bench.end("end", holder)
        #expect(try bench.answers.view("stayer").state == .running)
        #expect(bench.answers["leaver"].isEmpty)
    }

    @Test func `a waiter without the token that leaves does not abandon the ticket`() throws {
        let ticket = try bench.serialized()
        let stranger = try #require(bench.wait("stranger", for: ticket, isOwner: false))
        bench.engine.leave(stranger)
        #expect(try bench.view(ticket.id).state == .queued)
    }

    @Test func `a leave after the answer changes nothing`() throws {
        let waiter = try #require(bench.serialize("waiter", wait: .seconds(60)))
        bench.end("end", holder)
        bench.engine.leave(waiter)
        bench.engine.leave(waiter)
        bench.engine.leave(WaiterID(rawValue: .max))

        #expect(try bench.answers.view("waiter").state == .running)
        #expect(try bench.view(bench.answers.view("waiter").id).state == .running)
    }

    @Test func `every waiter has an id of its own`() throws {
        let waiters = (0..<100).compactMap { bench.serialize("\($0)", wait: .seconds(60)) }
        #expect(Set(waiters).count == 100)
    }

    @Test func `a drain answers every waiter, and no request parks after it`() throws {
        bench.serialize("first", wait: .seconds(60))
        bench.serialize("second", wait: .seconds(60))
        bench.wait("watcher", for: holder, isOwner: false, until: .ended)

        bench.engine.drain()
        #expect(Set(bench.answers.labels) == ["first", "second", "watcher"])
        #expect(try bench.answers.view("first").position == 1)
        #expect(try bench.answers.view("second").position == 2)
        #expect(try bench.answers.view("watcher").state == .running)

        bench.serialize("third", wait: .seconds(60))
        #expect(try bench.answers.view("third").position == 3)
        bench.pass(.seconds(60))
        #expect(bench.answers.labels.count == 4)
    }

    @Test func `a wait with a wrong token is answered with the refusal`() throws {
        let stranger = Token(high: 1, low: 2)
        bench.engine.wait(
            on: holder.id, token: stranger, until: .ended, wait: .seconds(1),
            completion: bench.answers.note("stranger"))
        #expect(try bench.answers.refusal("stranger") == .refused(.wrongToken(holder.id)))
    }

    @Test func `ids and tokens are never drawn twice`() throws {
        var ids: Set<TransitionID> = []
        var tokens: Set<Token> = []
        bench.end("end", holder)
        for _ in 0..<3000 {
            let view = try bench.started()
            ids.insert(view.id)
            tokens.insert(view.token)
            bench.engine.end(view.id, token: view.token, as: .completed) { _ in }
        }
        #expect(ids.count == 3000)
        #expect(tokens.count == 3000)
    }
}
