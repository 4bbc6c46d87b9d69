import ArbiterCore
import ArbiterEngine
import ArbiterTestKit
import Testing

/// Groups of records name their rules.
struct RecordBatchTests {
    private func entries(under rules: [Rules]) -> [JournalEntry] {
        zip(1..., rules).map { sequence, rules in
            JournalEntry(sequence: sequence, moment: ManualTime().now(), record: .skipFences, rules: rules)
        }
    }

    /// A batch of one record whose rules are overwritten.
    private func batch(under number: UInt8) -> RecordBatch {
        var bytes = RecordBatch(entries(under: [.first])).bytes
        bytes[3] = number
        return RecordBatch(first: 1, last: 1, bytes: bytes, checksum: Checksum.crc32(bytes))
    }

    @Test(arguments: Rules.allCases) func `a batch comes back with the rules of its records`(rules: Rules) throws {
        let written = entries(under: [rules, rules, rules])
        #expect(try RecordBatch(written).records(of: "the journal") == written)
    }

    @Test func `records are divided where their rules change`() {
        #expect(RecordBatch.lengthUnderSameRules(entries(under: [])) == 0)
        #expect(RecordBatch.lengthUnderSameRules(entries(under: [.first, .first])) == 2)
        #expect(RecordBatch.lengthUnderSameRules(entries(under: [.first, .first, .second])) == 2)
        #expect(RecordBatch.lengthUnderSameRules(entries(under: [.second, .second])) == 2)
    }

    @Test(arguments: [2, 4, 200]) func `records under rules that are not known are those of a newer daemon`(
        number: UInt8
    ) throws {
        let refusal = #expect(throws: JournalError.self) { try batch(under: number).records(of: "the journal") }
        #expect(refusal?.kind == .unknownForm)
        #expect(refusal?.reason.contains("newer arbiterd (rules \(number))") == true)
    }

    @Test func `records under no rules are damaged`() throws {
        #expect(try batch(under: 0).records(of: "the journal") == nil)
    }
}
