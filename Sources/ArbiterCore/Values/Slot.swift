/// One of the 16,384 groups of scenes that a shard may own: CRC-32 of the scene's name, cut to 14 bits.
///
/// It stands in every id that a call may name without its scene, so that the call finds its shard, and a journal can be
/// divided among any number of shards.
package struct Slot: Hashable, Sendable {
    package let rawValue: UInt16

    /// How many there are.
    package static let count = 1 << bitCount
    private static let bitCount = 14
    private static let lowBitCount = UInt64.bitWidth - bitCount

    /// The slot of a scene, the same in every process and version.
    package init(_ scene: SceneName) {
        rawValue = UInt16(truncatingIfNeeded: Checksum.crc32(scene.description)) & UInt16(Self.count - 1)
    }

    /// The slot that an id begins with.
    package init(beginning number: UInt64) {
        rawValue = UInt16(number >> Self.lowBitCount)
    }

    /// A slot by its number, below `count`.
    package init(number: UInt16) {
        precondition(number < Self.count, "there is no slot \(number)")
        rawValue = number
    }

    /// The shard that it belongs to, of so many.
    package func shard(of count: Int) -> Int { Int(rawValue) * count / Self.count }

    /// The lower bits of a number, behind this slot.
    package func prefixed(to number: UInt64) -> UInt64 {
        UInt64(rawValue) << Self.lowBitCount | (number & (1 << Self.lowBitCount - 1))
    }
}

/// One of the shards among which a cluster divides its scenes, by their slots.
package struct Shard: Hashable, Sendable {
    /// Its number, from 0.
    package let index: Int
    /// How many shards there are.
    package let count: Int

    package init(_ index: Int, of count: Int) {
        precondition(0..<count ~= index && count <= Slot.count, "there is no shard \(index) of \(count)")
        (self.index, self.count) = (index, count)
    }

    /// The only shard of a single daemon.
    package static let only = Shard(0, of: 1)

    /// Whether a slot belongs to it.
    package func contains(_ slot: Slot) -> Bool { count == 1 || slot.shard(of: count) == index }

    /// The slots that belong to it.
    package var slots: Range<UInt16> {
        let first = (index * Slot.count + count - 1) / count
        let next = ((index + 1) * Slot.count + count - 1) / count
        return UInt16(first)..<UInt16(next)
    }
}

extension TransitionID {
    /// The slot of its scene, in ids made since they carry one.
    package var slot: Slot { Slot(beginning: rawValue) }
}

extension Token {
    /// The slot of the home of a session, if it is a session's.
    package var slot: Slot { Slot(beginning: high) }
}

extension SessionID {
    /// The slot of its home, where the authority over the session is.
    package var slot: Slot { Slot(beginning: rawValue) }
}
