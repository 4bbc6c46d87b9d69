import ArbiterCore
import Testing

/// The slots of scenes, which must be the same for ever.
struct SlotTests {
    @Test(arguments: [("main", 0x0d64), ("left", 0x2768), ("phone", 0x17dd)])
    func `a scene's slot is the CRC-32 of its name, cut to 14 bits`(name: String, slot: UInt16) throws {
        #expect(Slot(try #require(SceneName(name))).rawValue == slot)
    }

    @Test func `an id begins with the slot, and keeps its own bits`() throws {
        let slot = Slot(try #require(SceneName("phone")))
        for number: UInt64 in [0, 1, .max, 0x0123_4567_89ab_cdef] {
            let id = TransitionID(rawValue: slot.prefixed(to: number))
            #expect(id.slot == slot)
            #expect(id.rawValue & (1 << 50 - 1) == number & (1 << 50 - 1))
        }
    }

    @Test func `64 shards get about as many scenes each`() throws {
        var counts = Array(repeating: 0, count: 64)
        for number in 0..<6400 {
            let slot = Slot(try #require(SceneName("scene-\(number)")))
            counts[Int(slot.rawValue) * 64 / Slot.count] += 1
        }
        #expect(counts.allSatisfy { 60...140 ~= $0 }, "\(counts)")
    }
}
