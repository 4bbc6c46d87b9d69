import Testing

@testable import ArbiterHTTP

/// Pages of lists out of the parts of several shards.
struct ListPartTests {
    private func entries(_ keys: String...) -> [ListPart.Entry] {
        keys.map { ListPart.Entry(key: $0, json: Array(#"{"name":"\#($0)"}"#.utf8)) }
    }

    private func merge(_ parts: [ListPart], _ limit: Int, _ end: ListPart.End) -> (keys: [String], hasMore: Bool) {
        let part = ListPart(parts, limit: limit, from: end)
        return (part.entries.map(\.key), part.hasMore)
    }

    @Test func `parts are merged in the order of the list`() {
        let parts = [
            ListPart(entries("a", "d"), limit: 9, from: .first), ListPart(entries("b", "c"), limit: 9, from: .first),
        ]
        #expect(merge(parts, 9, .first) == (["a", "b", "c", "d"], false))
        #expect(merge(parts, 3, .first) == (["a", "b", "c"], true))
        #expect(merge(parts, 3, .last) == (["b", "c", "d"], true))
        #expect(merge([], 3, .last) == ([], false))
    }

    @Test func `nothing is shown beyond the end of a part that has more`() {
        let cut = ListPart(entries("a", "b", "c"), limit: 2, from: .first)
        #expect(cut.entries.map(\.key) == ["a", "b"] && cut.hasMore)
        let whole = ListPart(entries("x"), limit: 2, from: .first)
        // There may be entries between b and x.
        #expect(merge([cut, whole], 9, .first) == (["a", "b"], true))
        let newest = ListPart(entries("m", "n", "o"), limit: 2, from: .last)
        #expect(newest.entries.map(\.key) == ["n", "o"] && newest.hasMore)
        #expect(
            merge([newest, ListPart(entries("a", "p"), limit: 2, from: .last)], 9, .last) == (["n", "o", "p"], true))
    }

    @Test func `pages one after the other have every entry once`() {
        let lists = [["a", "e", "f", "k"], ["b", "c", "d"], [], ["g", "h", "i", "j", "l"]]
        var (seen, last) = ([String](), "")
        while true {
            let parts = lists.map { keys in
                ListPart(
                    keys.filter { $0 > last }.map { ListPart.Entry(key: $0, json: []) }, limit: 2, from: .first)
            }
            let page = ListPart(parts, limit: 2, from: .first)
            seen += page.entries.map(\.key)
            guard page.hasMore, let end = page.entries.last?.key else { break }
            last = end
        }
        #expect(seen == lists.flatMap(\.self).sorted())
    }

    @Test func `a page has an end in bytes too`() {
        let large = [UInt8](repeating: UInt8(ascii: "1"), count: ServerLimits.pageBytes)
        let entries = ["a", "b", "c"].map { ListPart.Entry(key: $0, json: large) }
        let part = ListPart(entries, limit: 9, from: .first)
        #expect(part.entries.count < 3 && part.hasMore)
    }

    @Test func `another node's part is read as it was written`() throws {
        for part: ListPart in [
            ListPart([ListPart.Entry](), limit: 1, from: .first), ListPart(entries("a"), limit: 1, from: .first),
            ListPart(entries("a", "b", "c"), limit: 2, from: .last),
        ] {
            let read = try #require(ListPart(part.bytes))
            #expect(read.entries.map(\.key) == part.entries.map(\.key))
            #expect(read.entries.map(\.json) == part.entries.map(\.json))
            #expect(read.hasMore == part.hasMore)
        }
        let bytes = ListPart(entries("a", "b"), limit: 2, from: .first).bytes
        #expect(ListPart(Array(bytes.dropLast())) == nil)
        #expect(ListPart(Array("no key\n".utf8)) == nil)
    }
}

/// Compares pages.
private func == (one: (keys: [String], hasMore: Bool), other: ([String], Bool)) -> Bool {
    one.keys == other.0 && one.hasMore == other.1
}
