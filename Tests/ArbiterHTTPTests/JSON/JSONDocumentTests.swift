import ArbiterTestKit
import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

struct JSONDocumentTests {
    /// Takes the whole document, in pieces of at least this many bytes.
    private func pieces(_ document: JSONDocument, of count: Int) -> [[UInt8]] {
        var document = document
        var pieces: [[UInt8]] = []
        while !document.isOver { pieces.append(document.take(atLeast: count)) }
        return pieces
    }

    @Test(arguments: Seeds.first(10, atNight: 100))
    func `a storyboard is the same in pieces of any size`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let storyboard = try Storyboard.random(using: &random)
        for count in [1, 2, 50, 1000, .max] {
            let pieces = pieces(storyboard.document, of: count)
            #expect(pieces.flatMap(\.self) == storyboard.json + [UInt8(ascii: "\n")], "seed \(seed), \(count)")
            #expect(pieces.dropLast().allSatisfy { $0.count >= count }, "seed \(seed), \(count)")
        }
    }

    @Test func `a piece is hardly longer than it has to be`() throws {
        var random = SplitMix64(seed: 3)
        let hierarchy = try Hierarchy.random(count: 5000, using: &random)
        let document = JSONDocument([.hierarchy(HierarchyWriter(hierarchy))], keeping: 0)
        #expect(pieces(document, of: 4096).allSatisfy { $0.count < 4096 + 512 })
    }

    @Test func `a source gives a document in pieces of the size that is asked for, and then its end`() throws {
        let document = JSONDocument(
            [
                .brief { $0.beginArray() },
                .each(0..<1000) { writer, index in
                    writer.beginElement()
                    writer.number(index)
                },
                .brief { $0.endArray() },
            ], keeping: 0)
        var rest = document
        let beginning = rest.take(atLeast: 100)
        let source = DocumentSource(beginning, rest)
        var read: [UInt8] = []
        while case .bytes(let bytes) = source.read(upTo: 64) {
            #expect(1...64 ~= bytes.count)
            read += bytes
        }
        #expect(try JSON(read).elements.count == 1000)
        #expect(source.read(upTo: 64) == .end)
        #expect(!source.maySleep)
    }

    @Test func `a source that is closed gives nothing more`() {
        let source = DocumentSource(Array("[".utf8), JSONDocument([.brief { $0.endArray() }], keeping: 0))
        source.close()
        #expect(source.read(upTo: 64) == .end)
    }
}
