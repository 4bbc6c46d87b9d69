internal import ArbiterTestKit

/// A file of a simulated disk: what processes read, and what the platter has.
struct DiskSectors {
    static let sectorBytes = 512

    /// What processes read.
    private(set) var seen: [UInt8] = []
    /// The sectors on the platter; what is behind them is zeros.
    private var platter: [UInt8] = []
    /// The size on the platter.
    private var keptSize = 0
    /// What has not been synchronized, oldest first.
    private var changes: [Change] = []

    /// What a write or a cut has made of some sectors.
    private struct Change {
        /// Where the first sector begins.
        let start: Int
        var bytes: [UInt8]
        /// The size of the file afterwards.
        let size: Int
    }

    /// Whether the platter lacks something that the next `synchronize()` would bring there.
    var isDirty: Bool { !changes.isEmpty }

    mutating func write(_ bytes: [UInt8], at offset: Int) {
        if seen.count < offset + bytes.count {
            seen += [UInt8](repeating: 0, count: offset + bytes.count - seen.count)
        }
        seen.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        note(offset..<(offset + bytes.count))
    }

    mutating func truncate(to size: Int) {
        let before = seen.count
        if size < before { seen.removeLast(before - size) }
        if size > before { seen += [UInt8](repeating: 0, count: size - before) }
        note(min(size, before)..<max(size, before))
    }

    /// Notes that the bytes in a range have changed, and perhaps the size.
    private mutating func note(_ range: Range<Int>) {
        let start = range.lowerBound / Self.sectorBytes * Self.sectorBytes
        let end = (range.upperBound + Self.sectorBytes - 1) / Self.sectorBytes * Self.sectorBytes
        let content = start < seen.count ? seen[start..<min(end, seen.count)] : []
        changes.append(
            Change(
                start: start, bytes: content + [UInt8](repeating: 0, count: end - start - content.count),
                size: seen.count))
    }

    /// Has everything that was changed on the platter, except what an earlier failure has dropped.
    mutating func synchronize() {
        guard isDirty else { return }
        for change in changes { put(change.bytes, at: change.start) }
        (keptSize, changes) = (seen.count, [])
        cut()
    }

    /// A synchronization fails: some sectors have got there, and the others are taken for synchronized.
    mutating func drop(_ chance: inout SplitMix64) { arrive(&chance) }

    /// The machine dies: some sectors have got there, the others are gone.
    mutating func lose(_ chance: inout SplitMix64) {
        arrive(&chance)
        let content = platter.prefix(keptSize)
        seen = content + [UInt8](repeating: 0, count: keptSize - content.count)
    }

    /// Has each sector of each change arrive on the platter, or not, and each size too.
    private mutating func arrive(_ chance: inout SplitMix64) {
        guard isDirty else { return }
        // Mostly some of them, but often enough none or all.
        let rarity = [0, 1, 4, 8, 15, 16].randomElement(using: &chance) ?? 8
        for change in changes {
            for start in stride(from: 0, to: change.bytes.count, by: Self.sectorBytes)
            where Int.random(in: 0..<16, using: &chance) < rarity {
                put(Array(change.bytes[start..<(start + Self.sectorBytes)]), at: change.start + start)
            }
            if Int.random(in: 0..<16, using: &chance) < rarity { keptSize = change.size }
        }
        changes = []
        cut()
    }

    private mutating func put(_ bytes: [UInt8], at offset: Int) {
        if platter.count < offset + bytes.count {
            platter += [UInt8](repeating: 0, count: offset + bytes.count - platter.count)
        }
        platter.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    }

    /// What is behind the end of a file is zeros once the file grows.
    private mutating func cut() {
        if platter.count > keptSize { platter.removeLast(platter.count - keptSize) }
    }

    /// Flips a bit, wherever it is stored.
    mutating func flip(_ bit: Int, at offset: Int) {
        let mask = UInt8(1 << bit)
        if offset < seen.count { seen[offset] ^= mask }
        if offset < platter.count { platter[offset] ^= mask }
        for index in changes.indices where offset >= changes[index].start {
            let place = offset - changes[index].start
            if place < changes[index].bytes.count { changes[index].bytes[place] ^= mask }
        }
    }
}
