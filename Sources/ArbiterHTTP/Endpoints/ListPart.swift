/// What some shards have for one page of a list.
struct ListPart: Sendable {
    /// An entry, and its place in the list.
    struct Entry: Sendable {
        /// Texts of keys are in the order of the list; without tabs and line breaks.
        let key: String
        /// The entry in JSON, on one line.
        let json: [UInt8]
    }

    /// Which end of a list a page shows.
    enum End: Sendable {
        case first
        case last
    }

    /// In the order of the list.
    var entries: [Entry] = []
    /// Whether there are more entries, beyond the end of the page.
    var hasMore = false

    /// Takes what fits on a page.
    ///
    /// - Parameters:
    ///   - entries: in the order of the list.
    ///   - limit: the most entries of a page.
    ///   - end: which end of the list it shows.
    init(_ entries: [Entry], limit: Int, from end: End) {
        var byteCount = 0
        var count = 0
        let ordered = end == .first ? entries : entries.reversed()
        for entry in ordered {
            guard count < limit, byteCount <= ServerLimits.pageBytes else { break }
            byteCount += entry.json.count
            count += 1
        }
        hasMore = count < entries.count
        self.entries = Array(end == .first ? entries.prefix(count) : entries.suffix(count))
    }

    /// Merges parts into one page.
    ///
    /// A part that has more says nothing about what lies beyond its own end, so nothing there is shown.
    init(_ parts: [ListPart], limit: Int, from end: End) {
        let bounds = parts.filter(\.hasMore).compactMap { end == .first ? $0.entries.last?.key : $0.entries.first?.key }
        let bound = end == .first ? bounds.min() : bounds.max()
        let all = parts.flatMap(\.entries).sorted { $0.key < $1.key }
        let certain = all.filter { entry in
            bound.map { end == .first ? entry.key <= $0 : entry.key >= $0 } ?? true
        }
        self.init(certain, limit: limit, from: end)
        if certain.count < all.count || parts.contains(where: \.hasMore) { hasMore = true }
    }

    // MARK: - Between nodes

    /// A line for each entry, with its key before a tab; and an empty line if there are more.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            bytes += entry.key.utf8
            bytes.append(UInt8(ascii: "\t"))
            bytes += entry.json
            bytes.append(UInt8(ascii: "\n"))
        }
        if hasMore { bytes.append(UInt8(ascii: "\n")) }
        return bytes
    }

    /// Reads what another node has written; `nil` if it is cut off.
    init?(_ bytes: [UInt8]) {
        guard bytes.last.map({ $0 == UInt8(ascii: "\n") }) ?? true else { return nil }
        for line in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard !line.isEmpty else {
                hasMore = !bytes.isEmpty
                continue
            }
            guard let tab = line.firstIndex(of: UInt8(ascii: "\t")) else { return nil }
            entries.append(
                Entry(key: String(decoding: line[..<tab], as: UTF8.self), json: Array(line[line.index(after: tab)...])))
        }
    }
}
