import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

@testable import ArbiterHTTP

struct JournalJSONTests {
    private func line(_ record: Record) throws -> JSON {
        let moment = Moment(instant: Instant(nanoseconds: 1), timestamp: Timestamp(milliseconds: 0))
        return try JSON(JournalEntry(sequence: 7, moment: moment, record: record).jsonLine)
    }

    @Test(arguments: SampleHierarchies.requests)
    func `a request is shown in full`(request: TransitionRequest) throws {
        let shown = try line(
            .serialize(request, id: TransitionID(rawValue: 1), token: Token(high: 0, low: 0)))
        #expect(shown["command"] == "serialize")
        #expect((shown["operation"] != nil || shown["operations"] != nil) == (request.operation != nil))
        if let operation = request.operation {
            let written = try JSON(JSONWriter.object { $0.member(operation) })
            #expect(shown["operation"] == written["operation"] && shown["operations"] == written["operations"])
        }
        #expect(shown["expect"]?.elements.count ?? 0 == request.expectations.count)
        #expect((shown["animation"] != nil) == (request.animation != nil))
        #expect((shown["scope"] != nil) == (request.scope != nil))
        #expect(shown["onExpiry"] == (request.onExpiry == .complete ? "complete" : nil))
        #expect(shown["token"] == nil)
    }

    @Test(arguments: SampleHierarchies.storyboards)
    func `a declaration is shown with its storyboard`(storyboard: Storyboard) throws {
        let shown = try line(.declare(.main, storyboard))
        #expect(shown["command"] == "declare")
        #expect(shown["scene"] == "main")
        #expect(shown["storyboard"] == (try JSON(storyboard.json)))
    }

    @Test func `the adoption of other rules is shown with them, and with what is forgotten`() throws {
        let shown = try line(.adopt(Limits().divided(among: 64).retention))
        #expect(shown["command"] == "adopt")
        #expect(shown["rules"]?.number == Double(Rules.newest.rawValue))
        #expect(shown["retention"]?["maximum"]?.number == 781)
        #expect(shown["retention"]?["seconds"]?.number == 600)
        #expect(try line(.adopt(nil))["retention"] == nil)
        #expect(try line(.resume)["rules"] == nil)
    }
}
