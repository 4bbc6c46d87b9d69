/// The names of the members of an object so far, in their order; the first few allocate no memory.
struct MemberNames: Sequence {
    private static let inlineCount = 4

    private var first = InlineArray<4, String>(repeating: "")
    private var others: [String] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ name: String) {
        if count < Self.inlineCount { first[count] = name } else { others.append(name) }
        count += 1
    }

    func contains(_ name: String) -> Bool {
        for index in 0..<Swift.min(count, Self.inlineCount) where first[index] == name { return true }
        return others.contains(name)
    }

    func makeIterator() -> some IteratorProtocol<String> {
        (0..<count).lazy.map { $0 < Self.inlineCount ? first[$0] : others[$0 - Self.inlineCount] }.makeIterator()
    }
}
