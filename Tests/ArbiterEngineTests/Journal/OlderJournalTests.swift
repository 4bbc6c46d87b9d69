import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Foundation
import Testing

/// Journals written by an older arbiterd.
struct OlderJournalTests {
    /// Written by arbiterd 0.1.0: a declared scene with a completed push, a holder, a ticket with a key, and a session.
    private static let firstForm = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/journal-form-1.sqlite").standardizedFileURL.path

    private func copied() throws -> JournalDirectory {
        let directory = try JournalDirectory()
        try FileManager.default.copyItem(atPath: Self.firstForm, toPath: directory.file)
        return directory
    }

    private func machine(of directory: JournalDirectory) throws -> ArbiterStateMachine {
        try JournalInspection(directory: directory.directory.path).replayed()
    }

    @Test func `a journal of the first form gives the same state as before`() throws {
        let directory = try copied()
        let machine = try machine(of: directory)
        let phone: SceneName = try #require(SceneName("phone"))
        #expect(machine.hierarchy(of: phone)?.1 == Revision(rawValue: 2))
        #expect(machine.scenes().map(\.queued) == [1, 0])
        #expect(machine.scenes().map(\.running) == [1, 0])
        let holder = try #require(TransitionID("t-04jsgcd1dh4qr"))
        #expect(machine.transition(holder)?.grant?.fence == Fence(rawValue: 2))
        // Readers of all scenes get numbers that continue after the earlier events.
        let numbers = machine.lastEvents().values.reduce(0) { $0 + $1.rawValue }
        #expect(machine.lastEvent.rawValue == numbers)
    }

    @Test func `a journal of the second form means what it meant`() throws {
        let directory = try JournalDirectory()
        // Written like the first, with a revoked transition besides.
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/journal-form-2.sqlite").standardizedFileURL.path
        try FileManager.default.copyItem(atPath: path, toPath: directory.file)
        let machine = try machine(of: directory)
        let phone: SceneName = try #require(SceneName("phone"))
        #expect(machine.hierarchy(of: phone)?.1 == Revision(rawValue: 2))
        #expect(machine.scenes().map(\.queued) == [1, 0])
        #expect(machine.scenes().map(\.running) == [1, 0])
        let journal = try directory.open()
        let engine = try Engine(journal: journal, time: ManualTime(), alarm: ManualAlarm(time: ManualTime()))
        let key = IdempotencyKey("\"ticket-1\"")
        let request = TransitionRequest(scene: phone, ticket: .seconds(300), idempotencyKey: key)
        // The key is of before, and so is the ticket; the answer waits for the record that adopts the newest rules.
        let again = try answered { engine.serialize(request, wait: .zero, completion: $0) }
        #expect(again.transition.order == RequestOrder(rawValue: 3))
        engine.stop()
    }

    /// Written under the first rules; what it holds means something else under the second.
    @Test func `a journal of the third form means what it meant`() throws {
        let directory = try JournalDirectory()
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/journal-form-3.sqlite").standardizedFileURL.path
        try FileManager.default.copyItem(atPath: path, toPath: directory.file)
        let machine = try machine(of: directory)
        let phone = try #require(SceneName("phone"))
        let (storyboard, version) = try machine.storyboard(of: phone)
        #expect(version == StoryboardVersion(revision: Revision(rawValue: 5)))
        // An operation that keeps the top was animated, and so its arrivals have its type.
        let inserted = try #require(ControllerID("x"))
        #expect(storyboard.hierarchy[inserted]?.introTransitionType == TransitionTypeName("star"))
        // A navigation defines a presentation context only where the storyboard said so.
        let navigation = try #require(ControllerID("other"))
        #expect(storyboard.hierarchy[navigation]?.definesPresentationContext == false)
        let dismissal = try #require(TransitionID("t-5yxjm2mmbyar1"))
        #expect(machine.transition(dismissal)?.grant?.fence == Fence(rawValue: 5))
        #expect(machine.transition(dismissal)?.gesture == DecidedGesture(decision: .finish, fraction: 0))
        let selection = try #require(
            machine.list(TransitionFilter(scene: phone), at: Instant(nanoseconds: 0)).first {
                $0.transition.request.operation?.type == .select && $0.transition.isEnded
            })
        // Under the first rules, the views that disappeared were told first.
        #expect(selection.transition.grant?.appearance.first?.change == .willDisappear)
        let queued = try machine.scene(phone, at: Instant(nanoseconds: 0)).queue
        #expect(queued.map(\.id.description) == ["t-5yxpjspr3dsx8", "t-5yxvesmkpq21n", "t-5yxwmzjt319ze"])

        // What was granted ends under the rules of its grant, and everything goes on.
        let time = ManualTime(instant: Instant(nanoseconds: 9_000_000_000_000_000))
        let engine = try Engine(journal: directory.open(), time: time, alarm: ManualAlarm(time: time))
        let token = Token(high: 0xc018_58ae_72b2_af48, low: 0x815e_3666_581e_cb21)
        let ended = try answered { engine.end(dismissal, token: token, as: .completed, completion: $0) }
        #expect(ended.outcome == .completed)
        #expect(engine.inspect { $0.brokenInvariant() } == nil)
        engine.stop()
        let after = try self.machine(of: directory)
        #expect(try after.storyboard(of: phone).0.hierarchy[try #require(ControllerID("sheet"))] == nil)
    }

    @Test func `records under rules that are not known are refused as those of a newer daemon`() throws {
        let directory = try JournalDirectory()
        let journal = try directory.open()
        let commits = Commits(of: journal)
        journal.commit(JournalEntry(sequence: 1, moment: ManualTime().now(), record: .declare(.main, .empty)))
        try commits.wait(for: 1)
        journal.close()
        let hex = try directory.text("SELECT hex(records) FROM batch")
        var bytes = stride(from: 0, to: hex.count, by: 2).compactMap { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)
        }
        bytes[3] = 200
        let changed = bytes.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
        try directory.sql("UPDATE batch SET records = x'\(changed)', checksum = \(Checksum.crc32(bytes))")
        let refusal = #expect(throws: JournalError.self) { try directory.contents() }
        #expect(refusal?.kind == .unknownForm)
        #expect(refusal?.reason.contains("newer arbiterd (rules 200)") == true)
    }

    /// The tables accept values of any type, as a flipped bit may produce them.
    @Test(arguments: [
        "UPDATE batch SET records = CAST(records AS TEXT) WHERE last = (SELECT min(last) FROM batch)",
        "UPDATE batch SET checksum = 'a'", "UPDATE batch SET first = 0.5", "UPDATE batch SET records = 7",
        "UPDATE life SET boot = x'00'", "UPDATE life SET durability = 1", "UPDATE life SET durability = 'none'",
        "UPDATE life SET closed = 'no'",
        "INSERT INTO snapshot VALUES (1, 'then', x'00', 0)", "INSERT INTO snapshot VALUES (1, x'00', 0.5, x'00')",
    ])
    func `a value of another type is refused with advice`(statement: String) throws {
        let directory = try copied()
        try directory.sql(statement)
        let path = directory.directory.path
        for refusal in [
            #expect(throws: JournalError.self) { try directory.contents() },
            #expect(throws: JournalError.self) { try JournalInspection(directory: path) },
        ] {
            #expect(refusal?.kind == .damaged)
            #expect(refusal?.reason.contains("restore a copy") == true)
        }
    }

    @Test func `a journal of the first form becomes one of the newest when something is written`() throws {
        let directory = try copied()
        try directory.open().close()
        let path = directory.directory.path
        #expect(try JournalInspection(directory: path).form == 1, "nothing was written")
        let journal = try directory.open()
        let contents = try journal.contents()
        let commits = Commits(of: journal)
        let last = try #require(contents.records.last)
        let holder = try #require(TransitionID("t-04jsgcd1dh4qr"))
        let reason = try #require(RevocationReason("it hangs"))
        journal.commit(
            JournalEntry(sequence: last.sequence + 1, moment: last.moment, record: .revoke(holder, Revocation(reason))))
        try commits.wait(for: last.sequence + 1)
        journal.close()
        #expect(try JournalInspection(directory: path).form == 4)
        let machine = try machine(of: directory)
        #expect(machine.scenes().map(\.queued) == [0, 0])
        guard case .ended(let ending)? = machine.transition(holder)?.phase else {
            Issue.record("\(holder) has not ended")
            return
        }
        #expect(ending.outcome == .revoked(Revocation(reason)))
    }
}
