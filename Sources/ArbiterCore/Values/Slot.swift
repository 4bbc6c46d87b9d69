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

    /// The shard that it belongs to, of so many.
    package func shard(of count: Int) -> Int { Int(rawValue) * count / Self.count }

    /// The lower bits of a number, behind this slot.
    package func prefixed(to number: UInt64) -> UInt64 {
        UInt64(rawValue) << Self.lowBitCount | (number & (1 << Self.lowBitCount - 1))
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
