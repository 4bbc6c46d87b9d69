/// The target in a request line, as it was sent, without its path.
package struct RequestTarget: Hashable, Sendable {
    /// The target's size in bytes, up to the first NUL, if there is one.
    var size = 0
    /// The bytes after the first question mark.
    var query: [UInt8] = []
    /// Whether it has no spaces and no control characters, which a target must not contain.
    var isPrintable = true

    init() {}

    package init(_ bytes: some Collection<UInt8>) {
        size = bytes.count
        isPrintable = bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f }
        if let question = bytes.firstIndex(of: UInt8(ascii: "?")) {
            query = Array(bytes[bytes.index(after: question)...])
        }
    }

    /// The query's parameters in order, still percent-encoded; a plus sign stands for a space.
    ///
    /// - Returns: `nil` if there are more than `ServerLimits.queryParameters`.
    package func parameters() -> [QueryItem]? {
        var items: [QueryItem] = []
        var rest = query[...]
        while !rest.isEmpty {
            guard items.count < ServerLimits.queryParameters else { return nil }
            let item = rest.prefix { $0 != UInt8(ascii: "&") }
            rest = rest.dropFirst(item.count + 1)
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            items.append(QueryItem(name: text(name), value: text(item.dropFirst(name.count + 1))))
        }
        return items
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        let plus = UInt8(ascii: "+")
        return String(decoding: bytes.lazy.map { $0 == plus ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
